# layers.py -- one table of results/arena_layers.jsonl and the polynomial task: what a layer reaches and costs, for docs.py.
import statistics

import pages
import recipes

TASKS = {'text': 'IMDb', 'matching': 'citations', 'listops': 'ListOps'}
# row of recipes.py: layer and place of bench polynomial, whose feed-forward layers stand behind a mean, not behind attention
POLYNOMIAL = {
    'softmax': ('softmax', 'attention'), 'kernel': ('kernel', 'attention'), 'mean': ('mean', 'neither'),
    **{f'phi-{name}': (name, 'phi') for name in ('relu2', 'bilinear', 'squares')},
    'poly-relu2': ('poly-relu2', 'mixer'), 'poly-bilinear': ('poly-bilinear', 'mixer'), 'poly-squares': ('poly-squares-linear', 'mixer')}


def cells(runs):
    """Accuracy, and of the same runs parameters, minutes and memory."""
    if not runs:
        return ['', '', '', '']
    mean = lambda name: statistics.fmean(run[name] for run in runs)
    return [pages.percent([run['test']['accuracy'] for run in runs], statistics.fmean), f'{mean("parameters"):,.0f}', f'{mean("seconds") / 60:.1f}',
            f'{mean("peak_mb"):.0f}']


def table():
    records = [run for run in recipes.read(recipes.results('layers')) if run['status'] == 'ok']
    scores = pages.polynomial_scores(pages.read('bench_polynomial')[1])
    head = ['layer', *(f'{name}{what}' for name in TASKS.values() for what in ('', ': parameters', ', minutes', ', MB')), 'product of two', 'of three']
    body = []
    for row in recipes.PLACES:
        line = [f'`{row}`']
        for task in TASKS:
            line += cells([run for run in records if (run['task'], run['row']) == (task, row)])
        by_degree = scores.get(POLYNOMIAL.get(row), {})
        body.append(line + [pages.percent(by_degree[degree]) if by_degree else '' for degree in (2, 3)])
    commits = sorted({run['commit'] for run in records})
    seeds = sorted({sum((run['task'], run['row']) == pair for run in records) for pair in {(run['task'], run['row']) for run in records}})
    note = f'{" to ".join(map(str, sorted({seeds[0], seeds[-1]})))} seeds a row, one thread; {records[0]["machine"]}, commit {", ".join(commits)}.'
    return f'{note}\n\n' + pages.table([head, *body])
