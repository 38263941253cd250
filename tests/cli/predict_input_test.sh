#!/usr/bin/env bash
# predict_input_test.sh -- linnet predict on standard input: a text a line, packed or not, in order, each with its answer.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

small=(--width 8 --heads 2 --blocks 1 --hidden 8 --ngrams 0 --wide 0 --regions 0 --steps 2 --threads 1)
printf 'text,label\n' >train.csv
for i in $(seq 60); do printf 'good film %s,pos\nbad film %s,neg\n' "$i" "$i"; done >>train.csv
"$LINNET_BIN" train --data train.csv "${small[@]}" --out m >/dev/null 2>err || fail "train: $(cat err)"

answers() { # FILE: of each line
  "$LINNET_BIN" predict m --json --threads 1 <"$1" 2>err || fail "$1: $(cat err)"
}
{ printf 'a good film\n\nbad\0film\n\n' && for i in $(seq 600); do echo "good film $i"; done && printf 'no line end'; } >texts
answers texts >right
[[ $(wc -l <right) -eq 605 ]] || fail "an answer a line: $(wc -l <right)"
[[ $(sed -n 2p right) == $(sed -n 4p right) && $(sed -n 2p right) != $(sed -n 1p right) ]] || fail "empty lines are texts"
printf 'badfilm\nbad\n' >without && answers without >other
[[ $(sed -n 3p right) != $(sed -n 1p other) && $(sed -n 3p right) != $(sed -n 2p other) ]] || fail "a NUL byte is text"
sed 's/$/\r/' texts >crlf && answers crlf | cmp - right || fail "lines that end with \\r\\n"
{ printf '\xef\xbb\xbf' && cat texts; } >marked && answers marked | cmp - right || fail "a byte order mark"
for packer in gzip bzip2 xz zstd lz4; do
  command -v $packer >/dev/null || continue
  $packer -c <texts >packed && answers packed | cmp - right || fail "packed by $packer"
done
iconv -f UTF-8 -t UTF-16 <<<"a good film" >utf16
expect_error "[standard input:1:1] is UTF-16" predict m <utf16
gzip -c <texts | head -c 500 >short
shows_progress=yes expect_error "[standard input] cannot unpack: " predict m <short
: >none && answers none >out && [[ ! -s out ]] || fail "no lines: $(cat out)"
answers none | cmp - none || fail "no lines, no answers"

# A line without an end costs no more memory than the limit of a record.
cat >peak.py <<'PY'
import resource, subprocess, sys
command = subprocess.run(sys.argv[2:], stdin=open(sys.argv[1], "rb"), stdout=subprocess.DEVNULL, timeout=60)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
sys.exit(command.returncode if peak < 1024 else f"{peak} MB of memory")
PY
for limit in 0.2 8; do
  python3 peak.py /dev/zero "$LINNET_BIN" predict m --record-limit $limit 2>err
  [[ $? -eq 2 ]] && grep -qF '[standard input:1:1] a record of more than' err || fail "a line without an end: $(cat err)"
done
python3 peak.py /dev/zero "$LINNET_BIN" tokenizer encode --model m 2>err
[[ $? -eq 2 ]] && grep -qF '[standard input:1:1] a record of more than' err || fail "encode without an end: $(cat err)"
{ printf 'one\n\n' && head -c 300000 /dev/zero; } >long
shows_progress=yes expect_error "[standard input:3:1] a record of more than 209715 bytes" predict m --record-limit 0.2 <long

# While a pipe stays open, answers come as soon as there is a batch of lines.
python3 - "$LINNET_BIN" <<'PY' || fail "answers while the pipe is open"
import subprocess, sys
run = subprocess.Popen([sys.argv[1], "predict", "m", "--threads", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for batch in range(3):
    for i in range(256):
        run.stdin.write(b"good film\n")
        run.stdin.flush()
    answers = [run.stdout.readline() for i in range(256)]  # waits for ever where they do not come
    assert all(answer.startswith((b"pos\t", b"neg\t")) for answer in answers), answers[0]
run.stdin.write(b"the rest")
run.stdin.close()
assert len(run.stdout.readlines()) == 1 and run.wait() == 0
PY
exit $((failures > 0))
