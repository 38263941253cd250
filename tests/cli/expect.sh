# expect.sh -- what tests of the program share: a folder of their own, a count of failures, expectations. To be sourced.
set -uo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
is_sanitized() { # whether the program is of a sanitizer build: slower, other bits, an address space without end
  grep -qF __asan_init "$LINNET_BIN"
}
expect() { # PATTERN ARGS...: exit code 0 and the pattern on stdout
  local pattern=$1
  shift
  "$LINNET_BIN" "$@" >out 2>err || fail "linnet $* ended with $?: $(cat err)"
  [[ -z $pattern ]] || grep -qF -- "$pattern" out || fail "linnet $*: no \"$pattern\": $(cat out err)"
}
# PATTERN ARGS...: exit code 2 and one sentence on stderr with the pattern; but for verbs that show progress nothing else.
expect_error() {
  local pattern=$1 code
  shift
  "$LINNET_BIN" "$@" >out 2>err
  code=$?
  grep '^linnet: ' err >sentence
  [[ $code -eq 2 && $(wc -l <sentence) -eq 1 ]] && grep -qF -- "$pattern" sentence || fail "(code $code): linnet $*: $(cat err)"
  [[ -n ${shows_progress-} ]] || { cmp -s sentence err && [[ ! -s out ]]; } || fail "more than a sentence: linnet $*: $(cat out err)"
}
