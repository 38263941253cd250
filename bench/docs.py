# docs.py -- Writes every figure of README.md and docs/ that comes from results/: the one command for all of them.
"""Usage: bench/docs.py [--check]   (LINNET_BIN: the program that makes the tables of arenas, if not build/release/linnet)

The text between `<!-- NAME -->` and `<!-- /NAME -->` is replaced by the section of that name; pages that are made as a whole
come from pages.py. With --check nothing is written; exit code 1 tells which pages do not show what is in results/.
"""
import functools
import os
import pathlib
import re
import sys

import arenas
import engine_tables
import first_runs
import headline
import layers
import pages
import plots
import text

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get('LINNET_BIN', str(ROOT / 'build' / 'release' / 'linnet'))


def sections():
    """Returns {name: function that makes the lines}."""
    report = functools.cache(lambda name: arenas.report(PROGRAM, ROOT / 'results' / f'arena_{name}.jsonl'))
    return {'engine:full': engine_tables.full, 'engine:short': engine_tables.short, 'first_runs': first_runs.table,
            'bench_text': text.table, 'polynomial': pages.polynomial_table, 'layers': layers.table, 'headline': headline.table,
            'projection': lambda: arenas.projection(report('projection')),
            **{f'arena:{name}': lambda name=name: arenas.scores(report(name)) for name in arenas.names(ROOT)},
            **{f'recipes:{data}': lambda data=data: arenas.scores(arenas.boards(report('recipes')).get(data, []))
               for data in ('imdb', 'imdb-bytes', 'peerread_citations', 'listops')}}


def filled(path, makers):
    """The page with its sections made anew."""
    page = path.read_text(encoding='utf-8')
    opened, closed = (re.findall(rf'^<!-- {mark}([\w:-]+) -->$', page, flags=re.M) for mark in ('', '/'))
    unknown = [name for name in opened if name not in makers]
    if opened != closed or unknown:
        sys.exit(f'docs.py: {path.name}: sections {opened}, ends {closed}, without a maker {unknown}')
    return re.sub(r'^<!-- ([\w:-]+) -->\n.*?^<!-- /\1 -->', lambda match: f'<!-- {match[1]} -->\n{makers[match[1]]().strip()}\n<!-- /{match[1]} -->',
                  page, flags=re.S | re.M)


def main():
    if not os.path.exists(PROGRAM):
        sys.exit(f'{PROGRAM} is not built: run ./linnet quickstart first')
    made = dict(pages.all_pages()) | {ROOT / 'docs' / name: plot for name, plot in plots.all_plots()}
    makers = sections()
    for path in [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]:
        if path not in made:
            made[path] = filled(path, makers)
    stale = [path for path, new in made.items() if not path.exists() or path.read_text(encoding='utf-8') != new]
    for path in stale:
        if '--check' in sys.argv:
            print(f'{path.relative_to(ROOT)} does not show what is in results/; run bench/docs.py')
        else:
            path.write_text(made[path], encoding='utf-8')
    return int('--check' in sys.argv and bool(stale))


if __name__ == '__main__':
    sys.exit(main())
