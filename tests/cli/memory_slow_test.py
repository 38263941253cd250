#!/usr/bin/env python3
"""memory_slow_test.py -- the peak memory of small inputs that ask for much of it.

    LINNET_BIN=build/release/linnet tests/cli/memory_slow_test.py --only predict

Prints a table of what each took beside an ordinary run of its verb. None may take 300 MB more than that, nor, with --memory
512M, more than 512 MB; and each ends in time, with one sentence where it fails."""

import io
import multiprocessing
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import threading

import expect
import hostile_model

MORE_MB, BUDGET_MB = 300, 512
LIMIT = 120  # seconds
COMMAS = 60_000_000
SMALL = "--task text --heads 1 --blocks 1 --positions learned --steps 2 --evaluations 1 --threads 2 --tokenizer words".split()
TRAIN = ["train", "--data", "texts.csv", *SMALL]
HUGE_VOCAB = 1 << 24


LARGE = {"hidden": 1 << 20, "ngram-buckets": 1 << 24, "length": 1 << 24, "head-units": 1 << 20}


def measured(args, stdin="/dev/null", limit=LIMIT):
    """A Run, and its peak resident memory in MB."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(stdin, "rb") as given:
        process = subprocess.Popen([expect.BIN, *args], stdin=given, stdout=out, stderr=err)
        timer = threading.Timer(limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        in_time = timer.is_alive()
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        end = expect.Run(list(args), process.returncode if in_time else None, out.read(1 << 20), err.read(1 << 20))
    return end, usage.ru_maxrss * 1024e-6


# Of each verb: an ordinary run, and whether it has --memory.
ORDINARY = {
    "train": ([*TRAIN, "--out", "o"], True),
    "predict": (["predict", "model", "texts.csv"], True),
    "eval": (["eval", "model", "texts.csv"], True),
    "info": (["info", "model"], False),
    "quickstart": (["quickstart", "--steps", "1", "--row", "linear-kernel", "--dir", "q"], True),
    "arena": ("arena --task listops --row linear-kernel --seeds 1 --steps 2 --data listops=lists --width 8 --heads 2".split(), True),
    "bench": ("bench mixers --longest 256 --limit 0.001 --rounds 1 --mixer kernel".split(), True),
    "data": (["data", "inspect", "texts.csv"], False),
    "report": (["report", "arena/results.jsonl"], False),
}


def hostile_cases():
    """What it is, the verb and its arguments, and the file that is standard input."""
    yield "--width 65536", "train", [*TRAIN, "--out", "o.width", "--width", "65536"]
    for flag, value in {**LARGE, "blocks": 1024, "heads": 4096}.items():
        yield f"--{flag} {value} in 65536", "train", [*TRAIN, "--out", f"o.{flag}", f"--{flag}", str(value), "--width", "65536"]
    for flag, value in {"region-rows": 1 << 24, "window": 1 << 40, "batch": 1 << 20}.items():
        yield f"--{flag} {value}, of no weight", "train", [*TRAIN, "--out", f"o.{flag}", f"--{flag}", str(value)]
    yield "--width 65536", "quickstart", ["quickstart", "--width", "65536", "--dir", "q2"]
    yield "--width 65536", "arena", [*ORDINARY["arena"][0][:-4], "--width", "65536", "--dir", "a2"]
    yield "--longest 2^24", "bench", "bench mixers --longest 16777216 --limit 0.001 --rounds 1 --mixer softmax".split()
    yield "64 stages, 4096 heads, 1024 blocks", "info", "info --width 65536 --heads 4096 --blocks 1024 --phi 64xglu".split()
    yield "--width 65536 --blocks 1024", "info", "info --width 65536 --blocks 1024".split()
    yield "--init of a hole of 68 GB", "train", [*TRAIN[:-2], "--out", "o.init", "--init", "large"]
    for verb, more in (("predict", ["texts.csv"]), ("eval", ["texts.csv"]), ("info", [])):
        yield "a hole of 68 GB", verb, [verb, "large", *more]
        for what in ("config.json", "model.safetensors"):
            yield f"a pipe as {what}", verb, [verb, f"pipe.{what}", *more]
            yield f"/dev/zero as {what}", verb, [verb, f"zero.{what}", *more]
    for what in ("pipe", "zero"):
        yield f"{what} as tokenizer.json", "predict", ["predict", f"{what}.tokenizer.json", "texts.csv"]
    yield "--spec /dev/zero", "arena", ["arena", "--spec", "/dev/zero"]
    yield "/dev/zero", "report", ["report", "/dev/zero"]
    yield "a hole of 100 GB", "report", ["report", "hole"]
    yield "--tokenizer /dev/zero", "train", [*TRAIN[:-2], "--tokenizer", "/dev/zero", "--out", "o.zero"]


def large_cases():
    """Settings that a large machine has room for: with a budget alone."""
    for flag, value in {**LARGE, "wide-bits": 26, "vocab": HUGE_VOCAB}.items():
        yield f"--{flag} {value}", "train", [*TRAIN, "--out", f"o.{flag}2", f"--{flag}", str(value)]


def data_cases():
    """Of data files: what reads them caps columns, names and lines."""
    yield "60 MB of commas", "data", ["data", "inspect", "commas.csv"]
    yield "60 MB of commas", "train", ["train", "--data", "commas.csv", *SMALL, "--out", "o.commas"]
    yield "long names in a .tar.gz", "data", ["data", "inspect", "names.tar.gz"]
    yield "long names in a .tar.gz", "train", ["train", "--data", "names.tar.gz", *SMALL, "--out", "o.names"]
    yield "< /dev/zero", "predict", ["predict", "model"], "/dev/zero"


# Models whose need is compared with what they take.
RECKONED = {
    "wide blocks": "--width 512 --heads 4 --blocks 2 --hidden 2048",
    "averages": "--width 512 --heads 4 --blocks 2 --hidden 2048 --ema 0.99",
    "recompute": "--width 64 --heads 4 --blocks 2 --length 4000 --recompute true",
    **{mixer: f"--width 64 --heads 4 --blocks 2 --length 4000 --mixer {mixer}" for mixer in
       ("kernel", "softmax", "kernel-decay", "nystromformer", "reformer", "gated-scan", "mean")},
}
NEAR_MB = 50  # the program itself, and small buffers


def reckoned(what, flags):
    """A trial: what is reckoned for a run is what it takes."""

    def one():
        args = ["train", "--data", "long.csv", *"--task text --tokenizer bytes --wide 0 --ngrams 0 --batch 8 --threads 2".split(),
                *"--steps 2 --evaluations 1 --out o.reckoned".split(), *flags.split()]
        shutil.rmtree("o.reckoned", ignore_errors=True)
        said = re.search(rb"takes ([\d.]+) MB", measured([*args, "--memory", "1M"])[0].err)
        end, peak = measured(args)
        if not said or end.code != 0:
            return f"code {end.code}, nothing is said: {end.err[-300:]}"
        need = float(said[1])
        print(f"{what:<56} reckoned {need:>6.0f} MB, peak {peak:>6.0f} MB", flush=True)
        return "" if -NEAR_MB / 2 < peak - need < NEAR_MB else f"{need:.0f} MB reckoned, {peak:.0f} MB taken"

    return what, one


def write_names(path):
    """20,000 names of 4,000 letters, of empty files."""
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT, compresslevel=1) as archive:
        for i in range(20_000):
            archive.addfile(tarfile.TarInfo(f"{i:08d}/" + "/".join(["n" * 199] * 20) + ".txt"), io.BytesIO())


def make_inputs():
    with open("long.csv", "w") as file:
        file.write("text,label\n")
        for i in range(40):
            file.write(f"{'abc def ' * 1000}{i},{'pn'[i % 2]}\n")
    expect.write_texts("texts.csv", 40)
    # Wide, so that an inflated vocabulary weighs; its own weights are some megabytes.
    for args in ([*TRAIN, "--width", "1024", "--wide", "0", "--out", "model"],
                 "data make listops --split --rows 60 --min-tokens 5 --max-tokens 30 --out lists".split()):
        end = expect.run(args, limit=LIMIT)
        assert end.code == 0, end.err.decode()
    hostile_model.inflate("model", "large", HUGE_VOCAB)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        for kind, make in (("pipe", os.mkfifo), ("zero", lambda path: os.symlink("/dev/zero", path))):
            shutil.copytree("model", f"{kind}.{name}")
            os.remove(f"{kind}.{name}/{name}")
            make(f"{kind}.{name}/{name}")
    with open("hole", "wb") as file:
        file.truncate(100_000_000_000)
    with open("commas.csv", "wb") as file:
        for _ in range(COMMAS // 1_000_000):
            file.write(b"," * 1_000_000)
    # Of a process of its own: what this one takes would count in those that it starts.
    writer = multiprocessing.get_context("spawn").Process(target=write_names, args=("names.tar.gz",))
    writer.start()
    writer.join()


def main():
    options = expect.arguments(__doc__, only="")
    trials = expect.Trials(1)
    home = tempfile.mkdtemp()
    os.chdir(home)
    make_inputs()
    ordinary = {}
    for verb, (args, _) in ORDINARY.items():
        end, ordinary[verb] = measured(args)
        assert end.code == 0, (args, end.err.decode())

    def trial(what, verb, args, most, stdin="/dev/null"):
        def one():
            if "--out" in args:  # not the run before, gone on with
                shutil.rmtree(args[args.index("--out") + 1], ignore_errors=True)
            end, peak = measured(args, stdin)
            fault = end.fault(progress=True) or ("std:: in its message" if b"std::" in end.err else "")
            print(f"{verb:<11} {what:<44} {end.code!s:>5} {peak:>8.0f} {ordinary[verb]:>8.0f} {most:>6.0f}", flush=True)
            return fault or (f"{peak:.0f} MB, at most {most:.0f}" if peak > most else "")

        return f"{verb}: {what}", one

    print(f"{'verb':<11} {'input':<44} {'code':>5} {'peak MB':>8} {'ordinary':>8} {'most':>6}")
    for group in (hostile_cases, large_cases, data_cases):
        runs = []
        for what, verb, args, *stdin in group():
            if options.only not in f"{verb} {what}":
                continue
            if group is not large_cases:
                runs.append(trial(what, verb, args, ordinary[verb] + MORE_MB, *stdin))
            if ORDINARY[verb][1]:
                given = [*args, "--memory", f"{BUDGET_MB}M"]
                runs.append(trial(f"{what} --memory", verb, given, BUDGET_MB, *stdin))
        trials.run(group.__name__, runs)
    trials.run("reckoned", [reckoned(*case) for case in RECKONED.items() if options.only in case[0]])
    os.chdir("/")
    shutil.rmtree(home)
    trials.exit()


if __name__ == "__main__":
    main()
