#!/usr/bin/env bash
# quickstart_slow_test.sh -- two runs with one seed give the same losses to the last bit, on any number of threads.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

run() { # NAME ARGS...: what does not depend on time, one JSON line a model
  "$LINNET_BIN" quickstart --dir "$dir/$1" --steps 12 --json "${@:2}" 2>/dev/null |
    sed -E 's/"(tokens_per_s|memory_mb|seconds)":[^,}]*,?//g; s/"folder":[^,}]*//' >"$dir/$1.json"
  cat "$dir/$1"/*/metrics.jsonl >>"$dir/$1.json"
  sha256sum "$dir/$1"/*/model.safetensors | cut -d' ' -f1 >>"$dir/$1.json"
}
run one --threads 1 --seed 5
run again --threads 1 --seed 5
run three --threads 3 --seed 5
run other --threads 2 --seed 6
[[ $(wc -l <"$dir/one.json") -eq 42 ]] # 3 models, 36 steps, 3 files
cmp "$dir/one.json" "$dir/again.json"
cmp "$dir/one.json" "$dir/three.json"
! cmp -s "$dir/one.json" "$dir/other.json"

"$LINNET_BIN" info "$dir/one/softplus-kernel" --json | grep -q '"parameters":114506'
"$LINNET_BIN" info --profile paper --task listops --row transformer --json | grep -q '"parameters":21019658'
"$LINNET_BIN" quickstart --dir "$dir/text" --steps 2 2>/dev/null | grep -q 'test accuracy'
