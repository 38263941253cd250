#!/usr/bin/env python3
"""hostile_slow_test.py -- every flag and argument of every verb with values that nobody means.

    LINNET_BIN=build/release/linnet tests/cli/hostile_slow_test.py --share 1 --verb "data make"

The verbs and flags are those of --help. Each run ends in time with exit code 0, 1 or 2, with one printable sentence where it is
not 0, and leaves the files of others as they are."""

import hashlib
import os
import pathlib
import random
import re
import shutil
import stat
import tempfile
import threading
import time

import expect

MEMORY = 4 << 30
# A small run of each verb, so that a flag is not only read but used; @ marks an argument that is a path.
SMALL = "--width 8 --heads 2 --blocks 1 --hidden 8 --steps 2 --evaluations 1 --threads 1"
RUNS = {
    "quickstart": "--dir q --steps 1 --row linear-kernel --threads 1",
    "train": f"--data {{in}}/texts.csv --tokenizer words --out o {SMALL}",
    "eval": "@{in}/m @{in}/texts.csv --threads 1",
    "predict": "@{in}/m @{in}/texts.csv --threads 1",
    "arena": f"--task listops --row linear-kernel --seeds 1 --data listops={{in}}/lists --dir a {SMALL}",
    "info": "@{in}/m",
    "tokenizer train": "--kind words --data {in}/texts.csv --out t.json --threads 1",
    "tokenizer encode": "--model {in}/m",
    "tokenizer decode": "--model {in}/m",
    "data inspect": "@{in}/texts.csv",
    "data make listops": "--rows 20 --min-tokens 5 --max-tokens 30 --out l.tsv",
    "data make pathfinder": "--rows 4 --out p.bin --threads 1",
    "data make polynomial": "--rows 20 --out p.tsv",
    "data convert": "@{in}/texts.csv --out c.csv",
    "data ladder": "@{in}/lists/basic_train.tsv --rows 10 --threads 1",
    "bench mixers": "--longest 256 --limit 0.001 --rounds 1 --mixer kernel",
    "bench polynomial": "--steps 1 --seeds 1 --layer relu2",
    "bench text": f"--data {{in}}/texts.csv --tokenizer words {SMALL}",
    "bench engine": "--seconds 0.05 --rounds 1 --brief",
    "report": "@{in}/r.jsonl",
}
LONG = ("bench engine",)  # stopped by a signal
HUGE = ("1000000000", "99999999999999999999")
ONE_STEP = ("--accumulate", "--accumulate-tokens", "--batch", "--batch-tokens")  # a step is not left half done
NEVER = ("", "nan", "inf", "-inf", "1e400")  # no number that a flag could mean
NUMBERS = [*NEVER, "-1", "0", *HUGE, "0x", "1\x1b[31m", "1 2"]
ODD = "odd\x1b[31m\n.csv"
PATHS = ["../../x", "missing/file", "own", "fifo", "loop", "null", ODD]  # in a Place
TEXTS = ["", "nan", "-1", *PATHS, "\x1b]0;x\x07", "x" * 5000, b"\xff\xfe", "%s%n"]


def flags_of(verb):
    """The flags of a verb and the kind of their values, and the verbs below it."""
    text = expect.run([*verb.split(), "--help"]).out.decode()
    parts = text.split("\nSubcommands:\n")
    verbs = re.findall(r"^  ([a-z]+) ", parts[1].split("\n\n")[0], re.M) if len(parts) > 1 else []
    flags = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)(?: ([A-Z]+|true\|false)\b)?", parts[0], re.M)
    return [(flag, kind) for flag, kind in flags if flag != "--help"], verbs


def all_verbs(verb=""):
    flags, verbs = flags_of(verb)
    if not verbs:
        yield verb, flags
    for below in verbs:
        yield from all_verbs(f"{verb} {below}".strip())


def commands(verb, flags, places):
    """Names and arguments of runs of a verb."""
    base = RUNS.get(verb, "").replace("{in}", places["in"]).split()
    plain = [word.lstrip("@") for word in base]
    head = verb.split()
    yield "a foreign flag", head + ["--\x1b[31m"]
    yield "a foreign word", head + plain + ["\x1b[31m"]
    for flag, kind in flags:
        rest = list(plain)
        if flag in rest:
            del rest[rest.index(flag) : rest.index(flag) + 2]
        if not kind:
            yield flag, head + rest + [flag]
        for value in NUMBERS if kind in ("INT", "UINT", "FLOAT", "NUMBER") else TEXTS if kind else []:
            yield f"{flag} {value!a:.40} {kind}", head + rest + [flag, value]
        if kind:
            yield f"{flag} without a value", head + rest + [flag]
    for i, word in enumerate(base):
        for value in TEXTS if word.startswith("@") else []:
            yield f"argument {i} {value!a:.40}", head + plain[:i] + [value] + plain[i + 1 :]


