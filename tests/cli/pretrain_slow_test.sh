#!/usr/bin/env bash
# pretrain_slow_test.sh -- linnet train --pretrain and --init: every task, kills in both phases, wrong uses.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
shows_progress=yes
small=(--width 16 --heads 2 --blocks 1 --hidden 16 --lr 0.02 --warmup 5)

python3 - <<'P'
import random
random.seed(1)
words = ['alpha', 'beta', 'gamma', 'delta', 'eps']
def text(n=6): return ' '.join(random.choice(words) for _ in range(n))
with open('train.csv', 'w') as f:
    f.write('review,stars\n')
    for i in range(300):
        good = random.random() < 0.5
        f.write(f'"{text()}{", good" if good else ", bad"} {text(2)} {i}",{"pos" if good else "neg"}\n')
with open('more.jsonl', 'w') as f:
    for i in range(100): f.write(f'{{"text": "{text()} {i}"}}\n')
with open('pairs.tsv', 'w') as f:
    f.write('text1\ttext2\tlabel\n')
    for i in range(200): f.write(f'{text(2)} {i}\t{text(3)}\t{i % 2}\n')
with open('tags.conll', 'w') as f:
    for i in range(100):
        for w in text(5).split(): f.write(f'{w} {"B" if w[0] == "a" else "O"}\n')
        f.write('\n')
with open('text.txt', 'w') as f:
    for i in range(4000): f.write(f'the same line again and again, {i}\n')
with open('image.bin', 'wb') as f:
    for i in range(100): f.write(bytes([i % 2]) + bytes((i * t) % 64 for t in range(1024)))
P
"$LINNET_BIN" data make listops --rows 100 --min-tokens 5 --max-tokens 40 --out lists.tsv 2>/dev/null

# Every task, both kinds; the result has both phases, and the model works as any other.
for data in "train.csv --tokenizer words --unlabelled more.jsonl text.txt" "pairs.tsv --tokenizer bytes" \
  "lists.tsv" "image.bin" "tags.conll"; do
  for kind in masked causal; do
    rm -rf model
    # shellcheck disable=SC2086  # the words of $data are flags
    "$LINNET_BIN" train --data $data --pretrain $kind --pretrain-share 0.6 --steps 10 --out model "${small[@]}" --json \
      >out 2>err || fail "$data, $kind: $(cat err)"
    python3 - "$kind" <<'P' || fail "$data, $kind: $(cat out)"
import json, sys
result = json.load(open('out'))
first = result['pretraining']
assert first['steps'] == 6 and result['steps'] == 4
assert first['task'] == {'masked': 'masked', 'causal': 'lm'}[sys.argv[1]] and first['bits_per_byte'] > 0
assert json.load(open('model/pretrain/config.json'))['causal'] == (sys.argv[1] == 'causal')
assert not json.load(open('model/config.json'))['causal']
P
  done
done
"$LINNET_BIN" train --data train.csv --tokenizer words --pretrain masked --unlabelled more.jsonl --steps 10 --out said "${small[@]}" >out 2>&1
grep 'pretrained 5 steps of it on 3[0-9][0-9] records without labels' out >/dev/null || fail "what is said: $(cat out)"
echo 'alpha good' | "$LINNET_BIN" predict said >out || fail "predict"

