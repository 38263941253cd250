#!/usr/bin/env bash
# tensorboard_test.sh -- the event files of a run that was killed, read by a reader of our own as TensorBoard reads them.
set -uo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
  echo "FAILED: $*"
  exit 1
}
for i in $(seq 100); do
  echo "some good text $i,a"
  echo "a bad one $i,b"
done >train.csv
run=(train --data train.csv --tokenizer bytes --width 8 --heads 2 --blocks 1 --hidden 8 --length 20 --batch 8 --steps 60 --evaluations 6
  --checkpoint-every 7 --threads 1 --tensorboard --out model)
"$LINNET_BIN" "${run[@]}" >out 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && [[ $(wc -l 2>/dev/null <model/metrics.jsonl || echo 0) -lt 12 ]]; do :; done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
# As a kill in the middle of a record would leave it.
first=model/tensorboard/events.out.tfevents.000001.linnet
[[ -s $first ]] || fail "no event file: $(cat out)"
head -c 30 $first >half
cat half >>$first
"$LINNET_BIN" "${run[@]}" >out 2>&1 || fail "$(cat out)"

cat >read_events.py <<'P'
import glob, json, struct, sys

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

assert crc32c(b'123456789') == 0xe3069283
def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff

def records(data):
    at = 0
    while at + 12 <= len(data):
        length, check = struct.unpack_from('<QI', data, at)
        assert check == masked(data[at:at + 8]), 'checksum of a length'
        end = at + 12 + length
        if end + 4 > len(data):
            break
        body = data[at + 12:end]
        assert struct.unpack_from('<I', data, end)[0] == masked(body), 'checksum of a record'
        yield body
        at = end + 4
    global cut
    cut += at != len(data)

def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            yield number, varint()
        else:
            size = {1: 8, 5: 4}.get(wire) or varint()
            yield number, data[at:at + size]
            at += size

cut, charts, dropped = 0, {}, 0
files = sorted(glob.glob('model/tensorboard/*tfevents*'))
assert len(files) == 2, files
for name in files:
    for i, record in enumerate(records(open(name, 'rb').read())):
        event = dict(fields(record))
        assert 1.7e9 < struct.unpack('<d', event[1])[0] < 1e11, 'wall time'
        step = event.get(2, 0)
        assert (event.get(3) == b'brain.Event:2') == (i == 0), 'version'
        if 7 in event:  # SessionLog: at START TensorBoard drops this step and later
            assert dict(fields(event[7])) == {1: 1}
            for points in charts.values():
                dropped += sum(p[0] >= step for p in points)
                points[:] = [p for p in points if p[0] < step]
        for number, value in fields(event.get(5, b'')):
            assert number == 1
            value = dict(fields(value))
            charts.setdefault(value[1].decode(), []).append((step, struct.unpack('<f', value[2])[0]))

# What is left is what metrics.jsonl has: every step once, in order.
expected = {}
for line in open('model/metrics.jsonl'):
    line = json.loads(line)
    for key, value in line.items():
        if key in ('step', 'seconds', 'tokens'):
            continue
        tag = 'validation/' + key[11:] if key.startswith('validation_') else 'train/' + key
        expected.setdefault(tag, []).append((line['step'], struct.unpack('<f', struct.pack('<f', value))[0]))
for tag in ('train/loss', 'train/accuracy', 'train/gradient_norm', 'train/learning_rate', 'train/tokens_per_s', 'validation/accuracy'):
    assert tag in charts, (tag, sorted(charts))
assert [s for s, _ in charts['train/loss']] == list(range(1, 61)), charts['train/loss']
assert len(charts['validation/loss']) == 6
assert sorted(charts) == sorted(expected), (sorted(charts), sorted(expected))
for tag in charts:
    assert tag == 'train/tokens_per_s' or charts[tag] == expected[tag], tag
assert cut == 1, cut
print(f'{len(charts)} charts, {dropped} points of steps taken again, {cut} records cut short')
P
python3 read_events.py || fail "events"
echo "all passed"
