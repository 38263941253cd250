#!/usr/bin/env bash
# autotune_test.sh -- linnet train --autotune: the search, its record, the run after it; Ctrl-C and going on; wrong input.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
python3 - <<'P'
with open('train.csv', 'w') as file:
    file.write('text,label\n')
    for i in range(400):
        file.write(f'a {"good" if i % 2 else "bad"} text {i},{"pos" if i % 2 else "neg"}\n')
P
small=(--data train.csv --tokenizer words --width 16 --heads 2 --blocks 1 --ngrams 0 --warmup 5 --steps 10 --threads 2)
"$LINNET_BIN" train "${small[@]}" --autotune 0.03 --out model >out 2>err || fail "train: $(cat err)"
grep -q 'autotune, round 3 of 3' out && grep -q 'chosen' out || fail "no ranking: $(cat out)"
grep -q 'autotune, round 1 of 3: candidate 0 (as it is)' err || fail "no line of a candidate: $(cat err)"
python3 - <<'P' || fail "record"
import json
asked, *looks, choice = map(json.loads, open('model/autotune.jsonl'))
candidates = asked['asked']['candidates']
assert len(candidates) == 8 and candidates[0] == {} and not any('width' in c or 'ngrams' in c for c in candidates), candidates
assert [look['round'] for look in looks] == [1] * 8 + [2] * 4 + [3] * 2, looks
run = json.load(open('model/run.json'))
for name, value in choice['changes'].items():
    assert {**run['model'], **run['train']}[name] == value, (name, run)
assert run['train']['steps'] == 10, run
P
"$LINNET_BIN" predict model <<<'a good text' >out && grep -q '^pos' out || fail "predict: $(cat out)"
"$LINNET_BIN" train "${small[@]}" --autotune 0.03 --out model --json >out 2>err || fail "again: $(cat err)"
grep -q '"autotune":{' out || fail "no settings in the result: $(cat out)"
[[ ! -s err ]] || ! grep -q 'candidate' err || fail "searched again: $(cat err)"

# Ctrl-C in the search; then the same command.
"$LINNET_BIN" train "${small[@]}" --autotune 0.1 --out stopped >out 2>err &
pid=$!
for _ in $(seq 200); do [[ -e stopped/autotune/00/metrics.jsonl ]] && break; sleep 0.05; done
kill -INT $pid
wait $pid
code=$?
[[ $code -eq 130 ]] && grep -q 'stopped while searching' err || fail "stop: code $code: $(cat err)"
before=$(wc -l <stopped/autotune.jsonl)
"$LINNET_BIN" train "${small[@]}" --autotune 0.1 --out stopped >out 2>err || fail "going on: $(cat err)"
(($(wc -l <stopped/autotune.jsonl) == 16 && before < 16)) || fail "record after going on"

shows_progress=yes
expect_error 'other settings, data or time' train "${small[@]}" --autotune 0.07 --out model
expect_error 'nothing to search' train "${small[@]}" --autotune 1 --lr 0.1 --dropout 0 --weight-decay 0 --out other
"$LINNET_BIN" train "${small[@]}" --out plain >out 2>&1 || fail "plain: $(cat out)"
expect_error '[plain] has a run that began without a search' train "${small[@]}" --autotune 1 --out plain
expect_error '--autotune' train "${small[@]}" --autotune -1 --out other
exit $((failures > 0))
