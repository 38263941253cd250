#!/usr/bin/env bash
# outputs_test.sh -- where linnet writes: files of others stay as they are, every output is looked at before work begins, and a stop leaves nothing lying about.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
shows_progress=yes

"$LINNET_BIN" data make listops --split --rows 300 --min-tokens 5 --max-tokens 30 --out lists 2>/dev/null || fail "data"
printf 'text,label\n' >train.csv
for i in $(seq 60); do printf 'word%s %s,%s\n' "$i" "$((i % 2))" "$((i % 2))" >>train.csv; done
small=(--width 8 --heads 2 --hidden 8 --blocks 1 --threads 1)
tiny=(--steps 4 --evaluations 2 "${small[@]}")
made=(arena --task listops --row linear-kernel --seeds 1 "${tiny[@]}")
arena=("${made[@]}" --data listops=lists)
base=(train --data train.csv --wide 0 --regions 0 "${small[@]}")
train=("${base[@]}" --tokenizer bytes --steps 4 --evaluations 2)
unchanged() { # WHAT FILE: with the word that others wrote
  [[ $(cat "$2" 2>&1) == precious ]] || fail "$1: $2 was changed"
}
foreign() { # FILE: of others
  mkdir -p "$(dirname "$1")" && printf precious >"$1"
}

# -- names that become paths -----------------------------------------------------------------------
foreign victim/precious-1/file
mkdir -p a/runs/listops-x
for name in 'x/../../../victim/precious' .. . 'a b' "$(printf 'x%.0s' {1..61})" 'ü'; do
  printf '{"tasks":["listops"],"data":{"listops":"lists"},"rows":{"%s":{"row":"linear-kernel"}}}' "$name" >spec.json
  expect_error '[spec.json] [arena.rows.' arena --spec spec.json --seeds 1 --dir a "${tiny[@]}"
done
unchanged "a hostile row" victim/precious-1/file
expect_error '--row' arena --row ../x --seeds 1 --dir a --data listops=lists
# A folder of others where a run would be: neither removed nor is anything in it replaced.
foreign b/runs/listops-linear-kernel-1/notes.txt
foreign c/away/notes.txt && mkdir -p c/runs && ln -s ../away c/runs/listops-linear-kernel-1
for place in b c; do
  "$LINNET_BIN" "${arena[@]}" --dir $place >out 2>err || fail "arena in $place: $(cat err)"
  grep -q 'was not made by linnet, so it is left' err || fail "says nothing of the folder that stays: $(cat err)"
  unchanged "the run's folder" $place/runs/listops-linear-kernel-1/notes.txt
done
foreign d/runs/listops-linear-kernel-1-projection/notes.txt
expect_error 'was not made by linnet' "${arena[@]}" --dir d --project 2
unchanged "the projection's folder" d/runs/listops-linear-kernel-1-projection/notes.txt
"$LINNET_BIN" "${arena[@]}" --dir e >out 2>&1 || fail "arena: $(cat out)"
[[ -z $(ls -A e/runs) && ! -e e/.lock ]] || fail "an arena leaves: $(ls -A e e/runs)"

# -- one writer ------------------------------------------------------------------------------------
# Devices of our own where we may make them: a fault must not cost the system's.
null=/dev/null full=/dev/full
mknod null c 1 3 2>/dev/null && { : >null; } 2>/dev/null && null=$dir/null && mknod full c 1 7 && full=$dir/full
poly=(data make polynomial --rows 20)
"$LINNET_BIN" "${poly[@]}" --out poly.tsv 2>err || fail "polynomial: $(cat err)"
for out in $null /dev/stdout /dev/fd/5 -; do
  "$LINNET_BIN" "${poly[@]}" --out $out >out 5>five 2>err || fail "--out $out: $(cat err)"
  case $out in
    "$null") [[ -c $null ]] || fail "$null is a file now" ;;
    /dev/fd/5) cmp -s five poly.tsv || fail "--out $out" ;;
    *) cmp -s out poly.tsv || fail "--out $out" ;;
  esac
