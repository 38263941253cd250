# first_runs.py -- a few hundred steps on each real data set by one command each: results/first_runs.jsonl, docs/training.md.
"""Usage: first_runs.py LINNET DATA [NAME...]   DATA is a folder with imdb, aan_subset, ... ; the pages without LINNET

Not a contest of accuracy: it shows that each layout of data is read and learnt from. Chance is the loss of a model that
knows the shares of the classes alone; of text, that of 256 bytes alike.
"""
import datetime
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import origin

RESULTS = origin.ROOT / 'results' / 'first_runs.jsonl'
# name, data in the folder, chance in nats, flags
RUNS = {
    'imdb': ('imdb', math.log(2), '--length 256 --steps 300'),
    'aan_subset': ('aan_subset', math.log(2), '--length 512 --steps 600'),
    'peerread_citations': ('peerread_citations', math.log(2), '--length 512 --steps 600'),
    'cifar10 grey': ('cifar10', math.log(10), '--mixer kernel-decay --conv 8 --init-embed 0.1 --steps 600'),
    'tiny shakespeare': ('lm/tinyshakespeare.txt.xz', math.log(256), '--lr 0.005 --steps 300'),
}


def run(linnet, folder, name):
    data, chance, flags = RUNS[name]
    commit = origin.commit()
    out = tempfile.mkdtemp(prefix='linnet_first_')
    done = subprocess.run([linnet, 'train', '--data', f'{folder}/{data}', *flags.split(), '--out', out, '--json'],
                          check=True, capture_output=True, text=True)
    shutil.rmtree(out)
    record = json.loads(done.stdout)
    del record['folder']
    return {'name': name, 'command': f'./linnet train --data {data} {flags} --out model', 'chance': chance, **record,
            'commit': commit, 'date': str(datetime.date.today()), 'machine': origin.machine()}


def table():
    rows = ['| data | command | chance | validation loss | validation | test | seconds |', '| --- | --- | --- | --- | --- | --- | --- |']
    last = {record['name']: record for record in map(json.loads, RESULTS.read_text().splitlines())}
    for name in RUNS:
        if name not in last:
            continue
        r = last[name]
        def figure(part):
            if part not in r:
                return ''
            bits = r[part].get('bits_per_byte')
            return f'{bits:.2f} bits a byte' if bits else f'{100 * r[part]["accuracy"]:.1f}%'
        rows.append(f'| {name} | `{r["command"]}` | {r["chance"]:.3f} | {r["validation"]["loss"]:.3f} | {figure("validation")} | '
                    f'{figure("test")} | {r["seconds"]:.0f} ({r["commit"]}) |')
    return '\n'.join(rows)


def main():
    if len(sys.argv) > 2:
        for name in sys.argv[3:] or RUNS:
            record = run(*sys.argv[1:3], name)
            print(json.dumps(record), flush=True)
            with open(RESULTS, 'a') as out:
                out.write(json.dumps(record) + '\n')
    docs.main()


if __name__ == '__main__':
    if len(sys.argv) > 1:
        os.environ['LINNET_BIN'] = sys.argv[1]
    import docs
    main()
