# arenas.py -- the tables of results/arena_*.jsonl as `linnet report` makes them, for docs.py.
import re
import subprocess

# The row that an arena compares the others with, seed by seed; else softmax attention, where it is.
AGAINST = {'recipes': 'default', 'listops_parts': 'plain', 'text_parts': 'desk'}


def names(root):
    return [path.stem.removeprefix('arena_') for path in sorted((root / 'results').glob('arena_*.jsonl'))]


def report(program, path):
    """The report as a list of (heading, text below it)."""
    row = AGAINST.get(path.stem.removeprefix('arena_'))
    done = subprocess.run([program, 'report', path, '--markdown', '-', *(['--against', row] if row else [])], check=True, capture_output=True, text=True)
    parts = re.split(r'^#+ (.*)\n', done.stdout, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def projection(sections):
    return '\n'.join(body for title, body in sections if title == 'What whole runs would take')


def scores(sections):
    """Every table but those of what is missing and of whole runs."""
    return '\n'.join(f'**{title}**\n\n{body.strip()}\n' for title, body in sections
                     if '|' in body and title not in ('What is missing', 'What whole runs would take'))


def boards(sections):
    """{profile: sections} of an arena with several."""
    found = {}
    for title, body in sections:
        if title.startswith('Arena ') and ', profile ' in title:
            found[title.split(', profile ')[1].replace('\\', '')] = board = []
        if found:
            board.append((title, body))
    return found
