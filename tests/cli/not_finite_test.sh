#!/usr/bin/env bash
# not_finite_test.sh -- weights that are NaN or infinite give no answer but a sentence that names the tensor.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

python3 - <<'P'
with open('train.csv', 'w') as f:
    f.write('text,label\n')
    for i in range(60): f.write(f'good film {i},pos\nbad film {i},neg\n')
with open('many.jsonl', 'w') as f:
    for i in range(60): f.write('{"text": "good %d", "labels": ["a"]}\n{"text": "bad %d", "labels": ["a", "b"]}\n' % (i, i))
with open('tags.conll', 'w') as f:
    for i in range(60): f.write(f'good{i % 3} A\nbad{i % 5} B\n\n')
with open('text.txt', 'w') as f:
    for i in range(3000): f.write(f'the same line again {i}\n')
P
small=(--width 8 --heads 2 --blocks 1 --hidden 8 --steps 2 --threads 1)
make() { # NAME ARGS...
  "$LINNET_BIN" train "${@:2}" "${small[@]}" --out "$1" >/dev/null 2>err || fail "train $1: $(cat err)"
}
make classes --data train.csv --tokenizer words --regions 0
make many --data many.jsonl --tokenizer words
make tags --data tags.conll
make lm --data text.txt --task lm --tokenizer bytes
# MODEL TENSOR VALUE: the tensor's third value; of TENSOR "all" every value of every matrix.
spoil() {
  rm -rf spoilt && cp -r "$1" spoilt
  python3 - "$2" "$3" <<'P' || fail "spoil $*"
import json, struct, sys
path = 'spoilt/model.safetensors'
data = bytearray(open(path, 'rb').read())
size = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + size])
value = struct.pack('<f', float(sys.argv[2]))
for name, info in header.items():
    if name == '__metadata__': continue
    begin, end = (8 + size + at for at in info['data_offsets'])
    if sys.argv[1] == 'all' and 'norm' not in name: data[begin:end] = value * ((end - begin) // 4)
    if sys.argv[1] == name: data[begin + 8:begin + 12] = value
open(path, 'wb').write(data)
P
}
declare -A data=([classes]=train.csv [many]=many.jsonl [tags]=tags.conll [lm]=text.txt)
shows_progress=yes
for value in nan inf -inf; do
  for model in classes many tags lm; do
    spoil $model blocks.0.norm1.weight $value
    expect_error "tensor blocks.0.norm1.weight is" eval spoilt ${data[$model]}
    expect_error "tensor blocks.0.norm1.weight is" eval spoilt ${data[$model]} --json
    [[ $model == lm ]] || expect_error "tensor blocks.0.norm1.weight is" predict spoilt ${data[$model]}
    [[ ! -s out ]] || fail "predict of $model answered: $(head -2 out)"
  done
  spoil classes wide.weight $value
  [[ $value == nan ]] || continue
done
spoil classes all 3e38
expect_error "though all weights are" predict spoilt train.csv
spoil classes none 0
expect "" predict spoilt train.csv
# Flags that this model or this input has no use for.
expect_error "[--top]" predict many many.jsonl --top 2
expect_error "[--label-column]" predict classes --label-column 2
exit $((failures > 0))
