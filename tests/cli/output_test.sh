#!/usr/bin/env bash
# output_test.sh -- standard output that cannot be written is one sentence and exit code 2; standard error that cannot be written is ignored.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

printf 'text,label\n' >train.csv
for i in $(seq 60); do printf 'good film %s,pos\nbad film %s,neg\n' "$i" "$i"; done >>train.csv
small=(--tokenizer bytes --width 8 --heads 2 --blocks 1 --hidden 8 --ngrams 0 --wide 0 --steps 2 --threads 1)
train=(train --data train.csv "${small[@]}")
"$LINNET_BIN" "${train[@]}" --out m >/dev/null 2>err || fail "train: $(cat err)"
verbs=("predict m train.csv" "predict m train.csv --json" "eval m train.csv" "eval m train.csv --json" "info m"
  "data inspect train.csv" "data inspect train.csv --json" "data formats" "data convert train.csv --out -" "data make listops --rows 20 --out -"
  "list" "list --markdown" "--help" "train --help" "--version" "tokenizer train --kind words --data train.csv --out words.json")
for verb in "${verbs[@]}"; do
  read -ra words <<<"$verb"
  # A full device, and none at all: the sentence may stand after lines of progress, but not twice.
  for target in /dev/full '&-'; do
    if [[ $target == '&-' ]]; then "$LINNET_BIN" "${words[@]}" >&- 2>err; else "$LINNET_BIN" "${words[@]}" >"$target" 2>err; fi
    code=$?
    [[ $code -eq 2 && $(grep -c '^linnet: \[standard output\] cannot write: ' err) -eq 1 ]] || fail "$verb >$target: code $code, $(cat err)"
  done
  # Nobody reads: as of other filters, the end by SIGPIPE without a word.
  { "$LINNET_BIN" "${words[@]}" 2>err; echo $? >code; } | true
  [[ $(cat code) -eq 141 || $(cat code) -eq 0 ]] && ! grep -q '^linnet: ' err || fail "$verb into a closed pipe: code $(cat code), $(cat err)"
  # Standard error.
  "$LINNET_BIN" "${words[@]}" >out 2>err || fail "$verb: $(cat err)"
  for target in /dev/full '&-'; do
    if [[ $target == '&-' ]]; then "$LINNET_BIN" "${words[@]}" >out2 2>&-; else "$LINNET_BIN" "${words[@]}" >out2 2>"$target"; fi
    code=$?
    [[ $code -eq 0 ]] || fail "$verb 2>$target: code $code"
    [[ $verb == eval*json || $verb == tokenizer* ]] || cmp -s out out2 || fail "$verb 2>$target: another output"
  done
done

# A run says so before its first step, and its progress may go nowhere.
"$LINNET_BIN" "${train[@]}" --out full >/dev/full 2>err
[[ $? -eq 2 && ! -e full/model.safetensors ]] || fail "train to a full disk: $(cat err)"
"$LINNET_BIN" "${train[@]}" --out quiet >out 2>/dev/full && cmp m/model.safetensors quiet/model.safetensors || fail "train without standard error"
"$LINNET_BIN" "${train[@]}" --out closed <&- >&- 2>&-
[[ $? -eq 2 ]] || fail "train without any output"

# A reader that goes away: no output is lost on the way to it, and the program ends.
yes 'good film' | head -100000 >many.txt
timeout 60 "$LINNET_BIN" predict m <many.txt 2>err | head -2 >two
[[ ${PIPESTATUS[0]} -eq 141 && $(wc -l <two) -eq 2 && ! -s err ]] || fail "predict into head: ${PIPESTATUS[0]}, $(cat err)"
# A disk that is full shows after the first lines, not after all of a stream without end.
yes 'good film' | timeout 20 "$LINNET_BIN" predict m >/dev/full 2>err
[[ ${PIPESTATUS[1]} -eq 2 ]] || fail "predict on an endless stream to a full disk: ${PIPESTATUS[1]}"

# Both closed, and errors with nowhere to go, keep their exit codes.
"$LINNET_BIN" info m >&- 2>&- && fail "info without any output"
"$LINNET_BIN" info none 2>/dev/full
[[ $? -eq 2 ]] || fail "an error that cannot be told"
# Files that are opened do not get the number of an output that was closed: words would go into them.
cp -r m before && "$LINNET_BIN" predict m train.csv <&- >&- 2>&-
diff -r m before || fail "outputs that are closed write to files"
exit $((failures > 0))
