# layer_cost.py -- what a training step of each layer costs: the rows of `layers` of recipes.py in turn, some steps each.
"""Usage: layer_cost.py LINNET DATA [ROUNDS]   DATA as in recipes.py

Every round trains every row of every task for some steps and ends it there, so that a change of the machine's speed meets all of
them. A figure is the median speed of the steps after the first few; memory is the peak until then, reading of the data included, no
look at validation. Writes results/bench_layers.jsonl: a line about the run, then one a round, task and row.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import origin
import recipes

STEPS, FIRST = 40, 8


def steps(folder):
    """Tokens a second of the steps so far."""
    path = folder / 'metrics.jsonl'
    whole = path.read_text(encoding='utf-8').rpartition('\n')[0].splitlines() if path.exists() else []
    return [line['tokens_per_s'] for line in map(json.loads, whole) if 'loss' in line]


def peak_mb(pid):
    return int(re.search(r'VmHWM:\s*(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text())[1]) * 1024 / 1e6


def measure(linnet, data, flags):
    words = re.sub(r'--evaluations \S+', '', flags).split() + ['--evaluations', '1']
    with tempfile.TemporaryDirectory(prefix='linnet_cost_') as name:
        folder = pathlib.Path(name) / 'model'
        run = subprocess.Popen([linnet, 'train', '--data', data, *words, '--out', folder, '--json'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while len(steps(folder)) < STEPS:
                if run.poll() is not None:
                    sys.exit(f'layer_cost.py: training ended by itself: {data} {flags}')
                time.sleep(0.2)
            return {'tokens_per_s': round(statistics.median(steps(folder)[FIRST:STEPS])), 'peak_mb': round(peak_mb(run.pid), 1)}
        finally:
            run.kill()
            run.wait()


def main():
    linnet, data = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    path = origin.ROOT / 'results' / 'bench_layers.jsonl'
    about = {'bench': 'layers', 'date': time.strftime('%Y-%m-%d', time.gmtime()), 'commit': origin.commit(), 'machine': origin.machine(),
             'command': f'bench/layer_cost.py LINNET DATA {rounds}'}
    with open(path, 'w', encoding='utf-8') as out:
        print(json.dumps(about), file=out)
        for number in range(1, rounds + 1):
            for task, (source, rows) in recipes.SETS['layers'].items():
                for row, flags in rows.items():
                    figures = measure(linnet, f'{data}/{source}', flags)
                    print(json.dumps({'round': number, 'task': task, 'row': row, **figures}), file=out, flush=True)
                    print(number, task, row, figures, flush=True)


if __name__ == '__main__':
    main()
