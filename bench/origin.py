# origin.py -- what a record is of: the commit of the tree and the machine.
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*words):
    return subprocess.run(['git', '-C', ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def commit():
    """Asked before a run: what is committed later was not measured. With + where sources differ from the commit's."""
    try:
        return git('rev-parse', '--short', 'HEAD') + ('+' if git('status', '--porcelain', '--untracked-files=no', '--', ':!results') else '')
    except (OSError, subprocess.CalledProcessError):
        return 'no commit'


def machine():
    names = re.findall(r'model name\s*: (.*)', pathlib.Path('/proc/cpuinfo').read_text())
    return f'{names[0] if names else "unknown CPU"}, {os.cpu_count()} cores'
