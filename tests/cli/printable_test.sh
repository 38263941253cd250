#!/usr/bin/env bash
# printable_test.sh -- names, labels and paths from strangers cannot steer a terminal, and a line of predict stays a line.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

esc=$'\033[2J\033]0;title\a' csi=$'\302\233'31m bidi=$'\342\200\256'
# Neither escape sequences nor other controls but the line feed and, in columns, the tab.
clean() { # NAME FILE...
  ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "${@:2}" || fail "$1: $(cat -v "${@:2}")"
}
try() { # ARGS...: whatever comes of it
  "$LINNET_BIN" "$@" >out 2>err
  clean "$*" out err
}
name="bad$esc$csi$bidi"
try "$name"
try info "--$name"
try info --mixer "$name"
try info --ffn "$name"
try info --row "$name" --task "$name"
try info --profile "$name" --row transformer --task listops
try info "$name"
try predict "$name"
try eval "$name" "$name"
try train --data "$name" --out m
try train --data "$name" --task "$name" --out m
try data inspect "$name"
try data inspect none --format "$name"
try report "$name"
try arena --task "$name" --dir a
try arena --spec "$name"
try arena --name "$name" --data "$name" --dir a
try list "$name"
try bench engine --against "$name"
try bench mixers --mixer "$name"
try tokenizer train --kind "$name" --data "$name" --out "$name/x"
try tokenizer encode --model "$name"
try quickstart --row "$name"
LINNET_TARGET=$name try info --width 8 --heads 1

# Contents: labels, columns, members of archives, files of folders.
python3 - "$name" <<'P'
import json, sys, tarfile, io
name = sys.argv[1]
labels = ['two\nlines', 'a\ttab', name, 'plain \u00e9']
with open('train.jsonl', 'w') as f:
    for i in range(120): f.write(json.dumps({'text': f'word{i % 4} again {i}', 'label': labels[i % 4]}) + '\n')
with open('columns.csv', 'w') as f:
    f.write(f'text,"{name}",label\n' + 'a,b,c\nd,e,f\n')
with tarfile.open('members.tar', 'w') as tar:
    for member in (name, name + '2'):
        info = tarfile.TarInfo(member); info.size = 4
        tar.addfile(info, io.BytesIO(b'text'))
P
mkdir "$name" && printf 'x' >"$name/$name" && printf 'x' >"$name/b"
try data inspect train.jsonl
try data inspect columns.csv
try data inspect columns.csv --label-column "$name"
try data inspect columns.csv --label-column none
try data inspect members.tar
try data inspect "$name"
try data convert train.jsonl --out "$name.csv"
try data make listops --rows 10 --out "$name.tsv"
try data make pathfinder --rows 2 --out "$name.bin"
try tokenizer train --kind words --data train.jsonl --out "$name.json"

small=(--tokenizer words --width 8 --heads 2 --blocks 1 --hidden 8 --ngrams 0 --wide 0 --regions 0 --steps 3 --threads 1)
try train --data train.jsonl "${small[@]}" --out "$name-model"
[[ -e $name-model/config.json ]] || fail "train: $(cat -v err)"
try info "$name-model"
try eval "$name-model" train.jsonl
grep -q 'plain é' out || fail "letters of other languages are kept: $(cat -v out)"
try predict "$name-model" train.jsonl --top 4
[[ $(wc -l <out) -eq 120 && $(awk -F'\t' 'NF != 8' out | wc -l) -eq 0 ]] || fail "a line a text, two columns a label: $(head -3 out)"
grep -qF 'two\x0alines' out || fail "a line break in a label"
grep -qF 'a\x09tab' out || fail "a tab in a label"
"$LINNET_BIN" predict "$name-model" train.jsonl --json >out 2>err
python3 - "$name" <<'P' || fail "labels in JSON are exact"
import json, sys
lines = [json.loads(line) for line in open('out', newline='\n')]
assert len(lines) == 120 and set(lines[0]['probabilities']) == {'two\nlines', 'a\ttab', sys.argv[1], 'plain \u00e9'}, lines[0]
P

# Tags: a line a sentence, a tag a word.
python3 - "$name" <<'P'
import json, sys
with open('tags.jsonl', 'w') as f:
    for i in range(120): f.write(json.dumps({'text': f'one{i % 3} two', 'label': ['two\nlines', sys.argv[1]][:: 1 if i % 2 else -1]}) + '\n')
P
try train --data tags.jsonl --task tagging "${small[@]}" --out tags
[[ -e tags/config.json ]] || fail "train of tags: $(cat -v err)"
try predict tags tags.jsonl
[[ $(wc -l <out) -eq 120 ]] && grep -q '\\x' out || fail "a line a sentence: $(head -3 out)"
awk 'NF != 2' out | grep -q . && fail "a tag a word: $(head -3 out)"
exit $((failures > 0))
