#!/usr/bin/env python3
"""mutations_slow_test.py -- damaged and hostile model folders: info, predict, eval and train --init answer or refuse.

    LINNET_BIN=build/dev/linnet tests/cli/mutations_slow_test.py --count 3000      under sanitizers
    ... --seed S --only 17                                                         one again; its folder stays"""

import copy
import json
import os
import pathlib
import random
import re
import shutil
import struct
import tempfile

import expect

MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer.model")
INTEGERS = [0, -1, 1, 2, 3, 7, 255, 65536, 2**31 - 1, 2**31, 2**32 + 1, 2**53, 2**63 - 1, 2**63, 2**64]
NUMBERS = [*INTEGERS, 0.5, -0.0, 1e-300, 1e39, 1e308]
STRINGS = ["", "x", "\x1b[2J", "\u202e", "\0", "a/../../b", "kernel", "x" * 100000]
VALUES = [*STRINGS, None, True, False, [], {}, [[]], [1, -1], {"a": {}}]
LITERALS = [b"NaN", b"-Infinity", b"1e999", b"[" * 5000, b'"\xff"', b"{}{}", b"01", b'{"a":1,"a":2}']
FLOATS = [float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-45]


def nodes(value, path=()):
    """The paths of all values in a JSON document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from nodes(child, (*path, key))


def edit_json(data, draw):
    """Another value, a missing or a foreign key, or a value that is no JSON, at one place."""
    document = json.loads(data)
    path = draw.choice([path for path in nodes(document) if path])
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    old, key = holder[path[-1]], path[-1]
    kind = draw.randrange(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(["", "x", "\x1b]0;x\x07", key + " ", "y" * 5000])] = old
    elif kind == 2:
        holder[key] = copy.deepcopy(draw.choice(VALUES))
    elif kind == 3:
        holder[key] = "@@"
        return json.dumps(document).encode().replace(b'"@@"', draw.choice(LITERALS), 1), f"{path[:4]} a literal"
    elif isinstance(old, str):
        at = draw.randrange(len(old) + 1)
        holder[key] = old[:at] + draw.choice(["", "\n", "\x9b", "\u00e9", "0", old]) + old[at + 1 :]
    else:
        near = isinstance(old, int) and draw.random() < 0.3
        holder[key] = old + draw.choice([-1, 1]) if near else draw.choice(NUMBERS)
    return json.dumps(document).encode(), f"{path[:4]} of kind {kind}"


def split_weights(data):
    (size,) = struct.unpack("<Q", data[:8])
    return data[8 : 8 + size], data[8 + size :]


def edit_header(data, draw):
    header, weights = split_weights(data)
    header, what = edit_json(header, draw)
    return struct.pack("<Q", len(header)) + header + weights, what


def edit_weights(data, draw):
    """One number, or all of one tensor, that no training gives."""
    header, weights = split_weights(data)
    tensors = {name: t for name, t in json.loads(header).items() if name != "__metadata__" and t["dtype"] == "F32"}
    name = draw.choice(sorted(tensors))
    begin, end = tensors[name]["data_offsets"]
    value, weights = draw.choice(FLOATS), bytearray(weights)
    at = range(begin, end, 4) if draw.random() < 0.5 else [begin + 4 * draw.randrange((end - begin) // 4)]
    for i in at:
        weights[i : i + 4] = struct.pack("<f", value)
    return data[: 8 + len(header)] + bytes(weights), f"{name}: {len(at)} times {value}"


def flip_bits(data, draw):
    data, count = bytearray(data), draw.choice([1, 1, 2, 8, 64])
    end = draw.choice([16, 200, len(data), len(data)])
    for _ in range(count):
        data[draw.randrange(min(end, len(data)))] ^= 1 << draw.randrange(8)
    return bytes(data), f"{count} bits below {end}"


def cut(data, draw):
    size = draw.choice([0, 1, 7, 8, 9, len(data) - 1, draw.randrange(len(data)), draw.randrange(len(data))])
    return data[:size], f"cut to {size}"


def zero(data, draw):
    at, size = draw.randrange(len(data)), draw.choice([1, 8, 64, 4096])
    return data[:at] + bytes(len(data[at : at + size])) + data[at + size :], f"zeros at {at}"


def insert(data, draw):
    at = draw.choice([0, len(data), draw.randrange(len(data))])
    other = draw.choice([draw.randbytes(draw.randrange(1, 40)), data[at : at + 50], b"\n" * 10, data])
    return data[:at] + other + data[at:], f"{len(other)} bytes at {at}"


def mutate(folder, others, draw):
    """Changes one file of the folder; says what was done."""
    files = [name for name in MODEL_FILES if (folder / name).exists()]
    name = draw.choice(["config.json", "model.safetensors", *files])
    path = folder / name
    data = path.read_bytes()
    kind = draw.random()
    if kind < 0.06:  # a file of another model, or another file of this one
        other = draw.choice([draw.choice(others) / name, folder / draw.choice(files)])
        if other.exists():
            shutil.copy(other, path.with_suffix(".new"))
            path.with_suffix(".new").replace(path)
        return f"{name} is {other}"
    if kind < 0.1:
        path.unlink()
        make = draw.choice(["nothing", "a folder", "a FIFO", "a link to itself", "empty"])
        {"nothing": str, "a folder": os.mkdir, "a FIFO": os.mkfifo, "a link to itself": lambda p: os.symlink(p, p),
         "empty": pathlib.Path.touch}[make](path)
        return f"{name} is {make}"
    if kind < 0.6 and name.endswith(".json"):
        edit = edit_json
    elif kind < 0.6 and name == "model.safetensors":
        edit = draw.choice([edit_header, edit_header, edit_weights])
    else:
        edit = draw.choice([flip_bits, flip_bits, cut, zero, insert])
    data, what = edit(data, draw)
    path.write_bytes(data)
    return f"{name}, {edit.__name__}: {what}"


def make_models():
    """Three small folders, and what to ask them."""
    expect.write_texts("texts.csv", 60)
    rows = [line.split(",") for line in pathlib.Path("texts.csv").read_text().splitlines()[1:]]
    pairs = [f"{a},{b},{int(x == y)}" for (a, x), (b, y) in zip(rows, rows[7:])]
    pathlib.Path("pairs.csv").write_text("\n".join(["one,two,same", *pairs]) + "\n")
    make = "data make listops --rows 60 --min-tokens 5 --max-tokens 30 --out lists.tsv"
    assert expect.run(make.split()).code == 0
    small = "--width 8 --heads 2 --blocks 1 --hidden 8 --steps 3 --evaluations 1 --threads 1"
    wide = "--wide 2 --wide-bits 6 --regions 2 --region-units 64 --region-rows 20 --ngrams 2 --ngram-buckets 64"
    columns = " --text-column one --second-column two --label-column same"
    for out, data, own in (
        ("text", "texts.csv", f"--tokenizer words --vocab 200 {wide}"),
        ("match", "pairs.csv" + columns, "--task matching --tokenizer bpe --vocab 300"),
        ("tree", "lists.tsv", "--task listops --row linear-kernel"),
    ):
        end = expect.run(f"train --data {data} --out {out} {own} {small}".split())
        assert end.code == 0, end.err.decode()
        for name in os.listdir(out):
            if name not in MODEL_FILES:
                (shutil.rmtree if os.path.isdir(f"{out}/{name}") else os.remove)(f"{out}/{name}")
        yield pathlib.Path(out), data


def ask(folder, data):
    """What the four verbs say to a folder; the first fault, or ""."""
    limit = 60 if expect.is_sanitized() else 20
    train = f"train --data {data} --init {folder} --out {folder}/out --steps 1 --evaluations 1 --threads 1"
    ask_it = f"{folder} {data} --threads 1"
    for command in (f"info {folder} --tensors", "predict " + ask_it, "eval " + ask_it, train):
        end = expect.run(command.split(), limit=limit, memory=2 << 30)
        fault = end.fault(progress=True)
        if not fault and end.code == 0 and re.search(rb"\b(nan|inf)\b", end.out):
            fault = f"answers {end.out[:80]}"
        if not fault and b"std::" in end.err:
            fault = end.sentences()[0]
        if fault:
            return f"{command.split()[0]}: {fault}"
    return ""


def main():
    options = expect.arguments(__doc__, count=300, only=-1)
    trials = expect.Trials(options.jobs)
    home = tempfile.mkdtemp()
    os.chdir(home)
    models = list(make_models())
    for folder, data in models:
        assert not (fault := ask(folder, data)), f"unharmed {folder}: {fault}"
        shutil.rmtree(folder / "out")

    def trial(i):
        def one():
            draw = random.Random(f"{options.seed}/{i}")
            start, data = draw.choice(models)
            folder = pathlib.Path(f"m{i}")
            shutil.copytree(start, folder)
            what = mutate(folder, [f for f, _ in models], draw)
            fault = ask(folder, data)
            if options.only < 0:
                shutil.rmtree(folder)
            else:
                print(f"{home}/{folder}: {start}, {what}")
            return fault and f"{start}, {what}: {fault}"

        return str(i), one

    numbers = range(options.count) if options.only < 0 else [options.only]
    trials.run("mutations", (trial(i) for i in numbers))
    if options.only < 0:
        shutil.rmtree(home)
    trials.exit()


main()