# A run that is killed in either phase ends as the one that was not.
for kind in masked causal; do
  run=(train --data train.csv --tokenizer bytes --pretrain $kind --pretrain-share 0.5 --steps 60 --checkpoint-every 3 --ema 0.9 --dropout 0.1
    --ngrams 2 --ngram-buckets 512 --sampled 40 "${small[@]}")
  "$LINNET_BIN" "${run[@]}" --threads 1 --out whole.$kind >/dev/null 2>&1 || fail "undisturbed run"
  for stop in pretrain/4 pretrain/19 ./3 ./17; do
    log=killed.$kind/${stop%/*}/metrics.jsonl
    "$LINNET_BIN" "${run[@]}" --out killed.$kind >/dev/null 2>&1 &
    pid=$!
    for ((i = 0; i < 2000; i++)); do
      [[ $(cat "$log" 2>/dev/null | wc -l) -ge ${stop#*/} || ! -d /proc/$pid ]] && break
      sleep 0.01
    done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
  done
  "$LINNET_BIN" "${run[@]}" --out killed.$kind >out 2>&1 || fail "resumed run: $(cat out)"
  for part in pretrain/ ""; do
    cmp whole.$kind/${part}model.safetensors killed.$kind/${part}model.safetensors || fail "$kind: the resumed run is another"
    diff <(sed 's/,"seconds.*//' whole.$kind/${part}metrics.jsonl) <(sed 's/,"seconds.*//' killed.$kind/${part}metrics.jsonl) || fail "other metrics"
  done
  "$LINNET_BIN" "${run[@]}" --out killed.$kind >out 2>&1 || fail "finished run, again"
  "$LINNET_BIN" "${run[@]}" --threads 3 --out threads.$kind >out 2>&1 || fail "threads"
  cmp whole.$kind/model.safetensors threads.$kind/model.safetensors || fail "$kind: the threads change the result"
done
expect_error 'began with pretrain_share = 0.5, not 0.25' "${run[@]/#0.5/0.25}" --out killed.causal

# A model of any task is a beginning for another one, with its own settings and tokenizer.
"$LINNET_BIN" train --data text.txt --task masked --tokenizer bytes --steps 10 --length 64 --out hidden "${small[@]}" >out 2>&1 || fail "task masked: $(cat out)"
"$LINNET_BIN" eval hidden text.txt --json >out && grep '"bits_per_byte"' out >/dev/null || fail "eval of a masked model: $(cat out)"
for from in hidden whole.causal whole.causal/pretrain; do
  "$LINNET_BIN" train --data train.csv --init $from --steps 4 --threads 1 --out next.$from >out 2>&1 || fail "--init $from: $(cat out)"
  grep 'bytes, 25[67] ids' out >/dev/null || fail "tokenizer of $from: $(cat out)"
done

expect_error 'learns without labels already' train --data text.txt --pretrain masked --steps 4 --out x
expect_error 'use --pretrain masked' train --data train.csv --mixer reformer --pretrain causal --steps 4 --out x
expect_error 'from both sides' train --data train.csv --causal true --pretrain masked --steps 4 --out x
expect_error '[train.pretrain] must be' train --data train.csv --pretrain magic --out x
expect_error '[train.pretrain_share]' train --data train.csv --pretrain masked --pretrain-share 1 --out x
expect_error '[--unlabelled] is for pretraining' train --data train.csv --unlabelled more.jsonl --out x
expect_error 'has images' train --data train.csv --pretrain masked --unlabelled image.bin --steps 4 --out x
printf 'review,stars\nx,odd\n' >odd.csv
expect_error '[odd.csv:2:3] label "odd"' train --data train.csv --validation odd.csv --pretrain masked --steps 100000 --out y
expect_error 'nowhere' train --data train.csv --pretrain masked --unlabelled nowhere --steps 4 --out x
expect_error '[--tokenizer]' train --data train.csv --init hidden --tokenizer bytes --steps 4 --out x
expect_error 'has the shape' train --data train.csv --init hidden --width 32 --steps 4 --out x
expect_error 'neither tokenizer.json' train --data train.csv --init "$dir" --steps 4 --out x

# A model of texts with a wide part, as by default, a bag and a convolution begins others: more classes, pairs, tags, more texts.
"$LINNET_BIN" train --data train.csv --bag true --conv 4 --steps 5 --out texts "${small[@]}" >out 2>&1 || fail "a model of texts: $(cat out)"
grep -q '"wide": 3' texts/config.json || fail "no wide part in $(cat texts/config.json)"
sed 's/,pos$/,best/;s/,neg$/,worst/;5s/,[a-z]*$/,so-so/;6,40s/,[a-z]*$/,so-so/' train.csv >three.csv
for data in three.csv pairs.tsv tags.conll "text.txt --task masked"; do
  rm -rf next
  # shellcheck disable=SC2086
  "$LINNET_BIN" train --data $data --init texts --steps 3 --lr 0.02 --out next >out 2>&1 || fail "--init for $data: $(cat out)"
done
[[ ! -e x/run.json ]] || fail "a refused run left something behind"
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