done
expect_error "[$full] cannot write: No space left on device" "${poly[@]}" --out $full
[[ -c $full ]] || fail "$full is a file now"
printf 'first\n' >log && "$LINNET_BIN" "${poly[@]}" --out /dev/stdout >>log 2>err
[[ $(head -1 log) == first && $(wc -l <log) -eq 22 ]] || fail "/dev/stdout replaces the file that it is"
mkfifo pipe && { cat pipe >piped & } && "$LINNET_BIN" "${poly[@]}" --out pipe 2>err && wait $! && cmp -s piped poly.tsv && [[ -p pipe ]] || fail "a pipe: $(cat err)"
"$LINNET_BIN" "${poly[@]}" --out >(cat >substituted; touch done) 2>err || fail "a process substitution: $(cat err)"
for ((i = 0; i < 100 && $(ls done 2>/dev/null | wc -l) == 0; i++)); do sleep 0.05; done
cmp -s substituted poly.tsv || fail "a process substitution"
# Neither a link at an old temporary name nor a file of that name is touched; a link leads to its file; permissions stay.
foreign other && ln -s other a.tsv.part && foreign b.tsv.part
mkdir real && printf old >real/b.tsv && chmod 640 real/b.tsv && ln -s real/b.tsv b.tsv && ln -s real/new.tsv c.tsv
for out in a b c; do "$LINNET_BIN" "${poly[@]}" --out $out.tsv 2>err || fail "$out.tsv: $(cat err)"; done
unchanged "a link at NAME.part" other
unchanged "NAME.part" b.tsv.part
[[ -L b.tsv && -L c.tsv && $(stat -c %a real/b.tsv) == 640 ]] && cmp -s real/b.tsv poly.tsv && cmp -s real/new.tsv poly.tsv || fail "links and permissions: $(ls -l . real)"
"$LINNET_BIN" data make pathfinder --rows 2 --out $null >out 2>&1 || fail "pathfinder: $(cat out)"
"$LINNET_BIN" tokenizer train --kind words --data train.csv --out $null >out 2>&1 || fail "tokenizer: $(cat out)"
"$LINNET_BIN" data convert train.csv --out - >out 2>err && "$LINNET_BIN" report e/results.jsonl --out $null 2>err || fail "report: $(cat err)"
[[ -c $null ]] || fail "$null is a file now"
# Ctrl-C and its kin: no temporary stays.
for signal in INT TERM HUP; do
  mkdir stopped
  # A script's jobs ignore SIGINT; a terminal's do not.
  python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
    "$LINNET_BIN" data make listops --rows 3000000 --out stopped/x.tsv 2>/dev/null &
  pid=$!
  for ((i = 0; i < 100; i++)); do compgen -G 'stopped/.linnet-*' >/dev/null && break || sleep 0.05; done
  kill -$signal $pid && wait $pid 2>/dev/null && fail "data make does not stop"
  [[ $i -lt 100 && -z $(ls -A stopped) ]] || fail "SIG$signal leaves: $(ls -A stopped)"
  rmdir stopped
done

# -- outputs that cannot be written, said before the work ------------------------------------------
foreign file
started=$SECONDS
expect_error '[new/r.jsonl]' "${made[@]}" --dir f --results new/r.jsonl
[[ ! -e f ]] || fail "data was made before the results were looked at: $(find f)"
for out in none/x.tsv file/x.tsv lists; do
  expect_error "[$out]" data make listops --rows 3000000 --out $out
  expect_error "[$out]" data make pathfinder --rows 200000 --out $out
  expect_error "[$out]" data make polynomial --rows 3000000 --out $out
  expect_error "[$out]" tokenizer train --data train.csv --out $out
  expect_error "[$out]" report missing.jsonl --out $out
done
expect_error "[none/x.csv]" data convert missing.csv --out none/x.csv
expect_error "[file/x" data make listops --split --rows 3000000 --out file/x
expect_error "[file/q" quickstart --dir file/q --steps 100000
expect_error "[file/q" train --data missing.csv --out file/q
expect_error "[file/q" "${arena[@]}" --dir file/q
[[ $((SECONDS - started)) -lt 60 ]] || fail "work was done before outputs were looked at: $((SECONDS - started)) s"
unchanged "outputs below it" file

# -- foreign content in folders --------------------------------------------------------------------
for file in README.md metrics.jsonl config.json model.safetensors tokenizer.json tokenizer.model; do
  rm -rf m && foreign m/$file
  expect_error "[m/$file]" "${train[@]}" --out m
  unchanged train m/$file
  [[ $(ls -A m) == "$file" ]] || fail "a refused run leaves: $(ls -A m)"
