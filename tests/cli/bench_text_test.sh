#!/usr/bin/env bash
# bench_text_test.sh -- bench text on small texts: the figures of every model, and wrong input.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
mkdir tmp
export TMPDIR=$dir/tmp
shows_progress=yes
small=(--width 16 --heads 2 --blocks 1 --hidden 16 --steps 30 --lr 0.02 --warmup 5 --tokenizer words --threads 2)
python3 - <<'P'
import random
random.seed(1)
words = ['alpha', 'beta', 'gamma', 'delta', 'eps']
for name, rows in (('train.csv', 300), ('test.csv', 100)):
    with open(name, 'w') as file:
        file.write('review,stars\n')
        for i in range(rows):
            kind = random.choice(['good', 'bad', 'so-so'])
            text = ' '.join(random.choice(words) for _ in range(6))
            file.write(f'"{text}, {kind} {i}",{kind}\n')
P
against=nb
command -v fasttext >/dev/null && against=nb,fasttext || echo "fasttext is not installed: tested without it"
"$LINNET_BIN" bench text --data train.csv --test test.csv --against $against "${small[@]}" --json >out 2>err || fail "bench text: $(cat err)"
python3 - $against <<'P' || fail "figures: $(cat out)"
import json, sys
rows = {row['model']: row for row in map(json.loads, open('out'))}
expected = ['linnet', 'nb'] + (['fasttext, words', 'fasttext, pairs'] if 'fasttext' in sys.argv[1] else [])
assert list(rows) == expected, list(rows)
for row in rows.values():
    assert row['part'] == 'test' and row['texts'] == 100 and row['threads'] == 2, row
    assert 0 < row['seconds'] <= row['search_seconds'] and row['bytes'] > 100 and row['texts_per_s'] > 0, row
    assert 0 <= row['accuracy'] <= 1 and 0 <= row['macro_f1'] <= 1, row
assert all(rows[name]['accuracy'] == 1 for name in expected if name != 'linnet'), rows
P
"$LINNET_BIN" bench text --data train.csv "${small[@]}" >out 2>err || fail "table: $(cat err)"
"$LINNET_BIN" bench text --data train.csv "${small[@]}" --seeds 2 >two 2>err || fail "two seeds: $(cat err)"
grep -qE '^linnet, seed 2 ' two && grep -qE '^linnet, mean of 2 .*deviation of the accuracy [0-9.]+ points' two || fail "two seeds: $(cat two)"
grep -q 'validation, by which settings were chosen' out && grep -qE '^nb +[0-9.]+%' out || fail "table: $(cat out)"
[[ -z $(ls tmp) ]] || fail "left in the temporary folder: $(ls tmp)"

printf 'only a text\nand another\n' >plain.txt
(echo text,label && seq -f '%g,x' 50) >one.csv
printf '{"text": "a", "labels": ["x", "y"]}\n{"text": "b", "labels": ["x"]}\n{"text": "c", "labels": ["y"]}\n' >many.jsonl
for i in $(seq 20); do printf '{"text": "d%s", "labels": ["x", "y"]}\n' "$i"; done >>many.jsonl
expect_error 'has no label' bench text --data plain.txt
expect_error 'every record has the same label, "x"' bench text --data one.csv
expect_error '[many.jsonl] has texts with several labels' bench text --data many.jsonl
expect_error '--against' bench text --data train.csv --against magic
expect_error '[none.csv]' bench text --data none.csv
printf 'review,stars\nx,odd\n' >odd.csv
expect_error '[odd.csv:2:3] label "odd"' bench text --data train.csv --test odd.csv
expect_error "[--test] test.csv is validation, too" bench text --data train.csv --validation test.csv --test test.csv
PATH=/nowhere "$LINNET_BIN" bench text --data train.csv --against fasttext >out 2>err
[[ $? -eq 2 ]] && grep -qF '[--against] fasttext is not installed' err || fail "without fasttext: $(cat err)"
exit $((failures > 0))
