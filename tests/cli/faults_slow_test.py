#!/usr/bin/env python3
"""faults_slow_test.py -- linnet is killed at every file operation, and disks fail at random ones; no result may show it.

    LINNET_BIN=build/release/linnet LINNET_FAULTS=build/release/tests/libfaults.so tests/cli/faults_slow_test.py --seed 1

LINNET_FAULTS is the library of tests/faults, which is preloaded."""

import collections
import json
import os
import pathlib
import random
import shutil
import tempfile

import expect
from same_run import differences

LIBRARY = os.path.abspath(os.environ["LINNET_FAULTS"])
ERRORS = ["ENOSPC", "EIO", "EINTR", "EMFILE", "short"]
WRITES = "write,sync,rename,open,truncate,mkdir,remove"
ALL = WRITES + ",read"
TIMES = ("seconds", "tokens_per_s", "started", "peak_mb")

Operation = collections.namedtuple("Operation", "number kind path fault")


class Case:
    """A command, run in a folder of its own that begins as a copy of another."""

    def __init__(self, name, command, start, same):
        self.name, self.command, self.start, self.same = name, command, start, same
        self.reference = self.fresh()
        self.run(self.reference, codes=(0,))

    def fresh(self):
        folder = tempfile.mkdtemp(prefix=self.name + "-", dir=".")
        shutil.copytree(self.start, folder, dirs_exist_ok=True)
        return os.path.abspath(folder)

    def run(self, folder, codes, **plan):
        """The code and the fault of the end; what the library did is in read_log(folder)."""
        env = {f"LINNET_FAULTS_{name.upper()}": str(value) for name, value in plan.items()}
        if plan:
            log(folder).unlink(missing_ok=True)
            env |= {"LD_PRELOAD": LIBRARY, "LINNET_FAULTS_BELOW": folder, "LINNET_FAULTS_LOG": str(log(folder))}
        end = expect.run(self.command, cwd=folder, env=env)
        return end.code, end.fault(codes, progress=True)

    def torn(self, folder):
        """What is wrong with the outputs in the meantime, or ""."""
        return ""

    def operations(self, on):
        folder = self.fresh()
        self.run(folder, (0,), on=on)
        return read_log(folder)

    def ends_equal(self, folder):
        """The same command without faults ends as the undisturbed one did."""
        _, fault = self.run(folder, codes=(0,))
        fault = fault or ", ".join(self.same(self.reference, folder))
        return f"and then without faults: {fault}" if fault else ""


def log(folder):
    return pathlib.Path(folder + ".log")


def read_log(folder):
    operations = []
    for line in log(folder).read_text().splitlines() if log(folder).exists() else []:
        number, kind, path, *fault = line.split(" ")
        operations.append(Operation(int(number), kind, path, " ".join(fault)))
    return operations


def struck(folder):
    """What was done to the run, for messages."""
    hits = [f"{o.kind} {os.path.relpath(o.path, folder)} ({o.number}): {o.fault}" for o in read_log(folder) if o.fault]
    return "; ".join(hits[:3])


def remove_left(folder):
    """What a run could not remove, since the fault was of just that, is no fault of its."""
    for o in read_log(folder):
        if o.fault and o.kind == "remove" and os.path.basename(o.path).startswith("."):
            pathlib.Path(o.path).unlink(missing_ok=True)


def clean(folder, message):
    shutil.rmtree(folder)
    log(folder).unlink(missing_ok=True)
    return message


def kill_trial(case, number, how):
    def trial():
        folder = case.fresh()
        code, fault = case.run(folder, (0, -9), do=how, at=number, on=WRITES)
        where = struck(folder)
        if code != -9:
            return clean(folder, f"code {code}, not killed: {where} {fault}")
        fault = case.torn(folder) or case.ends_equal(folder)
        return clean(folder, fault and f"{where}: {fault}")

    return trial


