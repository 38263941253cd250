# layers.py -- one table of results/arena_layers.jsonl and the polynomial task: what a layer reaches and costs, for docs.py.
import math
import statistics

import pages
import recipes

# task: name, records of test
TASKS = {'text': ('IMDb', 25000), 'matching': ('citations', 5140), 'listops': ('ListOps', 10000)}
# row of recipes.py: layer and place of bench polynomial, whose feed-forward layers stand behind a mean, not behind attention
POLYNOMIAL = {
    'softmax': ('softmax', 'attention'), 'kernel': ('kernel', 'attention'), 'mean': ('mean', 'neither'),
    **{f'phi-{name}': (name, 'phi') for name in ('relu2', 'bilinear')},
    'poly-relu2': ('poly-relu2', 'mixer'), 'poly-bilinear': ('poly-bilinear', 'mixer'), 'poly-squares': ('poly-squares-linear', 'mixer')}


def accuracy(runs, tested):
    """The mean with 95% of what as many other test records would say of it, and the range of several seeds."""
    shares = [run['test']['accuracy'] for run in runs]
    mean = statistics.fmean(shares)
    seeds = f' ({100 * min(shares):.1f} to {100 * max(shares):.1f})' if len(shares) > 1 else ''
    return f'{100 * mean:.1f} ± {196 * math.sqrt(mean * (1 - mean) / tested):.1f}{seeds}'


def cost(runs):
    mean = lambda name: statistics.fmean(run[name] for run in runs)
    return f'{mean("parameters"):,.0f}, {mean("seconds") / 60:.1f} min, {mean("peak_mb"):.0f} MB'


def table():
    records = [run for run in recipes.read(recipes.results('layers')) if run['status'] == 'ok']
    scores = pages.polynomial_scores(pages.read('bench_polynomial')[1])
    names = [name for name, _ in TASKS.values()]
    body = []
    for row in recipes.PLACES:
        runs = {task: [run for run in records if (run['task'], run['row']) == (task, row)] for task in TASKS}
        by_degree = scores.get(POLYNOMIAL.get(row), {})
        body.append([f'`{row}`', *(accuracy(runs[task], TASKS[task][1]) if runs[task] else '' for task in TASKS),
                     *(pages.percent(by_degree[degree]) if by_degree else '' for degree in (2, 3)),
                     *(cost(runs[task]) if runs[task] else '' for task in TASKS)])
    counts = {sum((other['task'], other['row']) == (run['task'], run['row']) for other in records) for run in records}
    seeds = ' to '.join(map(str, sorted({min(counts), max(counts)})))
    note = f'Seeds a row: {seeds}; one thread, {records[0]["machine"]}, commits {", ".join(sorted({run["commit"] for run in records}))}.'
    return f'{note}\n\n' + pages.table([['layer', *names, 'product of two', 'of three', *(f'{name}: cost' for name in names)], *body])
