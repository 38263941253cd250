#!/usr/bin/env python3
"""going_on_test.py -- a run goes on from its own state and on its own CPU target, or says in one sentence why not: hostile checkpoints and files of a run's folder."""

import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile

import expect

TINY = ["--data", "train.csv", "--tokenizer", "bytes", "--wide", "0", "--regions", "0", "--width", "8", "--heads", "2"]
TINY += ["--hidden", "8", "--blocks", "1", "--threads", "1", "--batch", "8"]
SHORT = [*TINY, "--steps", "4", "--evaluations", "2"]
HOSTILE = [-1, 1e300, "x"]
failures = []


def fail(what):
    failures.append(what)
    print(f"FAILED: {what}", flush=True)


def train(*args, **more):
    return expect.run(["train", *args], **more)


def check(what, fault):
    if fault:
        fail(f"{what}: {fault}")


def goes(what, run):
    check(what, run.fault(codes=(0,), progress=True))


def refuses(what, run, *words):
    fault = run.fault(codes=(2,), progress=True)
    if not fault and not all(word in run.sentences()[0] for word in words):
        fault = run.sentences()[0]
    check(what, fault)


def fresh(base, folder="m"):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base, folder)
    return pathlib.Path(folder)


def edit(path, change):
    """Changes the JSON of a file."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def edit_note(folder, change):
    """Changes the note of the checkpoint, as text or as JSON."""
    path = folder / "checkpoint.safetensors"
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    note = change(header["__metadata__"]["note"])
    header["__metadata__"]["note"] = note
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


def half_way(name, *args):
    """A run of 8 steps and 4 looks of which the half is done."""
    goes(name, train("--out", name, *args, "--steps", "4", "--evaluations", "2"))
    edit(pathlib.Path(name, "run.json"), lambda run: run["train"].update(steps=8, evaluations=4))
    return [*args, "--steps", "8", "--evaluations", "4", "--out", "m"]


def hostile_notes():
    """run_note_test.cpp has more of them; here each field leads the program on, or to one sentence."""
    whole, streamed = half_way("whole", *TINY), half_way("streamed", *TINY, "--window", "400")
    for base, args in (("whole", whole), ("streamed", streamed)):
        fresh(base)
        goes(f"{base} goes on", train(*args))
        note = {}
        edit_note(fresh(base), lambda text: note.update(json.loads(text)) or text)
        log = os.path.getsize(f"{base}/metrics.jsonl")
        beyond = {
            "tokens": [0, 3], "evaluations": [3, 100], "best_evaluation": [0, 3], "epochs": [note["epochs"] + 9],
            "seconds": [1e12], "log_bytes": [log + 1, 10**9], "epoch": [note["epoch"] + 5], "batch": [0, 999, 10**9],
            "record": [80, 10**9], "examples": [note["examples"] + 1, 10**9], "best": [], "best_loss": [], "wide_figures": [],
        }  # fmt: skip
        if set(beyond) != set(note):
            fail(f"the note has {sorted(note)}")
        for name, values in beyond.items():
            if base == "streamed" and name not in ("epoch", "record", "batch", "examples"):
                continue
            for value in values + (HOSTILE if base == "whole" else [-1]):
                # Figures that a look may have had, and those of parts at the side, which this model has not.
                may_be = name in ("best", "best_loss") and value == 1e300 or name == "wide_figures"
                folder = fresh(base)
                edit_note(folder, lambda text, n=name, v=value: json.dumps({**json.loads(text), n: v}))
                check(f"{base}, {name} = {value!r}", train(*args, limit=20).fault(codes=(0, 2) if may_be else (2,), progress=True))
        for text in ("", "[]", '{"tokens":NaN}', "{}"):
            edit_note(fresh(base), lambda _, t=text: t)
            refuses(f"{base}, note {text[:20]}", train(*args), "checkpoint.safetensors")
    os.truncate(fresh("whole") / "metrics.jsonl", 10)
    refuses("metrics.jsonl of 10 bytes", train(*whole), "log_bytes")


def cpu_target():
    def run(name, target, *args, **more):
        return train(*TINY, "--steps", "200", "--checkpoint-every", "50", "--out", name, *args, env={"LINNET_TARGET": target}, **more)

    def target_of(name):
        return json.loads(pathlib.Path(name, "run.json").read_text())["target"]

    goes("scalar", run("scalar", "scalar"))
    known = target_of("scalar")  # as the library calls it
    stopped = run("parts", "scalar", stop_after=0.15)
    while not pathlib.Path("parts/checkpoint.safetensors").exists():
        stopped = run("parts", "scalar", stop_after=0.3)
    check("stopped", stopped.fault(codes=(0,), progress=True))
    fresh("parts", "changed")
    fresh("parts", "old")
    refuses("another target", run("parts", "sse4"), "[LINNET_TARGET]", "--change-target", known)
    goes("goes on as it began", run("parts", ""))
    check("bits of one target", pathlib.Path("parts/model.safetensors").read_bytes() != pathlib.Path("scalar/model.safetensors").read_bytes())
    goes("--change-target", run("changed", "sse4", "--change-target"))
    check("the new target is the run's", target_of("changed") == known)
    refuses("the old target", run("changed", "scalar"), "[LINNET_TARGET]")
    goes("the new one again", run("changed", ""))
    for target in ("AVX99", "", "\x1b[31m", 5, None, []):
        edit(fresh("parts") / "run.json", lambda r, t=target: r.update(target=t))
        end = train(*TINY, "--steps", "200", "--checkpoint-every", "50", "--out", "m")
        goes("no target", end) if target == "" else refuses(f"target {target!r}", end, "m/run.json")
    edit(fresh("old") / "run.json", lambda r: r.pop("target"))
    goes("of an earlier version", train(*TINY, "--steps", "200", "--checkpoint-every", "50", "--out", "m"))
    # In both phases of a run, and in its search.
    both = [*SHORT, "--pretrain", "masked", "--out", "both"]
    goes("two phases", train(*both, env={"LINNET_TARGET": "scalar"}))
    os.remove("both/run.json")  # stopped between them
    goes("the second phase", train(*both))
    check("target of the second phase", target_of("both") != known)
    search = [*SHORT, "--autotune", "0.003", "--out", "search"]
    goes("search", train(*search, env={"LINNET_TARGET": "scalar"}))
    os.remove("search/run.json")
    goes("after the search", train(*search))
    check("target after the search", target_of("search") != known)
    refuses("another after the search", train(*search, env={"LINNET_TARGET": "sse4"}), "[LINNET_TARGET]")


def broken_files():
    goes("plain", train(*SHORT, "--out", "plain"))
    both = [*SHORT, "--pretrain", "masked", "--out", "m"]
    shutil.rmtree("m", ignore_errors=True)
    goes("two phases", train(*both))
    fresh("m", "phases")
    search = [*SHORT, "--autotune", "0.003", "--out", "m"]
    shutil.rmtree("m")
    goes("search", train(*search))
    fresh("m", "searched")
    broken = ["", "[]", '{"a":', "[" * 100000, '{"\\u001b[31m":1}', '{"task":[],"steps":"x","tokens":{}}']
    for base, file, args in (
        ("plain", "run.json", [*SHORT, "--out", "m"]), ("phases", "run.json", both), ("phases", "start.json", both),
        ("phases", "pretrain/result.json", both), ("searched", "autotune.jsonl", search),
    ):  # fmt: skip
        text = pathlib.Path(base, file).read_text()
        for content in [*(broken if file != "run.json" or base == "plain" else broken[:2]), text[: len(text) // 2]]:
            (fresh(base) / file).write_text(content)
            refuses(f"{file}: {content[:30]!r}", train(*args), f"m/{file}")
        for group in ("model", "data", "train") if file == "run.json" else ():
            edit(fresh(base) / file, lambda r, g=group: r.update({g: 5}))
            refuses(f"{file}: {group} = 5", train(*args), f"m/{file}")
    asked, *looks, chosen = pathlib.Path("searched/autotune.jsonl").read_text().splitlines()
    for line in (
        '{"round":"x"}', '{"round":1}', '{"chosen":99}', '{"chosen":-1}', '{"chosen":0.5}', "[]", asked,
        looks[0].replace('"candidate":0', '"candidate":-1'), looks[0].replace('"round":1', '"round":1.5'), looks[0] + ",",
    ):  # fmt: skip
        (fresh("searched") / "autotune.jsonl").write_text("\n".join([asked, line, *looks[1:]]) + "\n")
        refuses(f"autotune.jsonl: {line[:60]}", train(*search), "m/autotune.jsonl:2")
    (fresh("searched") / "autotune.jsonl").write_text("\n".join([chosen, asked]) + "\n")
    refuses("autotune.jsonl: the choice first", train(*search), "m/autotune.jsonl:1")


def no_model_yet():
    for base, files in (("plain", ()), ("phases", ("run.json",)), ("searched", ("run.json",))):
        folder = fresh(base)
        for name in ("config.json", "model.safetensors", *files):
            (folder / name).unlink()
        for args in (["predict", "m"], ["eval", "m", "train.csv"], ["info", "m"], ["train", *SHORT[2:], "--data", "train.csv", "--init", "m", "--out", "n"]):
            args = [a for i, a in enumerate(args) if args[0] != "train" or (a != "--tokenizer" and args[i - 1] != "--tokenizer")]
            refuses(f"{args[0]} of {base} without a model", expect.run(args), "[m] has no model yet")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    expect.write_texts("train.csv", 80)
    hostile_notes()
    cpu_target()
    broken_files()
    no_model_yet()
print("all passed" if not failures else f"{len(failures)} failed")
sys.exit(len(failures) > 0)