done
rm -rf m && foreign m/pretrain/README.md
expect_error "[m/pretrain/README.md]" "${train[@]}" --pretrain masked --out m
[[ $(ls -A m) == pretrain ]] || fail "a refused run leaves: $(ls -A m)"
# Its own tokenizer is no obstacle; nor is a folder of its own, with other files in it.
own=("${base[@]}" --tokenizer m/tokenizer.json --steps 4 --evaluations 2)
rm -rf m && foreign m/notes.txt && "$LINNET_BIN" tokenizer train --kind words --vocab 50 --data train.csv --out m/tokenizer.json >out 2>&1
"$LINNET_BIN" "${own[@]}" --out m >out 2>&1 || fail "its own tokenizer: $(cat out)"
"$LINNET_BIN" "${own[@]}" --out m >out 2>&1 || fail "again: $(cat out)"
unchanged train m/notes.txt
[[ ! -e m/.lock ]] || fail "a run leaves .lock"
# In the folder of a run the card was replaced, or somebody wrote below it.
cp -r m n && foreign n/README.md
expect_error "[n/README.md]" "${own[@]}" --out n
unchanged train n/README.md
cp m/README.md n/README.md && echo 'My own notes.' >>n/README.md
expect_error "[n/README.md]" "${own[@]}" --out n
# A refused or failed run leaves no folder and no .lock.
expect_error "[missing.csv]" train --data missing.csv --out x/y/z
[[ ! -e x ]] || fail "a failed run leaves: $(find x)"
mkdir -p x && expect_error "[missing.csv]" train --data missing.csv --out x/y
[[ -d x && -z $(ls -A x) ]] || fail "a failed run leaves: $(find x)"
expect_error "[missing.csv]" train --data missing.csv --out x
[[ -d x && -z $(ls -A x) ]] || fail "a failed run leaves: $(find x)"
expect_error "train.minutes" "${base[@]}" --tokenizer bytes --pretrain masked --steps 0 --epochs 0 --minutes 0 --out x/y
[[ -z $(ls -A x) ]] || fail "a failed run leaves: $(find x)"

foreign g/basic_train.tsv
expect_error "[g/basic_train.tsv]" data make listops --split --rows 300 --out g
unchanged "data make" g/basic_train.tsv
"$LINNET_BIN" data make listops --split --rows 300 --seed 2 --out lists 2>err || fail "data make again in its own folder: $(cat err)"
foreign q/linear-kernel/README.md
expect_error "[q/linear-kernel/README.md]" quickstart --row linear-kernel --dir q --steps 1
unchanged quickstart q/linear-kernel/README.md
rm q/linear-kernel/README.md && foreign q/linear-kernel/metrics.jsonl
expect_error "[q/linear-kernel/metrics.jsonl]" quickstart --row linear-kernel --dir q --steps 1
unchanged quickstart q/linear-kernel/metrics.jsonl

# -- results of an arena ---------------------------------------------------------------------------
results() { # CONTENT: refused as results, and as it was
  printf "$1" >r.jsonl && cp r.jsonl before
  expect_error '[r.jsonl' "${arena[@]}" --dir h --results r.jsonl
  cmp -s r.jsonl before || fail "results \"$1\" were changed: $(cat r.jsonl)"
  [[ ! -e h ]] || fail "a refused arena leaves: $(find h)"
}
results 'precious'
results 'precious\n'
results '\n\nprecious'
results '{"a": 1}\n'
results '{"a": 1'
results '{"a": 1}'
results 'text,label\na,b'
results '[1, 2]\n'
results "$(sed -n 1p e/results.jsonl)\nmy own words"
results "$(sed -n 1p e/results.jsonl)\n{\"mine\": 1}\n"
for out in $null $full lists; do expect_error "[$out]" "${arena[@]}" --dir h --results $out; done
# Half a line, as a kill leaves it, also of the first; and references that a kill left out.
for keep in '1s/.$//' '1!d' '3,$d'; do
  sed "$keep" e/results.jsonl | { [[ $keep == 1s* ]] && head -c 30 || cat; } >r.jsonl
  rm -rf h && "$LINNET_BIN" "${arena[@]}" --dir h --results r.jsonl >out 2>&1 || fail "half results ($keep): $(cat out)"
  [[ $(grep -c '^{"plan":' r.jsonl) -eq 1 && $(grep -c '^{"reference":' r.jsonl) -eq 6 && $(grep -c '"status":"ok"' r.jsonl) -eq 1 ]] ||
    fail "half results ($keep): $(cut -c 1-60 r.jsonl)"
