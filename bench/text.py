# text.py -- a model beside naive Bayes and fastText on labelled texts: results/bench_text.jsonl, docs/recipes.md.
"""Usage: text.py LINNET NAME DATA [FLAGS...]   FLAGS go to `linnet bench text`; the pages without arguments

For example: bench/text.py build/release/linnet imdb /data/imdb --minutes 4. One line a model; the table shows the last run
of each NAME. The path of DATA is not written down, but its last part.
"""
import datetime
import json
import os
import pathlib
import subprocess
import sys

import origin

RESULTS = origin.ROOT / 'results' / 'bench_text.jsonl'


def run(linnet, name, data, *flags):
    """The lines of one run, each with what is needed to run it again."""
    flags = ['--against', 'nb,fasttext', *flags]
    commit = origin.commit()
    done = subprocess.run([linnet, 'bench', 'text', '--data', data, *flags, '--json'], check=True, stdout=subprocess.PIPE, text=True)
    about = {'name': name, 'command': f'./linnet bench text --data {pathlib.Path(data).name} {" ".join(flags)}', 'commit': commit,
             'date': str(datetime.date.today()), 'time': datetime.datetime.now().isoformat(timespec='seconds'), 'machine': origin.machine()}
    return [{**about, **json.loads(line)} for line in done.stdout.splitlines()]


def table():
    runs = {}
    for record in map(json.loads, RESULTS.read_text(encoding='utf-8').splitlines() if RESULTS.exists() else []):
        of_name = runs.setdefault(record['name'], {})
        if any(other['time'] != record['time'] for other in of_name.values()):  # of an earlier run
            of_name.clear()
        of_name[record['model']] = record
    parts = []
    for name, models in runs.items():
        first = next(iter(models.values()))
        parts += [f'**{name}**: {first["texts"]:,} texts of {first["part"]}, {first["threads"]} threads. Measured {first["date"]} at commit '
                  f'{first["commit"]}: {first["machine"]}; `{first["command"]}`.', '',
                  '| model | accuracy | macro F1 | seconds | with choice | MB | texts/s | settings |', '| --- | --- | --- | --- | --- | --- | --- | --- |']
        parts += [f'| {r["model"]} | {100 * r["accuracy"]:.2f}% | {r["macro_f1"]:.4f} | {r["seconds"]:.0f} | {r["search_seconds"]:.0f} | '
                  f'{r["bytes"] / 1e6:.1f} | {r["texts_per_s"]:,.0f} | {r["settings"]} |' for r in models.values()]
        parts.append('')
    return '\n'.join(parts) or 'No run is recorded yet.\n'


def main():
    if len(sys.argv) > 3:
        records = run(*sys.argv[1:])
        with open(RESULTS, 'a', encoding='utf-8') as out:
            out.writelines(json.dumps(record) + '\n' for record in records)
    docs.main()


if __name__ == '__main__':
    if len(sys.argv) > 1:
        os.environ['LINNET_BIN'] = sys.argv[1]
    import docs
    main()
