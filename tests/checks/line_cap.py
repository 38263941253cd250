#!/usr/bin/env python3
"""line_cap.py -- fails on a source file that is too long or whose first line does not name it: [ROOT]."""

import pathlib
import re
import sys

FOLDERS = ("src", "tests", "bench", "python")
SUFFIXES = {".cpp", ".h", ".py", ".sh", ".js", ".ts", ".css", ".html", ".cmake"}
WARN, CAP = 500, 700


def faults_of(root, file):
    name = file.relative_to(root)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        yield f"{name}:1: not UTF-8: {error}"
        return
    if len(lines) > CAP:
        yield f"{name}:{CAP + 1}: {len(lines)} lines, the cap is {CAP}: split it"
    elif len(lines) > WARN:
        print(f"{name}: warning: {len(lines)} lines, over {WARN} needs a reason")
    if file.suffix not in {".cpp", ".h"}:
        return
    first = lines[0] if lines else ""
    if not re.match(rf"// {re.escape(file.name)} -- \S", first) or not first.isascii():
        yield f"{name}:1: the first line must be, in ASCII: // {file.name} -- one sentence."


def main():
    default = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default).resolve()
    files = [
        file
        for folder in FOLDERS
        for file in sorted((root / folder).rglob("*"))
        if file.is_file() and file.suffix in SUFFIXES
    ]
    faults = [fault for file in files for fault in faults_of(root, file)]
    print("\n".join(faults) or f"{len(files)} files, none over {CAP} lines, all named by their first line")
    return 1 if faults else 0


sys.exit(main())
