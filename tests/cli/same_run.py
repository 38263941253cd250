#!/usr/bin/env python3
"""same_run.py A B -- two folders of one run must be equal bit for bit, but for times."""

import json
import os
import struct
import sys

TIMES = ("seconds", "tokens_per_s")


def content(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        data = file.read()
    if name == "metrics.jsonl":
        lines = [json.loads(line) for line in data.splitlines()]
        return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]
    if name == "checkpoint.safetensors":
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        note = json.loads(header["__metadata__"].pop("note"))
        del note["seconds"], note["log_bytes"]
        start = 8 + size
        tensors = {
            name: (value["shape"], data[start + value["data_offsets"][0] : start + value["data_offsets"][1]])
            for name, value in header.items()
            if name != "__metadata__"
        }
        return note, header["__metadata__"], tensors
    return data


def differences(a, b):
    """The names of what differs; the charts are not compared, since every start has a file of its own."""
    names = [sorted(name for name in os.listdir(folder) if name != "tensorboard") for folder in (a, b)]
    faults = [f"{names[0]} and {names[1]}"] if names[0] != names[1] else []
    return faults + [name for name in names[0] if name in names[1] and content(a, name) != content(b, name)]


if __name__ == "__main__":
    faults = differences(*sys.argv[1:])
    print("\n".join(faults), end="")
    sys.exit(len(faults) > 0)
