#!/usr/bin/env bash
# same_bits_test.sh -- small runs of every task end with the weights that are on record: tests/golden/same_bits.txt.
#
# The record holds for one CPU target (AVX2) and the program's libraries as Debian 12 has them. After a change that alters bits on purpose,
# write it anew: LINNET_RECORD=1 bash tests/cli/same_bits_test.sh > tests/golden/same_bits.txt
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
export LINNET_TARGET=avx2
! is_sanitized || { echo "skipped: the record is of the program as it is built for users" && exit 77; }
grep -qw avx2 /proc/cpuinfo || { echo "skipped: this CPU has no AVX2" && exit 77; }

cat >hash.py <<'P'
"""hash.py NAME FILE: a line with a hash of all tensors, or of an arena's records without what differs from run to run."""
import hashlib, json, struct, sys

name, path = sys.argv[1:]
with open(path, 'rb') as f:
    data = f.read()
digest = hashlib.sha256()
if path.endswith('.jsonl'):
    for line in data.splitlines():
        r = json.loads(line)
        if 'row' not in r:
            continue
        curve = [[p['step'], p['loss'], p['validation_loss']] for p in r['curve']]
        digest.update(json.dumps([r['task'], r['row'], r['seed'], r['validation'], r['test'], curve]).encode())
else:
    (size,) = struct.unpack('<Q', data[:8])
    header = json.loads(data[8:8 + size])
    for key in sorted(k for k in header if k != '__metadata__'):
        begin, end = header[key]['data_offsets']
        digest.update(json.dumps([key, header[key]['shape']]).encode() + data[8 + size + begin:8 + size + end])
print(name, digest.hexdigest()[:32])
P
python3 - <<'P'
import random, os
rng = random.Random(1)
good, bad = ['fine', 'lovely', 'great', 'warm'], ['dull', 'weak', 'poor', 'cold']
rest = ['film', 'story', 'actor', 'plot', 'scene', 'music', 'end', 'start', 'camera', 'joke', 'city', 'war']
def text(words, n):
    return ' '.join(rng.choice(words if rng.random() < 0.3 else rest) for _ in range(n))
with open('text.csv', 'w') as f:
    f.write('review,stars\n')
    for i in range(300):
        label = rng.random() < 0.5
        f.write(f'"{text(good if label else bad, rng.randrange(4, 30))}, {i}",{"pos" if label else "neg"}\n')
with open('pairs.csv', 'w') as f:
    f.write('text1,text2,label\n')
    for i in range(240):
        a = [rng.choice(good + bad + rest) for _ in range(12)]
        same = rng.random() < 0.5
        b = rng.sample(a, 12) if same else [rng.choice(good + bad + rest) for _ in range(12)]
        f.write(f'{" ".join(a)},{" ".join(b)},{int(same)}\n')
with open('many.csv', 'w') as f:
    f.write('text,label\n')
    for i in range(240):
        chosen = rng.sample(range(4), rng.randrange(1, 3))
        f.write(f'{" ".join(rng.choice(rest) + str(c) for c in chosen for _ in range(4))},{"|".join("abcd"[c] for c in sorted(chosen))}\n')
with open('lm.txt', 'w') as f:
    for i in range(300):
        f.write(text(good + bad, 9) + '\n')
with open('tags.conll', 'w') as f:
    for i in range(200):
        for _ in range(rng.randrange(3, 9)):
            word = rng.choice(good + bad + rest)
            f.write(f'{word} {"G" if word in good else "B" if word in bad else "O"}\n')
        f.write('\n')
os.mkdir('images')
for part, n in (('train', 120), ('test', 20)):
    with open(f'images/{part}.gray.bin', 'wb') as f:
        for i in range(n):
            label = rng.randrange(10)
            f.write(bytes([label]) + bytes((20 * label + rng.randrange(40)) % 256 for _ in range(1024)))
P
tiny=(--width 24 --heads 2 --hidden 32 --head-units 16 --batch 8 --warmup 3 --evaluations 2 --threads 2)
run() { # NAME ARGS...
  local name=$1
  shift
  "$LINNET_BIN" train "${tiny[@]}" --steps "${steps:-12}" --checkpoint-every 1 --out "$name" "$@" >out 2>&1 || fail "$name: $(cat out)"
  python3 hash.py "$name" "$name/model.safetensors" >>now
}
: >now
small=(--wide-bits 10 --regions 3 --region-units 64 --region-rows 40 --ngram-buckets 256)
run text_words --data text.csv "${small[@]}"
run text_bytes --data text.csv --tokenizer bytes --wide-bits 10 --ngram-buckets 256
run text_bpe_windows --data text.csv --tokenizer bpe --vocab 300 --length 16 --stride 8 --wide-bits 10 --ngram-buckets 256 --row 2xoglu
run text_streamed --data text.csv "${small[@]}" --window 1000 --accumulate-tokens 60 --group 2 --ema 0.9 --recompute true
run pairs --data pairs.csv --wide-bits 10
run pairs_bytes --data pairs.csv --tokenizer bytes
run many_labels --data many.csv --label-separator '|' --mixer performer
run lm --data lm.txt --length 64 --mixer kernel-decay
run masked --data lm.txt --task masked --vocab 300 --length 64 --sampled 50
run tagging --data tags.conll --mixer softmax
run images --data images --task image --length 1024 --mixer linformer
run pretrained --data text.csv --pretrain causal --wide-bits 10 --regions 0 --ngram-buckets 256
run begun --data pairs.csv --init masked --wide-bits 10
"$LINNET_BIN" data make listops --rows 300 --seed 5 --out listops.tsv --min-tokens 10 --max-tokens 60 >out 2>&1 || fail "$(cat out)"
run listops --data listops.tsv
"$LINNET_BIN" data make pathfinder --rows 60 --seed 5 --out paths.bin >out 2>&1 || fail "$(cat out)"
run pathfinder --data paths.bin --mixer scan
run profile --data text.csv --profile desk --row 3xaoglu --length 64
# Stopped by a signal after its first checkpoint, then gone on with.
"$LINNET_BIN" train "${tiny[@]}" --steps 400 --checkpoint-every 1 --out resumed --data text.csv "${small[@]}" >out 2>&1 &
pid=$!
for ((i = 0; i < 500; i++)); do [[ -e resumed/checkpoint.safetensors ]] && break || sleep 0.02; done
kill -TERM $pid
wait $pid
[[ $? -eq 130 ]] || fail "the run was not stopped: $(cat out)"
steps=400 run resumed --data text.csv "${small[@]}"
cat >spec.json <<'J'
{"name": "bits", "tasks": ["text"], "seeds": 2, "data": {"text": "text.csv"},
 "settings": {"steps": 6, "evaluations": 2, "width": 24, "heads": 2, "blocks": 1, "hidden": 32, "head_units": 16, "length": 64},
 "rows": {"a": {"row": "linear-kernel"}, "b": {"row": "1xoglu", "lr": 0.01}}}
J
"$LINNET_BIN" arena --spec spec.json --dir arena --threads 2 >out 2>&1 || fail "arena: $(cat out)"
python3 hash.py arena arena/results.jsonl >>now
if [[ -n ${LINNET_RECORD-} ]]; then
  cat now
else
  diff "$LINNET_ROOT/tests/golden/same_bits.txt" now || fail "weights differ from those on record"
fi
exit $((failures > 0))
