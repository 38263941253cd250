#!/usr/bin/env bash
# errors_test.sh -- wrong input gives one clear sentence on stderr and exit code 2; help and version work.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

expect_error "subcommand"
expect_error "no such verb: magic" magic
expect_error "[info]" info
expect_error "[--row] no such row" info --task listops --row magic
expect_error "[--task] no such task" info --task magic --row transformer
expect_error "[--profile] no such profile" info --profile magic --task listops --row transformer
expect_error "config.json" info "$dir/none"
expect_error "[config.phi, character 8]" info --phi "linear>magic"
expect_error "can be negative" info --phi "softplus>linear"
expect_error "below half" info --width 64 --heads 4 --phi "aoglu:r=8"
expect_error "[config.causal]" info --mixer linformer --causal true --pool mean
expect_error "[config.width] must be a number" info --width wide
expect_error "[config.ffn]" info --ffn magic
expect_error "[config.conv] must be 0 to 64, not 65" info --conv 65
expect_error "no such mixer" bench mixers --mixer magic
expect_error "--steps" quickstart --dir "$dir/q" --steps 0
expect_error "--classes" quickstart --dir "$dir/q" --steps 1 --classes 5
expect_error "--threads" quickstart --dir "$dir/q" --threads -1
expect_error "pytorch" bench engine --against magic

golden=$LINNET_ROOT/tests/golden/kernel_softplus
fresh() { rm -rf "$dir/m" && cp -r "$golden" "$dir/m"; }
config() { # KEY VALUE
  fresh
  sed -i "s/\"$1\": [^,]*/\"$1\": $2/" "$dir/m/config.json"
}
config heads 5 && expect_error "heads must divide width" info "$dir/m"
config mixer '"magic"' && expect_error "[config.mixer] no such mixer" info "$dir/m"
config width -24 && expect_error "[config.width]" info "$dir/m"
config hidden 41 && expect_error "another shape" info "$dir/m"

# Hostile safetensors: truncated, header of 2^63 bytes, offsets beyond the file, overlapping, another dtype.
weights=$dir/m/model.safetensors
fresh && truncate -s 100 "$weights" && expect_error "model.safetensors" info "$dir/m"
fresh && truncate -s -1 "$weights" && expect_error "model.safetensors" info "$dir/m"
fresh && printf '\0\0\0\0\0\0\0\200' | dd of="$weights" conv=notrunc status=none && expect_error "header" info "$dir/m"
tensors() { # JSON: a file with this header and 64 bytes of data
  fresh
  python3 - "$1" "$weights" <<'PY'
import struct, sys
header = sys.argv[1].encode()
open(sys.argv[2], 'wb').write(struct.pack('<Q', len(header)) + header + bytes(64))
PY
}
tensors '{"a": {"dtype": "F32", "shape": [32], "data_offsets": [0, 128]}}' && expect_error "model.safetensors" info "$dir/m"
tensors '{"a": {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}, "b": {"dtype": "F32", "shape": [8], "data_offsets": [32, 64]}}' && expect_error "model.safetensors" info "$dir/m"
tensors '{"embed.weight": {"dtype": "Q9", "shape": [16], "data_offsets": [0, 64]}}' && expect_error "Q9" info "$dir/m"

"$LINNET_BIN" --help | grep -q quickstart || { echo "FAILED: --help"; failures=$((failures + 1)); }
"$LINNET_BIN" quickstart --help | grep -q -- --seed || { echo "FAILED: quickstart --help"; failures=$((failures + 1)); }
"$LINNET_BIN" --version | grep -Eq '^[0-9]+\.[0-9]+' || { echo "FAILED: --version"; failures=$((failures + 1)); }
LINNET_TARGET=magic expect_error "[LINNET_TARGET]" quickstart --dir "$dir/q" --steps 1
exit $((failures > 0))
