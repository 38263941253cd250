# layers.py -- one table of results/arena_layers.jsonl and the polynomial task: what a layer reaches and costs, for docs.py.
import math
import statistics

import pages
import recipes

# task: name, records of test
TASKS = {'text': ('IMDb', 25000), 'matching': ('citations', 5140), 'listops': ('ListOps', 10000)}
BASE = 'kernel'  # what every row is compared with
# row of recipes.py: layer and place of bench polynomial
POLYNOMIAL = {
    'softmax': ('softmax', 'attention'), 'kernel': ('kernel', 'attention'), 'mean': ('mean', 'neither'),
    **{f'ffn-{name}': (layer, 'behind attention')
       for name, layer in (('relu2', 'relu2'), ('bilinear', 'bilinear'), ('squares', 'squares-linear'))},
    **{f'phi-{name}': (layer, 'phi') for name, layer in (('relu2', 'relu2'), ('bilinear', 'bilinear'), ('squares', 'linear>squares'))},
    'poly-relu2': ('poly-relu2', 'mixer'), 'poly-bilinear': ('poly-bilinear', 'mixer'), 'poly-squares': ('poly-squares-linear', 'mixer')}
# Student's t, 97.5%, by degrees of freedom; beyond, nearly the normal's
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def by_seed(runs):
    return {run['seed']: 100 * run['test']['accuracy'] for run in runs}


def accuracy(runs, base):
    """The mean over seeds; the difference to the runs of `base` with the same seeds, with its 95% interval."""
    if not runs:
        return ''
    found, other = by_seed(runs), by_seed(base)
    differences = [found[seed] - other[seed] for seed in found if seed in other]
    mean = f'{statistics.fmean(found.values()):.1f}'
    if runs == base or len(differences) < 2:
        return mean
    half = STUDENT.get(len(differences) - 1, 1.96) * statistics.stdev(differences) / math.sqrt(len(differences))
    return f'{mean} ({statistics.fmean(differences):+.1f} ± {half:.1f})'


def cost(measured, task, row, parameters):
    """Time a token beside that of BASE, each in its best round, since others were held up; memory; parameters beside those of BASE."""
    rounds = lambda name: [run for run in measured if (run['task'], run['row']) == (task, name)]
    best = lambda runs: max(run['tokens_per_s'] for run in runs)
    found = rounds(row)
    if not found:
        return ''
    return (f'{best(rounds(BASE)) / best(found):.2f}, {statistics.median(run["peak_mb"] for run in found):.0f} MB, '
            f'{100 * parameters[row] / parameters[BASE]:.1f}%')


def table():
    flags = {(task, row): words for task, (_, rows) in recipes.SETS['layers'].items() for row, words in rows.items()}
    records = [run for run in recipes.read(recipes.results('layers'))
               if run['status'] == 'ok' and run['settings']['flags'] == flags.get((run['task'], run['row']))]
    of = lambda task, row: [run for run in records if (run['task'], run['row']) == (task, row)]
    scores = pages.polynomial_scores(pages.read('bench_polynomial')[1])
    bench, measured = pages.read('bench_layers') or ('', [])
    parameters = {task: {run['row']: run['parameters'] for run in records if run['task'] == task} for task in TASKS}
    body = []
    for row in recipes.PLACES:
        by_degree = scores.get(POLYNOMIAL.get(row), {})
        body.append([f'`{row}`', *(accuracy(of(task, row), of(task, BASE)) for task in TASKS),
                     *(pages.percent(by_degree[degree]) if by_degree else '' for degree in (2, 3)),
                     *(cost(measured, task, row, parameters[task]) for task in TASKS)])
    names = [name for name, _ in TASKS.values()]
    seeds = '; '.join(f'{name} {" or ".join(map(str, sorted({len(of(task, row)) for row in recipes.PLACES})))}' for task, (name, _) in TASKS.items())
    moved = ', '.join(f'{196 * math.sqrt(share * (1 - share) / tested):.1f} on {name}' for task, (name, tested) in TASKS.items()
                      for share in [statistics.fmean(by_seed(of(task, BASE)).values()) / 100])
    note = (f'Seeds a row: {seeds}; commits {", ".join(sorted({run["commit"] for run in records}))}. Other test records would move all rows of a task '
            f'together, by up to {moved} (95%). Cost: {bench}')
    return f'{note}\n\n' + pages.table([['layer', *names, 'product of two', 'of three', *(f'{name}: cost' for name in names)], *body])
