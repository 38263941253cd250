#!/usr/bin/env bash
# kill_slow_test.sh -- linnet train is killed and its disk is full at random moments; what it ends with must not show it.
#   LINNET_KILL_SEED=N draws the moments of an earlier run again, as far as the clock allows.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
seed=${LINNET_KILL_SEED:-$(((RANDOM << 15) + RANDOM))}
echo "LINNET_KILL_SEED=$seed"
RANDOM=$seed

same=$LINNET_ROOT/tests/cli/same_run.py
python3 - <<'P'
import random
random.seed(1)
words = ['alpha', 'beta', 'gamma', 'delta', 'eps', 'zeta', 'eta']
with open('train.csv', 'w') as f:
    f.write('review,stars\n')
    for i in range(400):
        good = random.random() < 0.5
        text = ' '.join(random.choice(words) for _ in range(random.randrange(3, 12)))
        f.write(f'{text} {"good" if good else "bad"} {i % 50},{"pos" if good else "neg"}\n')
P
tiny=(train --data train.csv --tokenizer words --vocab 500 --wide-bits 8 --regions 2 --region-units 64 --region-rows 20 --width 8 --heads 2 --blocks 1 --hidden 8 --ngrams 2 --ngram-buckets 64 --ema 0.9
  --dropout 0.1 --lr 0.02 --warmup 5 --threads 1 --tensorboard)
# Data in memory, a number of steps; and data that streams through a window, a number of epochs.
whole=("${tiny[@]}" --steps 150 --checkpoint-every 1 --evaluations 15)
stream=("${tiny[@]}" --epochs 3 --window 1000 --batch 4 --accumulate-tokens 60 --group 2 --checkpoint-every 3 --evaluations 20)
"$LINNET_BIN" "${whole[@]}" --out whole >out 2>&1 || fail "undisturbed run: $(cat out)"
"$LINNET_BIN" "${stream[@]}" --out stream >out 2>&1 || fail "undisturbed run: $(cat out)"

await() { # PID SECONDS PATTERN: until a file of the pattern is there
  local end=$((SECONDS + $2))
  while [[ $SECONDS -lt $end ]] && kill -0 "$1" 2>/dev/null; do
    compgen -G "$3" >/dev/null && return
  done
}
kills=0 torn=0
for name in whole stream; do
  declare -n run=$name
  rm -rf killed
  target=$((kills + 10))
  for ((tries = 0; kills < target && tries < 60; tries++)); do
    "$LINNET_BIN" "${run[@]}" --out killed >out 2>&1 &
    pid=$!
    case $((RANDOM % 4)) in
      0) await $pid 5 "killed/.linnet-$pid-0.tmp" ;;                                     # any file is being written
      1) await $pid 5 "killed/.linnet-$pid-1.tmp" ;;                                     # the best model is
      2) sleep "0.$(printf %03d $((RANDOM % 400)))" && await $pid 5 "killed/.linnet-$pid-0.tmp" ;;
      3) sleep "0.$(printf %03d $((RANDOM % 600)))" ;;
    esac
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    code=$?
    if [[ $code -eq 137 ]]; then
      kills=$((kills + 1))
      compgen -G 'killed/.linnet-*' >/dev/null && torn=$((torn + 1))
    elif [[ $code -eq 0 ]]; then # it came to its end: the rest of the kills are for another
      difference=$(python3 "$same" $name killed 2>&1) || fail "$name, after $kills kills: $difference"
      rm -rf killed
    else
      fail "$name, code $code: $(cat out)"
    fi
  done
  "$LINNET_BIN" "${run[@]}" --out killed >out 2>&1 || fail "$name, resumed: $(cat out)"
  difference=$(python3 "$same" $name killed 2>&1) || fail "$name, after $kills kills: $difference"
  "$LINNET_BIN" "${run[@]}" --out killed >out 2>&1 || fail "$name, finished, again: $(cat out)"
  difference=$(python3 "$same" $name killed 2>&1) || fail "$name, finished, again: $difference"
