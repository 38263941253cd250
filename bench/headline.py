# headline.py -- what the recipes reach, in a few lines: the table of README.md, for docs.py.
import json
import statistics

import recipes
import text

# data, command, (task, row) of arena_recipes.jsonl
ROWS = (('IMDb, 4,000 bytes a text', './linnet train --data imdb --tokenizer bytes --length 4000', ('bytes', 'default')),
        ('citations, two papers', './linnet train --data peerread_citations', ('matching', 'default')),
        ('ListOps of 500 to 2,000 tokens', '[short trees first](docs/recipes.md)', ('listops', 'three-lengths')),
        ('the same, four blocks', '[the same, longer](docs/recipes.md)', ('listops', 'three-lengths-long')))


def of_words():
    """The last run of bench text on IMDb: the mean of linnet's seeds, and each rival."""
    found = [run for run in map(json.loads, text.RESULTS.read_text(encoding='utf-8').splitlines()) if run['name'] == 'imdb']
    last = [run for run in found if run['time'] == found[-1]['time']]
    ours = [run for run in last if run['model'].startswith('linnet, seed')]
    rivals = ', '.join(f'{run["model"].replace(",", "")} {100 * run["accuracy"]:.1f}' for run in last if not run['model'].startswith('linnet'))
    return ours, rivals


def line(data, command, runs, accuracy, threads, rivals=''):
    mean = statistics.fmean(map(accuracy, runs))
    minutes = statistics.fmean(run['seconds'] for run in runs) / 60
    return f'| {data} | {command} | {100 * mean:.1f} | {len(runs)} | {minutes:.1f} | {threads} | {rivals} |'


def table():
    ours, rivals = of_words()
    lines = ['| data | command | test accuracy, % | seeds | minutes | threads | rivals in the same run |', '| --- | --- | --- | --- | --- | --- | --- |',
             line('IMDb', '`./linnet train --data imdb`', ours, lambda run: run['accuracy'], ours[0]['threads'], rivals)]
    for data, command, wanted in ROWS:
        runs = [run for run in recipes.read(recipes.results('recipes')) if (run['task'], run['row']) == wanted]
        shown = f'`{command}`' if command.startswith('.') else command
        if runs:
            lines.append(line(data, shown, runs, lambda run: run['test']['accuracy'], 1))
    return '\n'.join(lines)
