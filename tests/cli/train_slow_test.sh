#!/usr/bin/env bash
# train_slow_test.sh -- linnet train, eval and predict on real files: every task, stops and kills, broken input.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
shows_progress=yes
small=(--width 16 --heads 2 --blocks 1 --hidden 16 --lr 0.02 --warmup 5 --threads 1)
learns() { # FIGURE LEAST ARGS...: trains to a validation figure of at least so much
  local figure=$1 least=$2
  shift 2
  rm -rf model
  "$LINNET_BIN" train --out model "${small[@]}" "$@" --json >out 2>err || fail "train $*: $(cat err)"
  python3 - "$figure" "$least" <<'P' || fail "train $*: $(cat out)"
import json, sys
value = json.load(open('out'))['validation'][sys.argv[1]]
sys.exit(not (value >= float(sys.argv[2]) if sys.argv[1] != 'bits_per_byte' else value <= float(sys.argv[2])))
P
}

# Data that can be learnt from one word, of every shape.
python3 - <<'P'
import json, random
random.seed(1)
words = ['alpha', 'beta', 'gamma', 'delta', 'eps']
def text(n=6): return ' '.join(random.choice(words) for _ in range(n))
with open('train.csv', 'w') as f, open('test.csv', 'w') as g:
    for file in (f, g):
        file.write('review,stars\n')
        for i in range(500):
            good = random.random() < 0.5
            file.write(f'"{text()}{", good" if good else ", bad"} {text(2)} {i}",{"pos" if good else "neg"}\n')
with open('many.jsonl', 'w') as f:
    for i in range(500):
        labels = [l for l in ('a', 'b', 'c') if random.random() < 0.5] or ['a']
        f.write(json.dumps({'text': ' '.join(['has' + l for l in labels]) + ' ' + text(3) + str(i), 'labels': labels}) + '\n')
with open('pairs.tsv', 'w') as f:
    f.write('text1\ttext2\tlabel\n')
    for i in range(600):
        a, same = random.choice(words), random.random() < 0.5
        b = a if same else random.choice([w for w in words if w != a])
        f.write(f'{a} {i}\t{b} {i % 7}\t{int(same)}\n')
with open('shared.tsv', 'w') as f:
    f.write('text1\ttext2\tlabel\n')
    for i in range(600):
        a, b, c, d = random.sample(words, 4)
        second = random.choice([(c, d), (a, d), (b, a)])
        f.write(f'{a} {b}\t{" ".join(second)}\t{["none", "one", "two"][len({a, b} & set(second))]}\n')
with open('tags.conll', 'w') as f:
    for i in range(300):
        for w in text(5).split() + [f'Name{random.randrange(5)}']:
            f.write(f'{w} {"B" if w[0] == "N" else "O"}\n')
        f.write('\n')
with open('text.txt', 'w') as f:
    for i in range(4000): f.write(f'the same line again and again, {i}\n')
with open('image.bin', 'wb') as f:
    for i in range(300):
        label = random.randrange(2)
        f.write(bytes([label]) + bytes(random.randrange(100) + 150 * label for _ in range(1024)))
