#!/usr/bin/env bash
# hostile_data_test.sh -- small files made to take much memory: one sentence and code 2, at most 300 MB, from inspect and train.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

python3 - <<'PY' || fail "files"
import gzip

SIZE = 12_000_000
FILES = {
    "commas.csv": b"," * SIZE,
    "tabs.tsv": b"\t" * SIZE,
    "fields.jsonl": b"{" + b",".join(b'"k%d":1' % i for i in range(SIZE // 10)) + b"}\n",
    "list.jsonl": b'{"text":"a","label":[' + b"1," * (SIZE // 2) + b"1]}\n",
    "nested.jsonl": b'{"text":"a","label":"x","more":' + b"[" * SIZE + b"}\n",
    "tags.conll": b"a b\n" * (SIZE // 4),
    "labels.txt": b"__label__a " * (SIZE // 8),
    "zeros.csv.gz": gzip.compress(bytes(70 << 20), 1),
}

for name, content in FILES.items():
    with open(name, "wb") as out:
        out.write(content)
with open("names.csv", "wb") as out:
    out.write(b"text,label\n" + b"".join(b"t%d," % i + b"%d" % i * 200_000 + b"\n" for i in range(20)))
PY
# A process of its own: what a child counts begins with what its parent has.
python3 - <<'PY' || fail "files that would take much memory"
import glob, os, resource, subprocess

with open(os.environ["LINNET_BIN"], "rb") as program:
    most = 1500 if b"__asan_init" in program.read() else 310  # the address sanitizer keeps what was freed
small = "--width 8 --heads 2 --blocks 1 --hidden 8 --steps 1 --threads 1 --out".split()
for name in sorted(glob.glob("*.*")):
    for words in (["data", "inspect", name], ["train", "--data", name, *small, name + "-model"]):
        run = subprocess.run([os.environ["LINNET_BIN"], *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
        sentences = [line for line in run.stderr.split(b"\n") if line.startswith(b"linnet: ")]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10  # the highest of all so far
        inspected = name == "names.csv" and words[0] == "data"  # it says that the labels are many
        assert (run.returncode, len(sentences)) == ((0, 0) if inspected else (2, 1)), (words, run)
        assert peak < most, f"{words}: {peak} MB"
PY
exit $((failures > 0))