done
[[ $kills -eq 20 ]] || fail "only $kills kills"
echo "$kills kills, $torn of them while a file was being written"

# A full disk: files cannot grow beyond a limit, so that the model, the checkpoint or the metrics fails.
size() { stat -c %s "$1"; }
expect_full() { # FOLDER REASON: linnet has said so in one sentence, in `err`, with `code`, and left no temporary
  [[ $code -eq 2 && $(grep -c '^linnet: ' err) -eq 1 ]] && grep -q "^linnet: \[$1/.*\] cannot write.*: $2" err ||
    fail "full disk (code $code): $(cat err)"
  compgen -G "$1/.linnet-*" >/dev/null && fail "temporaries are left: $(cat err)"
  grep -o "$1/[a-z]*" err >>full_at
}
: >full_at
# The first look is before the first checkpoint, and the metrics outgrow both.
long=("${tiny[@]}" --steps 700 --checkpoint-every 40 --evaluations 20)
"$LINNET_BIN" "${long[@]}" --out long >out 2>&1 || fail "long run: $(cat out)"
# Until its end a run's model has no parts at its side: 2^8 weights, 2 * 20 * 64 and some more, and their names.
limits=($((($(size whole/model.safetensors) - 13312) / 1024 - RANDOM % 3)) $(($(size whole/checkpoint.safetensors) / 1024 - RANDOM % 5)))
for ((i = 0; i < 4; i++)); do # above the largest file that is replaced: only what grows fails
  limits+=($(($(size whole/checkpoint.safetensors) / 1024 + 1 + i)))
done
[[ $(size long/metrics.jsonl) -gt $((1024 * limits[-1])) ]] || fail "metrics.jsonl is too small to fail: $(size long/metrics.jsonl)"
for limit in "${limits[@]}"; do
  (ulimit -f "$limit" && exec "$LINNET_BIN" "${long[@]}" --out full >out 2>err)
  code=$?
  expect_full full 'File too large'
done
for file in model checkpoint metrics; do grep -q "full/$file" full_at || fail "$file never failed: $(sort full_at | uniq -c)"; done
"$LINNET_BIN" "${long[@]}" --out full >out 2>&1 || fail "space again: $(cat out)"
difference=$(python3 "$same" long full 2>&1) || fail "after a full disk: $difference"

# The same on a real file system of a few kilobytes, where the system lets us mount one.
export -f fail expect_full size
export same
cat >small_disk.sh <<'D'
failures=0
mkdir -p disk && mount -t tmpfs -o size=1m none disk || exit 77
free() { echo $(($(stat -f -c '%a * %S' disk) / 1024)); }
for ((i = 0; i < 6; i++)); do
  # Room for a part of what a checkpoint or a model needs, beside the old ones.
  rm -f disk/ballast
  room=$((4 * (1 + RANDOM % 12)))
  head -c $(((($(free) - room)) * 1024)) /dev/zero >disk/ballast
  "$LINNET_BIN" "$@" --out disk/run >out 2>err
  code=$?
  [[ $code -eq 0 ]] || expect_full disk/run 'No space left on device'
done
rm -f disk/ballast
"$LINNET_BIN" "$@" --out disk/run >out 2>&1 || fail "small disk: $(cat out)"
difference=$(python3 "$same" whole disk/run 2>&1) || fail "small disk: $difference"
exit $failures
D
RANDOM_SEED=$RANDOM unshare -rm bash -c 'RANDOM=$RANDOM_SEED; . ./small_disk.sh' - "${whole[@]}" >small_disk.log 2>&1
case $? in
  0) echo "a small disk: $(grep -c 'disk/run' full_at) writes failed" ;;
  1) grep -q FAILED small_disk.log && fail "$(cat small_disk.log)" || echo "skipped: no small disk ($(tail -1 small_disk.log))" ;;
  77) echo "skipped: no small disk ($(tail -1 small_disk.log))" ;;
  *) fail "$(cat small_disk.log)" ;;
esac
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
