"""hostile_model.py -- a model folder that is small on disk and claims to be large."""

import json
import pathlib
import shutil
import struct


def inflate(model, folder, vocab):
    """A copy of a model folder whose embeddings have so many rows: most of its weights are a hole in the file."""
    model, folder = pathlib.Path(model), pathlib.Path(folder)
    shutil.copytree(model, folder, ignore=shutil.ignore_patterns("checkpoint*", "metrics*", "run.json", "linnet.lock"))
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"vocab": vocab}))
    with open(folder / "model.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    end = 0
    for name in sorted(name for name in header if name != "__metadata__"):
        tensor = header[name]
        if name == "embed.weight":
            tensor["shape"][0] = vocab
        size = 4
        for dimension in tensor["shape"]:
            size *= dimension
        tensor["data_offsets"] = [end, end + size]
        end += size
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
