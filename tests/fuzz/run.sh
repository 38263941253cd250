#!/usr/bin/env bash
# run.sh -- builds the fuzzers and runs each, or the named ones, on its corpus: SECONDS [NAME[=SECONDS]...]
#
#   tests/fuzz/run.sh 300                             each five minutes, two at a time
#   tests/fuzz/run.sh 300 csv tokenizer=900           these two, the second one longer
#
# New inputs and findings go to LINNET_FUZZ_OUT (~/.cache/linnet/fuzz), where the next run goes on from them; the corpus
# stays as it is. A finding is made as small as a minute allows. At the end a table for a note; code 1 with a finding.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
seconds=${1:-}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { sed -n '2,5s/^#  *//p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
shift
out=$(readlink -m "${LINNET_FUZZ_OUT:-${XDG_CACHE_HOME:-$HOME/.cache}/linnet/fuzz}")
cd "$root"

runs=() names=()
if (($# == 0)); then
  for source in tests/fuzz/*_fuzz.cpp; do
    name=${source##*/}
    set -- "$@" "${name%_fuzz.cpp}"
  done
fi
for word in "$@"; do
  name=${word%%=*}
  runs+=("$name $([[ $word == *=* ]] && echo "${word#*=}" || echo "$seconds")")
  names+=("$name")
  [[ -e tests/fuzz/${name}_fuzz.cpp && ${runs[-1]} =~ ^[a-z0-9_]+\ [1-9][0-9]*$ ]] || { echo "no such fuzzer: $word" >&2 && exit 2; }
done

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${names[@]/%/_fuzz}"

run_one() { # NAME SECONDS: a line of the table in OUT/NAME/row
  local name=$1 folder=$2/$1 seconds=$3 fuzzer=build/fuzz/tests/$1_fuzz start=$SECONDS finding findings=0 units
  local -a limits=(-timeout=10 -rss_limit_mb=2048)
  mkdir -p "$folder/inputs" "$folder/findings"
  rm -f "$folder/row"
  touch "$folder/start"
  "$fuzzer" "${limits[@]}" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$folder/findings/" \
    "$folder/inputs" "tests/fuzz/corpus/$name" >"$folder/log" 2>&1 || findings=1
  units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log" | tail -1)
  seconds=$((SECONDS - start))
  for finding in $(find "$folder/findings" -type f -newer "$folder/start" -not -name '*.small'); do
    "$fuzzer" "${limits[@]}" -minimize_crash=1 -max_total_time=60 -exact_artifact_path="$finding.small" "$finding" \
      >"$folder/minimize.log" 2>&1 || true
    [[ -e $finding.small ]] || cp "$finding" "$finding.small"
    echo "$name: FINDING $finding.small, see $folder/log" >&2
  done
  echo "| $name | ${units:-?} | $seconds | $findings |" >"$folder/row"
  return $findings
}
export -f run_one
code=0
printf '%s\n' "${runs[@]}" | xargs -P 2 -L 1 bash -c 'run_one "$1" "$0" "$2"' "$out" || code=1

echo "| fuzzer | executions | seconds | findings |"
echo "| --- | ---: | ---: | ---: |"
for name in "${names[@]}"; do cat "$out/$name/row" 2>/dev/null || echo "| $name | ? | ? | did not end |"; done
exit $code
