# recipes.py -- named recipes and what each of their parts is worth; the layers of the papers in one and the same model.
"""Usage: recipes.py LINNET DATA SET/TASK[/ROW,...] [SEEDS [MINUTES]]   DATA is a folder with imdb, peerread_citations, listops,
listops_short.tsv and listops_medium.tsv (docs/recipes.md has the commands that make the last three)

Trains every row of the task with the seeds 1 to SEEDS (3; or FROM:TO), seed after seed, one record a run in
results/arena_SET.jsonl, in the form of an arena; what is recorded is not run again. No run is begun after MINUTES. The first row
of a task of `recipes` is the recipe, the others change one part of it. A row in FIRST begins with the weights of runs on other
data; seconds, steps and tokens are of all. `linnet report results/arena_SET.jsonl --against ROW` has the statistics; settings
are chosen on validation, test is tried once a run.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import origin

LISTS = '--threads 1 --window 8000000 --validation-rows 2000 --evaluations 8'
SHORT = '--length 2000 --batch 64'
# set/task/row: [(data, flags)] of the runs before, each from the weights of the one before it
FIRST = {'recipes/listops/short-first': [('listops_short.tsv', f'{LISTS} --blocks 3 {SHORT} --minutes 3')],
         'recipes/listops/three-lengths': [('listops_short.tsv', f'{LISTS} --blocks 3 {SHORT} --steps 17500'),
                                           ('listops_medium.tsv', f'{LISTS} --lr 0.004 --batch 64 --steps 3000')],
         'recipes/listops/three-lengths-long': [('listops_short.tsv', f'{LISTS} --blocks 4 {SHORT} --steps 17500'),
                                                ('listops_medium.tsv', f'{LISTS} --lr 0.004 --batch 64 --steps 10000')]}


def changed(base, rows):
    """The flags of each row on top of those of all."""
    return {row: f'{base} {flags}'.strip() for row, flags in rows.items()}


# task: (data, {row: flags})
RECIPES = {
    'text': ('imdb', changed('--threads 1', {
        'default': '', 'wide-out': '--wide 0 --regions 3',
        # Changes of the deep part, without the region part.
        **changed('--regions 0', {
            'no-regions': '', 'no-ngrams': '--ngrams 0', 'bag': '--bag true', 'conv': '--conv 4', 'all-tokens': '--drop-tokens 0', 'kernel': '--mixer kernel',
            'averaged': '--ema 0.999'}),
        # The deep part alone.
        'no-wide': '--wide 0', 'max': '--wide 0 --pool max',
        # The same passes with labels, after as many without.
        'pretrained': '--wide 0 --pretrain masked --sampled 512 --epochs 8.9'})),
    'bytes': ('imdb', changed('--threads 1 --tokenizer bytes --length 4000', {'default': '', 'bag-conv': '--bag true --conv 4', 'no-wide': '--wide 0'})),
    # Whole runs may end by the clock, short ones do not.
    'matching': ('peerread_citations', changed('--threads 1', {
        'default': '', 'same-length': '--wide-length 0', **changed('--wide 0', {'deep': '', 'compare': '--pair compare', 'compare-max': '--pair compare --pool max'}),
        **changed('--length 512 --epochs 0.5', {
            'short': '', **changed('--wide 0', {
                'short-deep': '', 'short-max': '--pool max', 'short-compare': '--pair compare', 'short-compare-max': '--pair compare --pool max'})})})),
    'listops': ('listops', {
        'three-lengths': f'{LISTS} --lr 0.004 --steps 5500', 'three-lengths-long': f'{LISTS} --lr 0.004 --steps 20000', 'short-first': f'{LISTS} --lr 0.004 --minutes 7', 'default': LISTS}),
}

# The layers of the papers: attention, and the polynomial ones in each of their three places. Only the layer differs.
PLACES = {
    'softmax': '--mixer softmax', 'kernel': '--mixer kernel', 'mean': '--mixer mean',
    **{f'ffn-{name}': f'--mixer kernel --ffn {ffn} --ffn-match params'
       for name, ffn in (('relu2', 'relu2'), ('bilinear', 'bilinear'), ('squares', 'squares-linear'))},
    **{f'phi-{name}': f'--mixer kernel --phi {phi}'
       for name, phi in (('relu2', 'relu2'), ('bilinear', 'bilinear'), ('squares', 'linear>squares'))},
    'poly-relu2': '--mixer poly-relu2', 'poly-bilinear': '--mixer poly-bilinear', 'poly-squares': '--mixer poly-squares-linear',
}
BARE = '--threads 1 --bag false --conv 0'  # words, one block and nothing beside it
# All but the embeddings at a tenth of the rate: at the usual one some rows stay at chance.
PAIRS = f'{BARE} --wide 0 --pair compare --length 512 --epochs 0.5 --lr 0.0003 --embed-rate 10'
TABLE1 = ('linear-kernel', '1xglu', '2xglu', '3xglu', 'orth-linear', '1xoglu', '2xoglu', '3xaoglu', 'transformer')

# A table a profile: one for all tasks of `layers`, whose rows are the same; else one a task.
PROFILE = {'layers/text': 'bare', 'layers/matching': 'bare', 'layers/listops': 'bare', 'recipes/bytes': 'imdb-bytes', 'pairs/citations': 'words'}
SETS = {
    'recipes': RECIPES,
    'layers': {
        'text': ('imdb', changed(f'{BARE} --wide 0 --ngrams 0 --epochs 2', PLACES)),
        'matching': ('peerread_citations', changed(PAIRS, PLACES)),
        'listops': ('listops', changed(f'{LISTS} --first-mixer gated-scan --blocks 3 --steps 1000', PLACES)),
    },
    # The rows of Table 1 in the same model.
    'pairs': {'citations': ('peerread_citations', changed(PAIRS, {row: f'--row {row}' for row in TABLE1}))},
}


def results(which):
    return origin.ROOT / 'results' / f'arena_{which}.jsonl'


def read(path):
    return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()] if path.exists() else []


def curve(folder):
    points, losses = [], []
    for line in map(json.loads, (folder / 'metrics.jsonl').read_text(encoding='utf-8').splitlines()):
        if 'loss' in line:
            losses.append(line['loss'])
        elif 'validation_loss' in line:
            points.append({'step': line['step'], 'seconds': line['seconds'], 'loss': sum(losses) / max(len(losses), 1),
                           'validation_loss': line['validation_loss'], 'validation_accuracy': line['validation_accuracy']})
            losses = []
    return points


def train(linnet, data, flags, seed, folder):
    done = subprocess.run([linnet, 'train', '--data', data, *flags, '--seed', str(seed), '--out', folder, '--json'],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def run(linnet, data, flags, seed, first):
    """What a run measured; `started` and `commit` say when and of what. `first`: [(data, flags)] of the runs before."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='linnet_recipe_'))
    commit, started = origin.commit(), time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
    try:
        results = []
        for number, (source, words) in enumerate([*first, (data, flags)]):
            start = ['--init', folder / str(number - 1)] if number else []
            result = train(linnet, source, words.split() + start, seed, folder / str(number))
            results += [result['pretraining'], result] if 'pretraining' in result else [result]
        for name in ('seconds', 'steps', 'tokens'):
            result[name] = sum(other[name] for other in results)
        result['tokens_per_s'] = result['tokens'] / result['seconds']
        points = curve(folder / str(len(first)))
    finally:
        shutil.rmtree(folder)
    figures = {name: result[name] for name in ('seconds', 'steps', 'tokens', 'parameters', 'tokens_per_s', 'validation', 'test')}
    return {'status': 'ok', **figures, 'peak_mb': result['memory_mb'], 'machine': origin.machine(), 'commit': commit, 'started': started, 'curve': points}


