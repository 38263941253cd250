#!/usr/bin/env python3
"""synthetic_arena.py -- writes an invented arena for tests of `linnet report`: FILE [SEEDS]. No figure in it was measured."""

import json
import math
import random
import sys

ROWS = ("transformer", "linear-kernel", "1xglu", "2xglu", "3xglu", "orth-linear", "1xoglu", "2xoglu", "3xaoglu")
# mean, spread, classes, parameters, tokens/s and MB of the linear kernel
TASKS = {
    "text": (0.655, 0.004, 2, 3_600_000, 21000, 310),
    "matching": (0.725, 0.006, 2, 1_150_000, 34000, 420),
    "listops": (0.362, 0.005, 10, 1_900_000, 45000, 180),
}
MACHINE = "synthetic: 2 cores of no real machine"


def run(rng, task, row, seed):
    mean, spread, classes, parameters, speed, memory = TASKS[task]
    index = ROWS.index(row)
    softmax = row == "transformer"
    mean += {"text": -0.012, "matching": -0.12, "listops": 0.011}[task] if softmax else 0.0016 * index
    accuracy = round((mean + rng.gauss(0, spread)) * 2000) / 2000
    speed = speed * (0.35 if softmax else 1 - 0.06 * index) * rng.uniform(0.97, 1.03)
    seconds = 180 * rng.uniform(1, 1.02)
    steps = int(speed * seconds / 8000)
    curve = []
    for step in range(steps // 25, steps + 1, steps // 25):
        done = 1 - math.exp(-3.5 * step / steps)
        reached = 1 / classes + (accuracy - 1 / classes) * done + rng.gauss(0, spread * 0.8)
        loss = math.log(classes) * (1 - 0.5 * done * accuracy) + rng.gauss(0, 0.01)
        curve.append({"step": step, "seconds": round(seconds * step / steps, 1), "loss": round(loss - 0.05, 4),
                      "validation_loss": round(loss, 4), "validation_accuracy": round(reached, 4)})
    return {"arena": "table1", "task": task, "row": row, "profile": "synthetic", "seed": seed, "status": "ok",
            "settings": {"lr": 0.001, "width": 128, "row": row, "seed": seed}, "commit": "0000000", "machine": MACHINE,
            "started": f"2000-01-{seed:02}T08:00:00Z", "seconds": round(seconds, 1), "steps": steps,
            "tokens": steps * 8000, "flops": steps * 8000 * parameters * 6.0,
            "parameters": int(parameters * (1 + 0.009 * index)), "peak_mb": round(memory * (1.9 if softmax else 1 + 0.02 * index), 1),
            "tokens_per_s": round(speed), "validation": {"loss": 1.0, "accuracy": round(accuracy + rng.gauss(0, 0.003), 4)},
            "test": {"loss": 1.0, "accuracy": accuracy}, "curve": curve}


def main():
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rng = random.Random(1)
    lines = [{"plan": {"arena": "table1", "tasks": list(TASKS), "rows": list(ROWS), "seeds": seeds,
                       "seconds_per_run": {"text": 180, "listops": {"3xaoglu": 200}}}},
             {"reference": "root operator only", "task": "listops", "accuracy": 0.334},
             {"reference": "fastText bigrams", "task": "text", "accuracy": 0.668}]
    lines += [{"projection": "table1", "task": task, "row": row, "profile": "synthetic", "seconds": 3.6e5, "steps": 20000,
               "step_seconds": 18, "tokens_per_s": 2222} for task in TASKS for row in ROWS]
    lines += [{"mixer": mixer, "mode": mode, "length": 2 ** power, "seconds": 1e-6 * 2 ** (power * growth), "memory_mb": 2 + 2 ** power / 500}
              for power in range(8, 17) for mode in ("infer", "train") for mixer, growth in (("softmax", 1.6), ("kernel", 1.1))]
    for seed in range(1, seeds + 1):
        for task in TASKS:
            for row in ROWS:
                record = run(rng, task, row, seed)
                if (task, row) == ("matching", "3xaoglu") and seed > 2:
                    continue  # still to be run
                if (task, row, seed) == ("listops", "2xoglu", 3):
                    record = {key: record[key] for key in ("arena", "task", "row", "profile", "seed", "settings",
                                                          "commit", "machine", "started", "seconds")}
                    record |= {"status": "failed", "error": "loss is not a number at step 212"}
                lines.append(record)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")


main()
