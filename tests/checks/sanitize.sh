#!/usr/bin/env bash
# sanitize.sh -- configures and builds a sanitizer preset, then runs its tests of one label: ROOT PRESET LABEL.
set -euo pipefail
cd "$1"
preset=$2 label=$3
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-2}
mkdir -p build
log=build/$preset.log
if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs"; } >"$log" 2>&1; then
  tail -n 60 "$log"
  exit 1
fi
# The thread sanitizer of GCC 12 does not know the widest address randomisation of newer kernels.
unrandomised=()
if setarch "$(uname -m)" -R true 2>/dev/null; then unrandomised=(setarch "$(uname -m)" -R); fi
export TSAN_OPTIONS=halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1
exec "${unrandomised[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$jobs" -L "^$label\$"