def main():
    linnet, folder, wanted = sys.argv[1:4]
    seeds = [int(n) for n in (sys.argv[4] if len(sys.argv) > 4 else '3').split(':')]
    end = time.time() + 60 * float(sys.argv[5]) if len(sys.argv) > 5 else float('inf')
    which, task, *only = wanted.split('/')
    only = only[0].split(',') if only else []
    data, rows = SETS[which][task]
    if set(only) - set(rows):
        sys.exit(f'recipes.py: {task} has no row {", ".join(set(only) - set(rows))}; there are: {", ".join(rows)}')
    done = [(r['task'], r['row'], r['seed'], r['settings']) for r in read(results(which))]
    for seed in range(seeds[0] if len(seeds) > 1 else 1, seeds[-1] + 1):
        for row, flags in rows.items():
            first = FIRST.get(f'{which}/{task}/{row}', [])
            settings = {'flags': flags, **({'first': '; '.join(' '.join(run) for run in first)} if first else {})}
            if (only and row not in only) or (task, row, seed, settings) in done or time.time() > end:
                continue
            record = {'arena': which, 'task': task, 'row': row, 'profile': PROFILE.get(f'{which}/{task}', data), 'seed': seed, 'settings': settings,
                      **run(linnet, f'{folder}/{data}', flags, seed, [(f'{folder}/{name}', words) for name, words in first])}
            print(task, row, seed, record['test'], f'{record["seconds"]:.0f} s', flush=True)
            with open(results(which), 'a', encoding='utf-8') as out:
                out.write(json.dumps(record) + '\n')


if __name__ == '__main__':
    main()