class Place:
    """A folder to run in: with somebody's files, a FIFO that is fed, a link to itself and a device."""

    NAMES = ("README.md", "metrics.jsonl", "results.jsonl", "tokenizer.json", "a.part")
    OWN = {name: "mine\n" for name in NAMES}

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="."))
        (self.folder / "own").mkdir()
        for name, content in self.OWN.items():
            (self.folder / "own" / name).write_text(content)
        (self.folder / ODD).write_text("a,b\n\x1b[31mx,y\n1,2\n")
        os.symlink("loop", self.folder / "loop")
        os.mkfifo(self.folder / "fifo")
        self.device = self.folder / "null"
        try:  # never the machine's own: root could replace it
            os.mknod(self.device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            os.symlink("/dev/null", self.device)
        self.ended = threading.Event()
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.feeder.start()

    def feed(self):
        """Whoever opens the FIFO gets a few bytes and the end, or is read."""
        while not self.ended.is_set():
            reader = os.open(self.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK) if self.is_fifo() else None
            if reader is None:
                return
            writer = os.open(self.folder / "fifo", os.O_WRONLY | os.O_NONBLOCK)
            os.write(writer, b"text,label\na,b\n")
            os.close(writer)
            time.sleep(0.02)
            try:
                os.read(reader, 1 << 20)
            except BlockingIOError:
                pass
            os.close(reader)

    def is_fifo(self):
        try:
            return stat.S_ISFIFO(os.lstat(self.folder / "fifo").st_mode)
        except FileNotFoundError:
            return False

    def close(self):
        """What was done to the files of others, or ""."""
        harmed = [name for name, content in self.OWN.items() if not self.holds(self.folder / "own" / name, content)]
        harmed += [] if self.is_fifo() else ["fifo"]
        harmed += [] if stat.S_ISCHR(os.stat(self.device).st_mode) else ["null"]
        self.ended.set()
        self.feeder.join()
        shutil.rmtree(self.folder)
        return f"harmed {', '.join(harmed)}" if harmed else ""

    @staticmethod
    def holds(path, content):
        return path.is_file() and path.read_text(errors="replace") == content


def trial(verb, args, refused):
    def one():
        place = Place()
        may_be_long = verb in LONG or any(value in HUGE for value in args)
        end = expect.run(args, cwd=place.folder, stdin=b"a text\n", limit=10, stop_after=3 if may_be_long else 0, memory=MEMORY)
        fault = "" if end.stopped and args[-2] in ONE_STEP else end.fault(progress=True)
        if not fault and b"std::" in end.err:
            fault = end.sentences()[0]
        if not fault and refused and end.code == 0:
            fault = "is taken"
        harmed = place.close()
        return "; ".join(filter(None, [fault, harmed]))

    return one


def full_disk(args, folder):
    """The same verb whose stdout is a full disk."""

    def one():
        with open("/dev/full", "wb") as full:
            written = expect.run(args, cwd=folder, stdin=b"a text\n", limit=60)
            end = expect.run(args, cwd=folder, stdin=b"a text\n", stdout=full, limit=60)
        fault = end.fault(progress=True)
        return fault or ("code 0 without its output" if written.code == 0 and written.out and end.code == 0 else "")

    return one


def digest(folder):
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def make_inputs(folder):
    folder.mkdir()
    expect.write_texts(folder / "texts.csv", 40)
    made = [RUNS["train"].replace("{in}/", "").replace("--out o", "--out m"),
            "make listops --split --rows 60 --min-tokens 5 --max-tokens 30 --out lists",
            RUNS["arena"].replace("{in}/", "")]
    for verb, words in zip(("train", "data", "arena"), made):
        end = expect.run([verb, *words.split()], cwd=folder)
        assert end.code == 0, end.err.decode()
    shutil.copy(folder / "a" / "results.jsonl", folder / "r.jsonl")


def main():
    options = expect.arguments(__doc__, share=0.2, verb="")
    draw = random.Random(options.seed)
    trials = expect.Trials(options.jobs)
    home = pathlib.Path(tempfile.mkdtemp())
    os.chdir(home)
    inputs = home / "inputs"
    make_inputs(inputs)
    before = digest(inputs)
    for verb, flags in all_verbs():
        if not verb.startswith(options.verb):
            continue
        runs = [(name, args) for name, args in commands(verb, flags, {"in": str(inputs)}) if draw.random() < options.share]
        numeric = lambda name: name.split(" ")[-1] in ("INT", "UINT", "FLOAT", "NUMBER")
        trials.run(verb, [(name, trial(verb, args, numeric(name) and args[-1] in NEVER)) for name, args in runs])
        if verb not in LONG:
            words = [word.lstrip("@") for word in RUNS.get(verb, "").replace("{in}", str(inputs)).split()]
            trials.run(verb + " > /dev/full", [("", full_disk(verb.split() + words, home))])
    if digest(inputs) != before:
        trials.faults.append("the inputs have changed")
        print("FAILED: the inputs have changed")
    shutil.rmtree(home)
    trials.exit()


main()
