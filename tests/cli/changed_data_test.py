#!/usr/bin/env python3
"""changed_data_test.py -- a run whose data changed while it was stopped does not go on with it; data that is read at the end is looked at before."""

import json
import os
import pathlib
import sys
import tempfile
import time

import expect

SMALL = ["--width", "8", "--heads", "2", "--hidden", "8", "--blocks", "1", "--threads", "1"]
SMALL += ["--wide", "0", "--regions", "0"]
SHORT = ["--steps", "4", "--evaluations", "2"]
ENDLESS = ["--steps", "100000000"]
failures = []


def fail(what):
    failures.append(what)
    print(f"FAILED: {what}")


def train(out, *args, limit=60):
    return expect.run(["train", "--tokenizer", "bytes", *SMALL, "--out", out, *args], limit=limit)


def goes(what, run):
    if run.code != 0:
        fail(f"{what}: {run.code}: {run.err.decode()}")


def refuses(what, run, *words):
    """Code 2 and one sentence with these words."""
    fault = run.fault(codes=(2,), progress=True)
    if fault or not all(word in run.sentences()[0] for word in words):
        fail(f"{what}: {fault or run.err.decode()}")


def lines(path):
    return pathlib.Path(path).read_bytes().splitlines(keepends=True)


def write(path, parts):
    pathlib.Path(path).write_bytes(b"".join(parts))


def swapped(rows):
    """Labels of the first two classes change places: as many records and bytes as before."""
    return [rows[0]] + [r.replace(b",pos", b",new").replace(b",neg", b",pos").replace(b",new", b",neg") for r in rows[1:]]


def reversed_rows(rows):
    return [rows[0]] + rows[:0:-1]


def other_word(rows):
    middle = len(rows) // 2
    return rows[:middle] + [rows[middle].replace(b"good", b"food").replace(b"bad", b"mad")] + rows[middle + 1 :]


def after_a_change(name, path, change, args, words=("the data has changed",)):
    """A run goes on, then its data is changed, then it does not; with the old data it does."""
    original = lines(path)
    goes(name, train(name, *args))
    write(path, change(original))
    refuses(f"{name}, changed", train(name, *args), *words)
    run = json.loads(pathlib.Path(name, "run.json").read_text())
    run.pop("content", None)  # of an earlier version: it cannot be known
    pathlib.Path(name, "run.json").write_text(json.dumps(run))
    if not words[0].startswith("texts"):
        goes(f"{name}, of an earlier version", train(name, *args))
    write(path, original)
    goes(f"{name}, as it was", train(name, *args))


def changed_data():
    expect.write_texts("train.csv", 80, seed=1)
    expect.write_texts("validation.csv", 30, seed=2)
    split = ["--data", "train.csv", *SHORT]
    own = [*split, "--validation", "validation.csv"]
    for change in (swapped, reversed_rows, other_word):
        after_a_change(f"split_{change.__name__}", "train.csv", change, split)
        after_a_change(f"train_{change.__name__}", "train.csv", change, own)
        after_a_change(f"validation_{change.__name__}", "validation.csv", change, own)
    # The test part is no part of the run.
    expect.write_texts("test.csv", 20, seed=3)
    goes("test", train("test", *own, "--test", "test.csv"))
    write("test.csv", reversed_rows(lines("test.csv")))
    goes("test, changed", train("test", *own, "--test", "test.csv"))
    # Plain text in blocks, train and validation; two lines change places.
    write("text.txt", [b"the line number %d of a text\n" % i for i in range(3000)])
    text = ["--data", "text.txt", "--length", "64", *SHORT]
    after_a_change("blocks", "text.txt", lambda rows: rows[:-9] + [rows[-8], rows[-9]] + rows[-7:], text)
    # Texts without labels, and a search.
    write("more.txt", [b"more number %d\n" % i for i in range(100)])
    both = [*split, "--pretrain", "masked", "--unlabelled", "more.txt"]
    after_a_change("pretrained", "more.txt", lambda rows: rows[::-1], both, ("texts without labels have changed",))
    after_a_change("pretrained_labels", "train.csv", swapped, both)
    goes("search", train("search", *split, "--autotune", "0.003"))
    write("train.csv", swapped(lines("train.csv")))
    pathlib.Path("search", "run.json").unlink()
    refuses("search, changed", train("search", *split, "--autotune", "0.003"), "autotune.jsonl", "other settings, data")


def late_faults():
    """What a run reads at its end: a fault in it is told at once, and nothing is left behind."""
    expect.write_texts("train.csv", 80, seed=1)
    pathlib.Path("empty.csv").write_text("")
    pathlib.Path("header.csv").write_text("review,stars\n")
    pathlib.Path("unlabelled.csv").write_text("review,stars\nalpha,pos\nbeta,\n")
    pathlib.Path("odd.csv").write_text("review,stars\nalpha,pos\nbeta,odd\n")
    pathlib.Path("columns.csv").write_text("first,second\n1,2\n3,4\n")
    faults = {"missing.csv": "missing.csv", "empty.csv": "empty.csv", "header.csv": "header.csv"}
    faults |= {"unlabelled.csv": "unlabelled.csv:3", "odd.csv": '"odd"', "columns.csv": "columns.csv"}
    base = ["--data", "train.csv", "--text-column", "1", "--label-column", "2", *ENDLESS]
    started = time.monotonic()
    for flag in ("--test", "--validation"):
        for name, word in faults.items():
            refuses(f"{flag} {name}", train("late", *base, flag, name, limit=20), word)
            if os.path.exists("late"):
                fail(f"{flag} {name} leaves {os.listdir('late')}")
    made = expect.run(["data", "make", "listops", "--split", "--rows", "300", "--min-tokens", "5", "--max-tokens", "30", "--out", "lists"])
    goes("lists", made)
    test = pathlib.Path("lists/basic_test.tsv")
    arena = ["arena", "--task", "listops", "--row", "linear-kernel", "--seeds", "1", "--data", "listops=lists"]
    arena += [*ENDLESS, "--width", "8", "--heads", "2", "--hidden", "8", "--blocks", "1", "--threads", "1"]
    whole = test.read_text()
    for name, content in {
        "unknown value": whole + whole.splitlines()[1].split("\t")[0] + "\t77\n",
        "wrong tree": whole + "( [MAGIC 1 2 ] )\t3\n",
        "empty": "",
    }.items():
        test.write_text(content)
        refuses(f"arena, {name}", expect.run([*arena, "--dir", "arena"], limit=20), "basic_test.tsv")
        if list(pathlib.Path("arena").glob("runs/*")):
            fail(f"arena, {name}: a run was begun")
    if time.monotonic() - started > 60:
        fail("faults at the end are not told before the work")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    changed_data()
    late_faults()
print("all passed" if not failures else f"{len(failures)} failed")
sys.exit(len(failures) > 0)