def fault_trial(case, plan, killed_at=0):
    """A run whose disk fails: equal files, or one sentence and code 2; then again without faults."""

    def trial():
        folder = case.fresh()
        if killed_at:
            case.run(folder, (0, -9), do="kill-before", at=killed_at, on=WRITES)
        code, fault = case.run(folder, (0, 2), **plan)
        where = struck(folder)
        if not fault and code == 0:
            remove_left(folder)
            fault = ", ".join(case.same(case.reference, folder))
        fault = fault or case.torn(folder) or case.ends_equal(folder)
        return clean(folder, fault and f"{where or 'no fault'}, code {code}: {fault}")

    return trial


def every_kill(case, operations):
    """Before each operation, after the last, and in the middle of each write."""
    for o in operations:
        what = f"{o.number}, {o.kind}"
        yield "before " + what, kill_trial(case, o.number, "kill-before")
        if o.kind == "write":
            yield "within " + what, kill_trial(case, o.number, "kill-short")
    last = operations[-1].number
    yield f"after {last}", kill_trial(case, last, "kill-after")


def different(operations):
    """Of writes in a row to one file the first two and the last: between the others there is only more of the same."""
    for i, o in enumerate(operations):
        row = [a.kind == "write" and a.path == o.path for a in operations[max(0, i - 2) : i] + operations[i + 1 : i + 2]]
        if o.kind != "write" or len(row) < 3 or not all(row):
            yield o


def every_read(case):
    """Each read fails, or gives half of what there is."""
    for o in case.operations("read"):
        for error in ("EIO", "short"):
            yield f"{o.number} {error}", fault_trial(case, {"do": error, "on": "read", "at": o.number})


def random_faults(case, draw, count, resumed):
    """Faults at operations of kinds that are drawn first, since most operations are writes."""
    operations = case.operations(ALL)
    by_kind = collections.defaultdict(list)
    for o in operations:
        by_kind[o.kind].append(o.number)
    for i in range(count):
        error = draw.choice(ERRORS)
        kind = draw.choice(sorted(by_kind) if error != "short" else ["read", "write"])
        plan = {"do": error, "on": ALL, "seed": draw.randrange(2**32)}
        if draw.random() < 0.2:
            plan |= {"share": 0.02, "do": ",".join(ERRORS)}
        else:
            number = draw.choice(by_kind.get(kind) or [o.number for o in operations])
            plan["at"] = f"{number}-" if error == "ENOSPC" and draw.random() < 0.5 else number
        killed_at = draw.randrange(1, len(operations)) if resumed and draw.random() < 0.4 else 0
        yield f"{i} {plan} {killed_at or ''}", fault_trial(case, plan, killed_at)


def same_records(a, b):
    """Every record of an arena once, whole, in any order."""

    def records(folder):
        path = pathlib.Path(folder, "a", "results.jsonl")
        for line in path.read_text().splitlines():
            record = json.loads(line)
            curve = [{k: v for k, v in point.items() if k not in TIMES} for point in record.get("curve", [])]
            yield json.dumps({k: v for k, v in record.items() if k not in TIMES} | {"curve": curve}, sort_keys=True)

    expected, got = collections.Counter(records(a)), collections.Counter(records(b))
    show = lambda lines: [line[:120] for line in lines]
    faults = [f"lost {show((expected - got).elements())}"] if expected - got else []
    faults += [f"too much {show((got - expected).elements())}"] if got - expected else []
    return faults + [f"{n} is left" for n in os.listdir(os.path.join(b, "a", "runs"))]


class Output(Case):
    """A command that replaces files: each is the old or the new one at every moment."""

    def __init__(self, name, command, start, outputs):
        self.outputs = outputs
        super().__init__(name, command, start, self.differ)

    def differ(self, a, b):
        return [o for o in self.outputs if pathlib.Path(a, o).read_bytes() != pathlib.Path(b, o).read_bytes()]

    def torn(self, folder):
        for name in self.outputs:
            content = [pathlib.Path(f, name) for f in (folder, self.start, self.reference)]
            content = [path.read_bytes() if path.exists() else None for path in content]
            if content[0] not in content[1:]:
                return f"{name} is neither the old file nor the new one"
        return ""


