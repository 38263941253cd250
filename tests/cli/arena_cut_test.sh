#!/usr/bin/env bash
# arena_cut_test.sh -- an arena that is killed in its first lines has all of them after its next start, each once; unfinished runs keep their CPU target and their data.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
shows_progress=yes
"$LINNET_BIN" data make listops --split --rows 300 --min-tokens 5 --max-tokens 30 --out lists 2>/dev/null || fail "data"
arena=(arena --task listops --row linear-kernel --seeds 1 --data listops=lists --steps 4 --evaluations 2 --width 8 --heads 2 --hidden 8
  --blocks 1 --threads 1)
"$LINNET_BIN" "${arena[@]}" --dir whole >out 2>&1 || fail "whole: $(cat out)"
[[ $(wc -l <whole/results.jsonl) -eq 8 && $(head -1 whole/results.jsonl) == '{"plan":'* ]] || fail "its lines: $(cut -c 1-60 whole/results.jsonl)"
first() { grep -v '"row"' "$1" | sort; }
first whole/results.jsonl >first
for lines in 0 1 2 3 4 5 6 7 8; do
  for bytes in 0 20; do
    { head -n $lines whole/results.jsonl && tail -n +$((lines + 1)) whole/results.jsonl | head -c $bytes; } >cut.jsonl
    [[ $lines -eq 8 || $(wc -c <cut.jsonl) -lt $(wc -c <whole/results.jsonl) ]] || fail "nothing was cut"
    "$LINNET_BIN" "${arena[@]}" --dir again --results cut.jsonl >out 2>&1 || fail "cut after $lines lines and $bytes bytes: $(cat out)"
    first cut.jsonl | diff - first >diff.txt || fail "cut after $lines lines and $bytes bytes: $(cat diff.txt)"
    [[ $(grep -c '"status":"ok"' cut.jsonl) -eq 1 && $(wc -l <cut.jsonl) -eq 8 ]] || fail "cut after $lines lines and $bytes bytes: $(cut -c 1-60 cut.jsonl)"
  done
done

# A run that is stopped keeps its target, and refuses data that is another by now.
long=("${arena[@]/#4/100000000}")
LINNET_TARGET=scalar timeout --signal=INT 60 "$LINNET_BIN" "${long[@]}" --dir stopped --budget 0.5s >out 2>&1 || fail "stopped: $(cat out)"
run=stopped/runs/listops-linear-kernel-1
goes_on() { # the target that the run has afterwards
  "$LINNET_BIN" "${long[@]}" --dir stopped --budget 0.5s "$@" >out 2>&1 || fail "going on $*: $(cat out)"
  sed -n 's/.*"target": "\(.*\)".*/\1/p' $run/run.json
}
scalar=$(goes_on)
LINNET_TARGET=sse4 expect_error '[LINNET_TARGET] the run in stopped/runs/listops-linear-kernel-1 began with' "${long[@]}" --dir stopped
export LINNET_TARGET=sse4
[[ -n $scalar && $(goes_on --change-target) != "$scalar" ]] || fail "the target: $scalar"
unset LINNET_TARGET
sed -i 's/"target": ".*"/"target": "AVX99"/' $run/run.json
expect_error "[$run/run.json] the run began with CPU target AVX99" "${long[@]}" --dir stopped
sed -i '/"target"/d;s/\("content": "[0-9a-f]*"\),/\1/' $run/run.json
[[ -z $(goes_on) ]] || fail "a run of an earlier version has a target"
{ head -1 lists/basic_train.tsv && tail -n +2 lists/basic_train.tsv | tac; } >turned && mv turned lists/basic_train.tsv
expect_error "[$run/run.json] the data has changed since the run began" "${long[@]}" --dir stopped
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
