#!/usr/bin/env bash
# bench_slow_test.sh -- bench engine prints every figure that it promises, bench polynomial the layers that are asked for, one JSON object a line; speed is not judged here.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$LINNET_BIN" bench engine --brief --seconds 0.05 --rounds 1 --json >"$dir/out"
for figure in infer_tokens_per_s infer_peak_fraction train_tokens_per_s train_peak_fraction train_rss train_rss_recompute \
  kernel_vs_softmax_4096 softmax_peak_fraction_4096 fma_peak_gflops; do
  grep -qE "^\{\"figure\":\"$figure\",\"value\":[0-9.e+-]+,\"unit\":\"[^\"]*\"\}$" "$dir/out" || {
    echo "FAILED: no figure $figure"
    cat "$dir/out"
    exit 1
  }
done
[[ $("$LINNET_BIN" bench polynomial --layer 'relu2, phi' --layer mean --seeds 1 --steps 1 --json 2>/dev/null | grep -c '"accuracy"') == 6 ]] || {
  echo "FAILED: two layers of bench polynomial by three degrees"
  exit 1
}