P
learns accuracy 0.9 --data train.csv --tokenizer words --steps 60 --test test.csv
"$LINNET_BIN" eval model test.csv --json >out || fail "eval"
grep -q '"accuracy":0.9\|"accuracy":1.0' out || fail "eval: $(cat out)"
"$LINNET_BIN" eval model test.csv >out && grep -q 'as neg' out || fail "no confusion matrix"
printf 'alpha beta, good gamma\n\nalpha, bad\n' | "$LINNET_BIN" predict model >out || fail "predict"
[[ $(wc -l <out) -eq 3 && $(sed -n 1p out) == pos* && $(sed -n 3p out) == neg* ]] || fail "predict: $(cat out)"
"$LINNET_BIN" predict model test.csv --json >out && grep -q '"probabilities"' out || fail "predict --json"
printf 'review,stars\nx,odd\n' >odd.csv
expect_error '[odd.csv:2:3] label "odd"' eval model odd.csv
expect_error 'no column' train --data train.csv --out other --label-column nothing
learns micro_f1 0.9 --data many.jsonl --tokenizer words --steps 80 --choose-by micro_f1
echo 'hasa hasc' | "$LINNET_BIN" predict model | grep -q $'^[ac]\t.*[ac]\t' || fail "many labels: $(cat out)"
learns accuracy 0.85 --data pairs.tsv --tokenizer words --steps 150 --pool mean --wide 0
grep -q '"wide_bits": 22' model/config.json || fail "runs of pairs that were begun without a wide part: $(cat model/config.json)"
learns loss 0 --data pairs.tsv --tokenizer bytes --steps 5
grep -q '"pair": "compare"' model/config.json && grep -q '"wide": 0' model/config.json || fail "pairs of bytes: $(cat model/config.json)"
learns accuracy 0.95 --data shared.tsv --steps 20
# What they share is at their ends, which the wide part alone reads; who gives a length means it.
awk -F'\t' -v OFS='\t' 'NR > 1 { for (i = 1; i < 3; ++i) { far = ""; for (k = 0; k < 1100; ++k) far = far "x" (NR * 31 + i * 17 + k * k) % 97 " "; $i = far $i } } 1' shared.tsv >far.tsv
learns accuracy 0.95 --data far.tsv --steps 3
"$LINNET_BIN" eval model far.tsv --json >out && grep -q '"accuracy":0.9[5-9]\|"accuracy":1.0' out || fail "eval of what is read further on: $(cat out)"
read_on() { grep -q "\"wide\": 3," model/config.json && grep -q "\"wide_length\": $1," model/config.json || fail "shared n-grams are not of $1 tokens: $(cat model/config.json)"; }
read_on 4096
learns loss 0 --data far.tsv --steps 3 --length 64
read_on 0
learns loss 0 --data far.tsv --steps 3 --truncate tail
read_on 0
# More pairs than the wide part reads on for by itself; it does if told to.
awk 'BEGIN { print "text1\ttext2\tlabel"; for (i = 0; i < 80000; ++i) print "a" i "\ta" i + i % 2 "\t" i % 2 }' >long.tsv
learns loss 0 --data long.tsv --steps 1 --wide-length 4096
read_on 4096
learns accuracy 0.99 --data pairs.tsv --steps 20
grep -q '"pair": "distance"' model/config.json || fail "what pairs start from: $(cat model/config.json)"
read_on 0
printf 'text\nalpha 1\n' >alone.tsv
printf 'text1\ttext2\nalpha 1\talpha 2\nbeta 1\tdelta 2\n' >ask.tsv
expect_error '[alone.tsv:2:1] has no second text to match' predict model alone.tsv
[[ $("$LINNET_BIN" predict model ask.tsv | cut -f1 | paste -sd' ') == "1 0" ]] || fail "pairs: $("$LINNET_BIN" predict model ask.tsv 2>&1)"
learns accuracy 0.95 --data tags.conll --steps 60 --choose-by macro_f1
echo 'alpha Name1 beta' | "$LINNET_BIN" predict model | grep -qx 'O B O' || fail "tags: $(echo 'alpha Name1 beta' | "$LINNET_BIN" predict model)"
learns bits_per_byte 1.5 --data text.txt --steps 60 --length 128 --choose-by accuracy
learns accuracy 0.95 --data image.bin --steps 20
"$LINNET_BIN" data make listops --rows 300 --min-tokens 5 --max-tokens 40 --out lists.tsv 2>/dev/null
learns loss 0 --data lists.tsv --steps 5
grep -q '"task": "listops"' model/config.json || fail "listops was not guessed"
learns accuracy 0.9 --data train.csv --tokenizer bpe --vocab 300 --steps 80 --stride 8 --length 16
learns accuracy 0.9 --data train.csv --tokenizer bytes --ngrams 4 --ngram-buckets 4096 --steps 60 --batch-tokens 2000 --group 4