done
# Names of rows that earlier versions took are still read.
printf '{"arena":"old","task":"listops","row":"a/../b,c+d","seed":1,"status":"ok","test":{"accuracy":0.5}}\n' >old.jsonl
expect 'a/../b,c+d' report old.jsonl

# -- stops ---------------------------------------------------------------------------------------
running() { # DIR: a run is at work in it, as $pid
  "$LINNET_BIN" "${base[@]}" --tokenizer bytes --steps 1000000 --checkpoint-every 100 --evaluations 1000 --out "$1" >out 2>err &
  pid=$!
  for ((i = 0; i < 200; i++)); do [[ -e $1/checkpoint.safetensors ]] && return || sleep 0.05; done
  fail "no checkpoint: $(cat err)"
}
running hup && kill -HUP $pid
wait $pid
[[ $? -eq 130 && ! -e hup/.lock ]] && grep -q 'the same command goes on from there' err || fail "SIGHUP: $(cat err)"
trap '' HUP && running nohup && trap - HUP && kill -HUP $pid && sleep 0.3 && kill -0 $pid || fail "nohup is not obeyed"
kill -TERM $pid
wait $pid
[[ $? -eq 130 ]] || fail "SIGTERM: $(cat err)"
for again in true 'mkdir gone'; do
  rm -rf gone && running gone && rm -rf gone && $again
  wait $pid
  [[ $? -eq 2 && $(grep -c '^linnet: \[gone' err) -eq 1 ]] || fail "the folder is gone: $(cat err)"
done
"$LINNET_BIN" "${base[@]}" --tokenizer bytes --lr 1e9 --schedule constant --warmup 1 --clip 0 --evaluations 1 --steps 100 --out nan >out 2>err
[[ $? -eq 2 ]] && ! grep -q 'last good state' err && grep -q 'try a smaller --lr' err || fail "a good state where there is none: $(cat err)"

# -- a temporary place -----------------------------------------------------------------------------
bench=(bench engine --against pytorch --brief --seconds 0.05 --rounds 1)
mkdir -p cwd/bench/peers root/bench/peers && echo 'open("ran", "w")' >cwd/bench/peers/pytorch_engine.py
for root in 'env -u LINNET_ROOT' 'env LINNET_ROOT='; do
  (cd cwd && $root "$LINNET_BIN" "${bench[@]}" >../out 2>../err)
  [[ $? -eq 2 && ! -e cwd/ran && $(grep -c '^linnet: ' err) -eq 1 ]] && grep -q LINNET_ROOT err || fail "a script of the current folder: $(cat err)"
done
for place in none file; do
  TMPDIR=$dir/$place expect_error "[TMPDIR]" "${bench[@]}"
  TMPDIR=$dir/$place expect_error "[TMPDIR]" bench text --data train.csv
done
printf 'import time\nopen("%s/at", "w").write(__import__("sys").argv[2])\ntime.sleep(60)\n' "$dir" >root/bench/peers/pytorch_engine.py
mkdir tmp
# Sanitized, a bench takes minutes until its peer starts.
is_sanitized || for signal in TERM HUP; do
  rm -f at
  TMPDIR=$dir/tmp LINNET_ROOT=$dir/root "$LINNET_BIN" "${bench[@]}" >out 2>err &
  pid=$!
  for ((i = 0; i < 600; i++)); do [[ -s at ]] && break || sleep 0.05; done
  [[ $(cat at) == "$dir"/tmp/linnet-* && $(cat at) != *$pid* && $(stat -c %a "$(cat at)") == 700 ]] || fail "the folder of a bench: $(cat at err)"
  started=$SECONDS && kill -$signal $pid
  wait $pid
  [[ $? -eq 130 && $((SECONDS - started)) -lt 20 && -z $(ls -A tmp) ]] || fail "SIG$signal in a bench: $(ls -A tmp) $(cat err)"
done
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
