#!/usr/bin/env python3
"""memory_test.py -- what would not fit into the memory is refused before it is taken, in one sentence; so are pipes and devices
in place of files, and more threads than there are."""

import json
import os
import pathlib
import shutil
import tempfile

import expect
import hostile_model

LARGE_VOCAB = 1 << 24
SMALL = "--task text --heads 1 --blocks 1 --steps 1 --evaluations 1 --threads 1 --tokenizer words --wide 0".split()
TRAIN = ["train", "--data", "texts.csv", *SMALL]


def refused(what, *args, code=2, **more):
    """A trial of a run that ends at once, with the sentence."""

    def one():
        end = expect.run(list(args), limit=20, **more)
        fault = end.fault(codes=(code,), progress=True)
        return fault or ("" if what.encode() in end.err + end.out else f"no \"{what}\": {end.err.decode()}")

    return f"{' '.join(args)} {more}", one


def models():
    yield refused("[config.width] to train takes", *TRAIN, "--out", "a", "--width", "65536")
    yield refused("[config.ngram_buckets] to train takes", *TRAIN, "--out", "b", "--width", "1024", "--ngram-buckets", "16777216")
    yield refused("[config.length] to train takes", *TRAIN, "--out", "c", "--positions", "learned", "--width", "1024",
                  "--length", "16777216")
    yield refused("[config.hidden]", *TRAIN, "--out", "d", "--width", "4096", "--hidden", "1048576")
    yield refused("the budget is 100 MB (--memory)", *TRAIN, "--out", "e", "--width", "4096", "--memory", "100M")
    yield refused("more than 262144 in all", "info", "--width", "65536", "--heads", "4096", "--blocks", "1024", "--phi", "64xglu")
    yield refused("parameters", "info", "--width", "65536", "--blocks", "1024", code=0)
    yield refused("[config.width] to train takes", "quickstart", "--width", "65536", "--dir", "f")
    yield refused("[config.width] to train row linear-kernel takes", "arena", "--task", "listops", "--row", "linear-kernel", "--width", "65536",
                  "--seeds", "1", "--steps", "1", "--data", "listops=lists", "--dir", "g")
    # Before the first row is trained, which would be in vain.
    yield refused("[config.width] to train row large takes", "arena", "--spec", "two.json", "--seeds", "1", "--dir", "g2")
    yield refused("to train kernel takes", "bench", "mixers", "--mixer", "kernel", "--memory", "1M")
    # Unlike the budget, a limit of the system says nothing before it is met.
    if not expect.is_sanitized():
        yield refused("out of memory", *TRAIN, "--out", "h", "--width", "2048", "--memory", "100G", memory=400_000_000)


def folders():
    vocab = "[config.vocab] to answer takes"
    yield refused(vocab, "predict", "large", stdin=b"a text\n")
    yield refused(vocab, "eval", "large", "texts.csv")
    yield refused("[config.vocab] to train takes", *TRAIN[:-4], "--out", "i", "--init", "large")
    yield refused("parameters", "info", "large", code=0)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        for verb in (["predict"], ["eval"], ["info"]):
            if verb == ["info"] and name == "tokenizer.json":
                continue
            folder = f"pipe.{name}"
            yield refused("is not a regular file", *verb, folder, *(["texts.csv"] if verb == ["eval"] else []))
    yield refused("is not a regular file", "arena", "--spec", "/dev/zero")
    yield refused("is not a regular file", "arena", "--spec", "model")
    yield refused("Too many levels", "arena", "--spec", "loop")
    for path in ("/dev/zero", "model"):
        yield refused("is not a regular file", "report", path)
    yield refused("is not a regular file", *TRAIN[:-4], "--out", "j", "--tokenizer", "/dev/zero")


def flags():
    for wrong in ("", "512", "1T", "nan", "-1G", "1e400G"):
        yield refused("--memory", *TRAIN, "--out", "n" + wrong, "--memory", wrong)
    yield refused("must be a size with its unit", *TRAIN, "--out", "k", env={"LINNET_MEMORY": "lots"})
    yield refused("the budget is 100 MB", *TRAIN, "--out", "m", "--width", "4096", env={"LINNET_MEMORY": "100M"})
    yield refused("1 steps", *TRAIN, "--out", "l", "--width", "64", code=0, env={"LINNET_MEMORY": "512M"})
    # Stacks of 8 MiB each, of which few fit.
    limited = [] if expect.is_sanitized() else [["predict", "model"], ["data", "make", "pathfinder", "--rows", "2", "--out", "p"]]
    for verb in limited:
        yield refused("starts no more threads", *verb, "--threads", "1000", memory=2_000_000_000)


def main():
    trials = expect.Trials()
    home = pathlib.Path(tempfile.mkdtemp())
    os.chdir(home)
    expect.write_texts("texts.csv", 40)
    os.symlink("loop", "loop")
    rows = {"small": {"row": "linear-kernel"}, "large": {"row": "linear-kernel", "width": 65536}}
    settings = {"steps": 1000000, "width": 8, "heads": 2, "blocks": 1}
    spec = {"tasks": ["listops"], "data": {"listops": "lists"}, "settings": settings, "rows": rows}
    pathlib.Path("two.json").write_text(json.dumps(spec))
    for args in ([*TRAIN, "--width", "1024", "--out", "model"],
                 "data make listops --split --rows 60 --min-tokens 5 --max-tokens 30 --out lists".split()):
        end = expect.run(args)
        assert end.code == 0, end.err.decode()
    hostile_model.inflate("model", "large", LARGE_VOCAB)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        shutil.copytree("model", f"pipe.{name}")
        os.remove(f"pipe.{name}/{name}")
        os.mkfifo(f"pipe.{name}/{name}")
    for group in (models, folders, flags):
        trials.run(group.__name__, group())
    os.chdir("/")
    shutil.rmtree(home)
    trials.exit()


main()