# With nothing but the data: words, a wide part that is there at the end and goes into what eval says; without it, less.
learns accuracy 0.9 --data train.csv --test test.csv --steps 20
grep -q '"wide": 3' model/config.json || fail "no wide part by default"
grep -q '"regions": 3' model/config.json || fail "no region part by default"
test=$(python3 -c 'import json; print(json.load(open("out"))["test"]["accuracy"])')
[[ $("$LINNET_BIN" eval model test.csv --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["accuracy"])') == "$test" ]] || fail "eval of a wide part"
learns accuracy 0.5 --data train.csv --steps 20 --wide 0
! grep -q 'wide.weight\|regions.weight' model/model.safetensors || fail "a part at the side with --wide 0"
learns accuracy 0.9 --data train.csv --steps 20 --wide 0 --regions 2 --region-units 64
learns accuracy 0.9 --data train.csv --tokenizer bytes --steps 20
parts() { grep -q "\"ngrams\": $1," model/config.json && grep -q "\"wide\": $2," model/config.json || fail "not n-grams of $1, wide part of $2: $(cat model/config.json)"; }
parts 6 6
grep -q '"regions": 0' model/config.json || fail "regions of bytes"
learns accuracy 0.9 --data train.csv --tokenizer chars --steps 20
parts 6 6
learns micro_f1 0.9 --data many.jsonl --tokenizer bytes --steps 80
parts 6 0
rm -rf model
python3 -c 'for i in range(300): print(f"{chr(0x4e00 + i)}{chr(0x5e00 + i % 7)}{chr(0x6e00 + i % 2)},{i % 2}")' >dense.csv
"$LINNET_BIN" train --data dense.csv --out model "${small[@]}" --steps 2 --vocab 2000 >out 2>&1 || fail "texts without blanks: $(cat out)"
grep -q '^tokens     bpe' out || fail "texts without blanks: $(cat out)"
expect_error '[train.drop_tokens] task "lm" needs all of its tokens' train --data text.txt --drop-tokens 0.1 --steps 5 --out dropped
expect_error '[config.wide] a wide part is for texts with one label' train --data many.jsonl --wide 2 --steps 5 --out widened
expect_error '[config.regions] a region part is for one text with one label' train --data pairs.tsv --regions 2 --steps 5 --out widened
expect_error '[config.region_units] must be a multiple of 64, not 100' train --data train.csv --region-units 100 --steps 5 --out widened

expect_error '[train.choose_by] models of task "text" are not chosen by "bits_per_byte"; there are: loss, accuracy, macro_f1, roc_auc' train --data train.csv --choose-by bits_per_byte --steps 5 --out chosen
expect_error '[train.choose_by]' train --data train.csv --choose-by f1 --autotune 0.1 --steps 5 --out chosen
[[ ! -e chosen/autotune.jsonl ]] || fail "a search that cannot be binds the folder"
learns accuracy 0.8 --data train.csv --tokenizer bytes --length 16 --stride 8 --steps 60
parts 6 0

# Any bytes are text; a class with one example is named.
python3 - <<'P'
with open('odd.csv', 'wb') as f:
    f.write(b'text,label\n')
    for i in range(200): f.write(b'zero \0 byte %d,a\nbroken \xff\xfe utf-8 %d,b\n' % (i, i))
    f.write(b'alone,only\n')
P
learns accuracy 0.9 --data odd.csv --steps 40 --tokenizer bytes
rm -rf model
"$LINNET_BIN" train --data odd.csv --out model "${small[@]}" --steps 2 >out 2>&1
grep -q 'class only has \(a single\|no\) example to train on' out || fail "single example"

# A folder goes on only with what it began with; kill_slow_test.sh has the kills.
run=(train --data train.csv --tokenizer words --steps 40 "${small[@]}")
long=("${run[@]/#40/1000000}")
"$LINNET_BIN" "${run[@]}" --out whole >out 2>&1 || fail "run: $(cat out)"
"$LINNET_BIN" "${run[@]}" --out whole >out 2>&1 || fail "finished run, again"
expect_error 'train.lr = 0.02, not 0.5' "${run[@]/#0.02/0.5}" --out whole
expect_error 'the data has changed' "${run[@]/train.csv/test.csv}" --out whole
cp -r whole listed && echo '[1]' >listed/run.json
expect_error '[listed/run.json] is no record of a run' "${run[@]}" --out listed

# One run at a time; Ctrl-C saves and stops.
"$LINNET_BIN" "${long[@]}" --out busy >busy.out 2>&1 &
pid=$!
for ((i = 0; i < 1000; i++)); do [[ -s busy/metrics.jsonl ]] && break || sleep 0.01; done
expect_error 'another run is at work' "${long[@]}" --out busy
kill -INT $pid
wait $pid
[[ $? -eq 130 ]] || fail "Ctrl-C"
grep -q 'the same command goes on' busy.out || fail "Ctrl-C: $(cat busy.out)"

# A run that cannot go on says where it broke.
"$LINNET_BIN" train --data train.csv --tokenizer words --steps 40 --width 16 --heads 2 --blocks 1 --hidden 16 --out nan \
  --lr 1e6 --schedule constant --warmup 1 --clip 0 >out 2>&1
grep -q 'step .*: .*\(parameter\|output of\|gradient of\) ' out || fail "no diagnosis: $(cat out)"

for i in $(seq 60); do echo "$i text,same"; done >same.csv
expect_error 'there is nothing to learn' train --out x --data same.csv
printf 'text,label\n' >empty.csv
expect_error 'empty.csv' train --data empty.csv --out x
expect_error 'give a file, not a pipe' train --data - --out x
expect_error 'no such task' train --data train.csv --task magic --out x
expect_error '[train.batch]' train --data train.csv --batch 0 --steps 1 --out x
expect_error 'cannot open' predict "$dir"
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
