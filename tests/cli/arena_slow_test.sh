#!/usr/bin/env bash
# arena_slow_test.sh -- linnet arena: stops at its budget, is killed, goes on, and its records make a report.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
"$LINNET_BIN" data make listops --split --rows 1000 --min-tokens 5 --max-tokens 40 --out lists 2>/dev/null || fail "data"
arena=(arena --task listops --row transformer,linear-kernel,2xoglu --seeds 3 --steps 30 --evaluations 3 --width 16 --heads 2
  --hidden 16 --blocks 1 --data listops=lists --threads 1)
"$LINNET_BIN" "${arena[@]}" --dir whole >out 2>&1 || fail "whole: $(cat out)"
[[ $(grep -c '"status":"ok"' whole/results.jsonl) -eq 9 ]] || fail "nine runs: $(cat out)"
grep -q 'all runs are done' out || fail "$(cat out)"
"$LINNET_BIN" "${arena[@]}" --dir whole >out 2>&1 || fail "again"
grep -q '9 of 9 runs are done' out || fail "does them again: $(cat out)"

# The same in pieces: a budget of a moment, kills, Ctrl-C.
for wait in 0.3 0.7 0.5; do
  "$LINNET_BIN" "${arena[@]}" --dir parts >/dev/null 2>&1 &
  pid=$!
  sleep $wait
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
done
"$LINNET_BIN" "${arena[@]}" --dir parts --budget 0.4s >out 2>&1 || fail "budget"
grep -q 'the same command goes on\|all runs are done' out || fail "budget: $(cat out)"
"$LINNET_BIN" "${arena[@]}" --dir parts >out 2>&1 || fail "parts: $(cat out)"
figures() { # FILE: what must not depend on stops
  python3 - "$1" <<'P'
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
for r in sorted((r for r in runs if 'row' in r), key=lambda r: (r['row'], r['seed'])):
    print(r['row'], r['seed'], r['status'], r['steps'], r['tokens'], r['validation'], r['test'], [p['validation_loss'] for p in r['curve']])
P
}
# Half a line, as a kill leaves it, and other settings in the folder of a run that is not finished.
printf '{"arena":"table1","ta' >>parts/results.jsonl
"$LINNET_BIN" "${arena[@]}" --dir parts >out 2>&1 && grep -q '9 of 9 runs are done' out || fail "half a line: $(cat out)"
[[ $(grep -c '^{"reference":' parts/results.jsonl) -eq 6 ]] || fail "what parts of a tree are worth"
[[ $(tail -c 1 parts/results.jsonl) == "" && $(wc -l <parts/results.jsonl) -eq 16 ]] || fail "half a line stays"
"$LINNET_BIN" "${arena[@]/#30/100000}" --dir other >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 500; i++)); do compgen -G 'other/runs/*/run.json' >/dev/null && break || sleep 0.01; done
kill -9 $pid
wait $pid 2>/dev/null
"$LINNET_BIN" "${arena[@]/#30/100001}" --dir other --budget 5s >out 2>&1
[[ $? -eq 2 ]] && grep -q 'train.steps = 100000, not 100001' out || fail "other settings: $(cat out)"
diff <(figures whole/results.jsonl) <(figures parts/results.jsonl) || fail "stops show in the figures"
"$LINNET_BIN" report parts/results.jsonl --out report.html >/dev/null 2>&1 && grep -q '2xoglu' report.html || fail "report"

# What the whole would take, from some steps: measured once, and part of the report.
for ((i = 0; i < 2; i++)); do
  "$LINNET_BIN" "${arena[@]}" --dir projected --project 3 >out 2>&1 || fail "project: $(cat out)"
done
[[ $(grep -c '^{"projection":"table1"' projected/results.jsonl) -eq 3 ]] || fail "projections: $(cat projected/results.jsonl)"
"$LINNET_BIN" report projected/results.jsonl >out 2>&1 && grep -q 'What whole runs would take' out || fail "projections: $(cat out)"
[[ -z $(ls projected/runs) ]] || fail "projections leave folders: $(ls projected/runs)"

# Rows of a file, with settings of their own; a flag comes before it.
cat >spec.json <<'J'
{"name": "own", "tasks": ["listops"], "seeds": 5, "data": {"listops": "lists"}, "settings": {"steps": 5, "evaluations": 1, "width": 16, "heads": 2},
 "rows": {"flat": {"row": "linear-kernel"}, "mixed": {"row": "linear-kernel", "first_mixer": "scan", "blocks": 3}}}
J
"$LINNET_BIN" arena --spec spec.json --seeds 2 --dir own >out 2>&1 || fail "spec: $(cat out)"
[[ $(grep -c '"arena":"own".*"status":"ok"' own/results.jsonl) -eq 4 ]] || fail "rows of a file: $(cat out)"
[[ $(grep -c '"row":"mixed".*"blocks":3.*"first_mixer":"scan"' own/results.jsonl) -eq 2 ]] || fail "their settings: $(cat own/results.jsonl)"
sed 's/"blocks"/"depth"/' spec.json >wrong.json
"$LINNET_BIN" arena --spec wrong.json --dir own >out 2>&1
[[ $? -eq 2 ]] && grep -q 'arena.rows.mixed.depth' out || fail "wrong spec: $(cat out)"

# A run that fails is a record, and the others go on.
"$LINNET_BIN" arena --task listops --row linear-kernel --seeds 2 --steps 30 --lr 1e6 --schedule constant --warmup 1 --clip 0 \
  --data listops=lists --dir broken >out 2>&1 || fail "broken: $(cat out)"
[[ $(grep -c '"status":"failed"' broken/results.jsonl) -eq 2 ]] || fail "failed runs: $(cat out)"
"$LINNET_BIN" arena --budget soon --data text=a --data matching=b >out 2>&1
[[ $? -eq 2 ]] && grep -q 'budget' out || fail "budget: $(cat out)"
"$LINNET_BIN" arena --task text >out 2>&1
[[ $? -eq 2 ]] && grep -q 'where is the data of text' out || fail "no data: $(cat out)"
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
