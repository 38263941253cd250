"""expect.py -- what tests of the program in Python share: runs of it with a time limit, and what every end must look like."""

import argparse
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unicodedata

BIN = os.environ.get("LINNET_BIN", "linnet")
INTERRUPTED = 130  # of a verb that saved its state
# Exit codes other than linnet's own 0, 1 and 2, so that a report of a sanitizer cannot be taken for one.
SANITIZERS = {
    "ASAN_OPTIONS": "exitcode=97:detect_leaks=0:max_allocation_size_mb=4096",
    "UBSAN_OPTIONS": "exitcode=98:print_stacktrace=1",
}
REPORT = re.compile(r"AddressSanitizer|runtime error:|LeakSanitizer|ThreadSanitizer|terminate called|Assertion")


@dataclasses.dataclass
class Run:
    """How a run ended; code is negative for a signal, None for one that did not end in time."""

    args: list
    code: int
    out: bytes
    err: bytes
    stopped: bool = False  # by SIGTERM

    def sentences(self):
        return [line for line in self.err.decode("utf-8", "replace").split("\n") if line.startswith("linnet: ")]

    def fault(self, codes=(0, 1, 2), progress=False):
        """What is wrong with the end, or "": one of the codes, and one printable sentence where it is not 0;
        with progress other lines may stand beside it."""
        text = self.err.decode("utf-8", "replace")
        if self.code is None:
            return "time limit"
        if found := REPORT.search(text):
            start = max(0, found.start() - 100)
            return f"code {self.code}: {text[start : start + 1500]}"
        if self.stopped and self.code in (-signal.SIGTERM, INTERRUPTED):
            return ""
        if self.code < 0:
            return f"{signal.Signals(-self.code).name}: {text[-300:]}"
        if self.code not in codes:
            return f"code {self.code}: {text[-300:]}"
        if hidden := unprintable(self.err):
            return f"stderr has {hidden}: {text[-300:]!a}"
        if self.code != 0 and len(self.sentences()) != 1:
            return f"code {self.code} with {len(self.sentences())} sentences: {text[-300:]}"
        if self.code != 0 and not progress and text.count("\n") != 1:
            return f"code {self.code} with more than a sentence: {text[-300:]}"
        return ""


def unprintable(data):
    """The first byte or character that could steer a terminal or hide text, or ""."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {data[error.start]:#x}"
    for c in text:
        if c not in "\n\r\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"):
            return f"character {ord(c):#x}"
    return ""


def run(args, *, env=None, cwd=None, stdin=b"", stdout=subprocess.PIPE, limit=60, stop_after=0, memory=0):
    """linnet with these arguments, for at most limit seconds; a run that may be long gets a SIGTERM stop_after
    seconds. stdin is bytes or an open file; memory is its address space in bytes."""
    is_file = not isinstance(stdin, bytes)
    process = subprocess.Popen(
        [BIN, *args],
        cwd=cwd,
        env={**os.environ, **SANITIZERS, **(env or {})},
        stdin=stdin if is_file else subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )
    if memory and not is_sanitized():
        resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
    given, stopped = None if is_file else stdin, False
    try:
        if stop_after:
            try:
                out, err = process.communicate(given, timeout=stop_after)
                return Run(list(args), process.returncode, out or b"", err)
            except subprocess.TimeoutExpired:
                given, stopped = None, True
                process.terminate()
        out, err = process.communicate(given, timeout=limit)
        return Run(list(args), process.returncode, out or b"", err, stopped)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Run(list(args), None, out or b"", err, stopped)


@functools.cache
def is_sanitized():
    """Whether the program is of a sanitizer build, which is slower and needs an address space without end."""
    return b"__asan_init" in pathlib.Path(BIN).read_bytes()


class Trials:
    """Trials two at a time, whose faults are counted and printed; a trial is a function that returns a fault or ""."""

    def __init__(self, jobs=2):
        self.jobs, self.done, self.faults, self.start = jobs, 0, [], time.monotonic()

    def run(self, what, trials):
        """Pairs of a name and a function; says how many there were."""
        before = len(self.faults)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = [(name, pool.submit(trial)) for name, trial in trials]
            for name, future in futures:
                self.done += 1
                if fault := future.result():
                    self.faults.append(name)
                    print(f"FAILED: {what}: {name}: {fault}", flush=True)
        seconds = time.monotonic() - self.start
        print(f"{what}: {len(futures)} trials, {len(self.faults) - before} faults ({seconds:.0f} s)", flush=True)

    def exit(self):
        print("all passed" if not self.faults else f"{len(self.faults)} of {self.done} failed")
        sys.exit(len(self.faults) > 0)


def arguments(about, **defaults):
    """--seed, which is printed, --jobs, and numbers of the test's own."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--jobs", type=int, default=2)
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    chosen = parser.parse_args()
    print(f"--seed {chosen.seed}", flush=True)
    return chosen


def write_texts(path, rows, seed=1):
    """A CSV of short texts and two classes that words tell apart."""
    import random

    draw = random.Random(seed)
    words = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta"]
    lines = ["review,stars"]
    for i in range(rows):
        good = draw.random() < 0.5
        text = " ".join(draw.choice(words) for _ in range(draw.randrange(3, 12)))
        lines.append(f"{text} {'good' if good else 'bad'} {i % 50},{'pos' if good else 'neg'}")
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