def outputs():
    """Small commands that write files; the old ones of half of them are there."""
    old = pathlib.Path("start-outputs")
    old.mkdir()
    expect.write_texts(old / "train.csv", 40)
    make = ["data", "make", "listops", "--rows", "60", "--min-tokens", "5", "--max-tokens", "30"]
    shutil.copy("arena-records.jsonl", old / "r.jsonl")
    for name in ("old.tsv", "old.json", "old.html"):
        (old / name).write_text("the old one\n")
    split = [f"lists/basic_{part}.tsv" for part in ("train", "val", "test")]
    yield Output("make", [*make, "--out", "old.tsv"], old, ["old.tsv"])
    yield Output("split", [*make, "--split", "--out", "lists"], old, split)
    learn = ["tokenizer", "train", "--kind", "words", "--data", "train.csv", "--out"]
    yield Output("tokenizer", [*learn, "old.json"], old, ["old.json"])
    pieces = "tokenizer train --vocab 300 --threads 1 --data train.csv --out new.model"
    yield Output("pieces", pieces.split(), old, ["new.model"])
    report = ["report", "r.jsonl", "--out", "old.html", "--csv", "new.csv"]
    yield Output("report", report, old, ["old.html", "new.csv"])
    yield Output("convert", ["data", "convert", "train.csv", "--out", "new.jsonl"], old, ["new.jsonl"])


def training():
    start = pathlib.Path("start-train")
    start.mkdir()
    expect.write_texts(start / "train.csv", 60)
    command = """train --data train.csv --out o --tokenizer words --vocab 100 --wide 2 --wide-bits 6 --regions 2
        --region-units 64 --region-rows 20 --width 8 --heads 2 --blocks 1 --hidden 8 --mixer mean --ngrams 2
        --ngram-buckets 64 --ema 0.9 --dropout 0.1 --threads 1 --tensorboard --steps 6 --checkpoint-every 3
        --evaluations 2"""
    same = lambda a, b: differences(os.path.join(a, "o"), os.path.join(b, "o"))
    return Case("train", command.split(), start, same)


def arena():
    start = pathlib.Path("start-arena")
    start.mkdir()
    make = "data make listops --split --rows 120 --min-tokens 5 --max-tokens 30 --out lists"
    assert expect.run(make.split(), cwd=start).code == 0
    command = """arena --task listops --row transformer,linear-kernel --seeds 2 --steps 4 --evaluations 1 --width 8
        --heads 2 --hidden 8 --blocks 1 --data listops=lists --threads 1 --dir a"""
    return Case("arena", command.split(), start, same_records)


def main():
    options = expect.arguments(__doc__, faults=200)
    draw = random.Random(options.seed)
    trials = expect.Trials(options.jobs)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        train = training()
        trials.run("train, killed", every_kill(train, train.operations(WRITES)))
        trials.run("train, faults", random_faults(train, draw, options.faults, resumed=True))
        trials.run("train, every read", every_read(train))
        contest = arena()
        shutil.copy(os.path.join(contest.reference, "a", "results.jsonl"), "arena-records.jsonl")
        trials.run("arena, killed", every_kill(contest, list(different(contest.operations(WRITES)))))
        trials.run("arena, faults", random_faults(contest, draw, options.faults // 3, resumed=True))
        trials.run("arena, every read", every_read(contest))
        for case in outputs():
            trials.run(f"{case.name}, killed", every_kill(case, case.operations(WRITES)))
            trials.run(f"{case.name}, faults", random_faults(case, draw, options.faults // 10, resumed=False))
        os.chdir("/")
    trials.exit()


main()
