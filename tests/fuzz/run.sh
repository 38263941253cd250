#!/usr/bin/env bash
# run.sh -- builds the fuzzers and runs each, or the named ones, on its corpus: SECONDS [NAME...]; two at a time.
#
# New inputs go to build/fuzz/found/NAME, crashes to build/fuzz/crash-NAME-*; the corpus stays as it is.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
seconds=${1:?usage: run.sh SECONDS [NAME...]}
shift
cd "$root"
names=("$@")
if ((${#names[@]} == 0)); then
  for source in tests/fuzz/*_fuzz.cpp; do
    name=${source##*/}
    names+=("${name%_fuzz.cpp}")
  done
fi

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${names[@]/%/_fuzz}"

run_one() { # NAME
  mkdir -p "build/fuzz/found/$1"
  if "build/fuzz/tests/$1_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/crash-$1-" "build/fuzz/found/$1" "tests/fuzz/corpus/$1" >"build/fuzz/$1.log" 2>&1; then
    echo "$1: $(grep -o 'number_of_executed_units: [0-9]*' "build/fuzz/$1.log"), no fault"
  else
    echo "$1: FAULT, see build/fuzz/$1.log"
    return 1
  fi
}
export -f run_one
export seconds
printf '%s\n' "${names[@]}" | xargs -P 2 -I{} bash -c 'run_one {}'
