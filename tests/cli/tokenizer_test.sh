#!/usr/bin/env bash
# tokenizer_test.sh -- linnet tokenizer: learns, encodes and decodes lines; wrong input is one sentence and code 2.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

python3 - "$dir" <<'PY'
import random, sys
random.seed(1)
with open(sys.argv[1] + '/train', 'wb') as out:
    for _ in range(300):
        out.write(b' '.join(random.choice([b'linear', b'time', b'models', b'sing', b'caf\xc3\xa9']) for _ in range(20)) + b'\n')
with open(sys.argv[1] + '/hard', 'wb') as out:
    for line in [b'', b'  two  blanks ', b'tab\there\r', b'\xff\xfe\x00 bytes', '\u2581\u2585 \u6f22\u5b57'.encode(), b'linear time']:
        out.write(line + b'\n')
PY
: >"$dir/in"
for kind in bytes chars words bpe unigram listops; do
  "$LINNET_BIN" tokenizer train --kind $kind --vocab 300 --data "$dir/train" --out "$dir/$kind" >"$dir/out" 2>"$dir/err" || fail "train $kind"
  grep -q "^$kind: " "$dir/out" || fail "report of $kind"
done
for kind in bytes bpe unigram; do
  "$LINNET_BIN" tokenizer encode --model "$dir/$kind" <"$dir/hard" >"$dir/ids" || fail "encode $kind"
  "$LINNET_BIN" tokenizer decode --model "$dir/$kind" <"$dir/ids" | cmp - "$dir/hard" || fail "$kind is not reversible"
done
"$LINNET_BIN" tokenizer train --kind bpe --vocab 300 --data - --threads 2 --json --out "$dir/again" <"$dir/train" 2>/dev/null |
  python3 -c 'import json, sys; row = json.load(sys.stdin); assert row["kind"] == "bpe" and row["texts"] == 1, row' || fail "train --json"
cmp "$dir/bpe" "$dir/again" || fail "bpe depends on the threads"
echo "linear" | "$LINNET_BIN" tokenizer encode --model "$dir/bpe" --pieces | grep -q linear || fail "--pieces"
[[ $(echo "( [MAX 2 ) 9 ]" | "$LINNET_BIN" tokenizer encode --model "$dir/listops") == "11 2 9 14" ]] || fail "listops ids"

expect_error "--data" tokenizer train --out "$dir/x"
expect_error "no such tokenizer" tokenizer train --kind magic --data "$dir/train" --out "$dir/x"
expect_error "cannot open" tokenizer train --data "$dir/none" --out "$dir/x"
mkdir "$dir/nothing" && expect_error "has no files" tokenizer train --data "$dir/nothing" --out "$dir/x"
expect_error "has no records" tokenizer train --data "$dir/in" --out "$dir/x"
expect_error "[tokenizer.vocab]" tokenizer train --vocab 100 --data "$dir/train" --out "$dir/x"
expect_error "[$dir/none]" tokenizer encode --model "$dir/none"
expect_error "no SentencePiece model" tokenizer encode --model "$dir/train"
echo "1 2 x" >"$dir/in" && expect_error "[standard input, line 1, column 5]" tokenizer decode --model "$dir/bpe" <"$dir/in"
echo "1 99999" >"$dir/in" && expect_error "ids are 0 to 299" tokenizer decode --model "$dir/bpe" <"$dir/in"
echo "[MAX x ]" >"$dir/in" && expect_error "[standard input, line 1] [listops column 6]" tokenizer encode --model "$dir/listops" <"$dir/in"

# Pathfinder: records of a label and pixels, balanced, the same for any number of threads.
"$LINNET_BIN" data make pathfinder --rows 20 --size 32 --threads 1 --out "$dir/p1" >/dev/null 2>&1 || fail "pathfinder"
"$LINNET_BIN" data make pathfinder --rows 20 --size 32 --threads 2 --out "$dir/p2" >/dev/null 2>&1 && cmp "$dir/p1" "$dir/p2" || fail "pathfinder threads"
python3 - "$dir/p1" <<'PY' || fail "pathfinder records"
import sys
data = open(sys.argv[1], 'rb').read()
assert len(data) == 20 * 1025
labels = data[::1025]
assert sorted(labels) == [0] * 10 + [1] * 10, labels
PY
expect_error "[pathfinder.size]" data make pathfinder --rows 2 --size 33 --out "$dir/x"
expect_error "--rows" data make pathfinder --rows 0 --out "$dir/x"
exit $((failures > 0))
