#!/usr/bin/env python3
"""include_arrows.py -- fails on an #include below src that points against the folder table: [ROOT]."""

import pathlib
import re
import sys

# What each folder may include beside itself. Arrows only point up this table.
MAY_INCLUDE = {
    "core": set(),
    "kernels": {"core"},
    "layers": {"core", "kernels"},
    "features": {"core", "kernels", "layers"},
    "mixers": {"core", "kernels", "layers", "features"},
    "models": {"core", "kernels", "layers", "features", "mixers"},
    "data": {"core", "models"},
    "train": {"core", "kernels", "models", "data"},
    "report": {"core"},
    "serve": {"core", "models", "data"},
    "cli": {"core", "kernels", "layers", "features", "mixers", "models", "data", "train", "report", "serve"},
}
# A folder may also include a header that the headers of this one show to everybody.
SEES_THROUGH = {"train": "models"}
# src/linnet.h: the umbrella includes what it likes, and only the command line may include it.
UMBRELLA = "linnet.h"

INCLUDE = re.compile(r'^\s*#\s*(?:include|define\s+HWY_TARGET_INCLUDE)\s+["<]([^">]+)[">]')


def includes(src, file):
    """Yields (line number, path below src) for each include of a file of this project."""
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        for base in (file.parent, src):
            target = (base / match[1]).resolve()
            if target.is_file() and target.is_relative_to(src):
                yield number, target.relative_to(src)
                break
        else:
            # Not a file of ours, unless the path claims to be: then it is missing or leaves src.
            if ".." in match[1] or match[1].split("/")[0] in MAY_INCLUDE:
                yield number, pathlib.PurePath(match[1])


def main():
    default = pathlib.Path(__file__).resolve().parents[2]
    src = (pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default) / "src").resolve()
    files = sorted(f for f in src.rglob("*") if f.suffix in {".h", ".hpp", ".cpp", ".cc", ".inc"})
    shown = {folder: set() for folder in MAY_INCLUDE}
    for file in files:
        folder = file.relative_to(src).parts[0]
        if file.suffix == ".h" and folder in shown:
            shown[folder].update(target for _, target in includes(src, file))

    faults = []
    arrows = 0
    for file in files:
        name = file.relative_to(src)
        source = name.parts[0]
        if str(name) == UMBRELLA:
            continue
        if len(name.parts) == 1 or source not in MAY_INCLUDE:
            faults.append(f"src/{name}:1: no folder of the table (tests/checks/include_arrows.py)")
            continue
        for number, target in includes(src, file):
            arrows += 1
            aim = target.parts[0]
            allowed = (
                aim == source
                or aim in MAY_INCLUDE[source]
                or (str(target) == UMBRELLA and source == "cli")
                or (source in SEES_THROUGH and target in shown[SEES_THROUGH[source]])
            )
            if not allowed:
                may = ", ".join(sorted(MAY_INCLUDE[source])) or "nothing"
                faults.append(
                    f'src/{name}:{number}: arrow {source} -> {aim} ("{target}"); '
                    f"{source} may include: {may}"
                )
    print("\n".join(faults) or f"{arrows} arrows in {len(files)} files, all allowed")
    return 1 if faults else 0


sys.exit(main())
