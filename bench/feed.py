# feed.py -- does reading limit training? Tokens/s with data streamed from a packed CSV against data in memory.
"""Usage: feed.py LINNET DATA.csv.xz [ROUNDS [KIND]]   appends to results/bench_feed.jsonl

Both runs see the same file, the same tokenizer (of that kind; words) and the model that linnet train makes of it. `memory`
holds all examples; `stream` has a window of an eighth of them, so that reading, unpacking and tokenizing go on beside the
training: of the first pass over the data, since later ones come from a cache. The steps are those of about the passes that
linnet train chooses for IMDb. Interleaved; the time is from step 20 on, when the first window is there. The ratio is of
the best round of each, since a neighbour only ever slows down; beside it stand the median of the rounds' own ratios and the
ratio of the medians, and the same of the first 700 steps, which are within IMDb's first pass. That both see the same examples is tested (feed_test.cpp).
"""
import json
import shutil
import statistics
import subprocess
import sys
import tempfile

import origin

STEPS = 3000
FIRST = 20
FIRST_PASS = 700


def rate(linnet, data, tokenizer, window):
    """Tokens/s of one run from step FIRST on: to the end, and to step FIRST_PASS."""
    folder = tempfile.mkdtemp(prefix='linnet_feed_')
    try:
        subprocess.run([linnet, 'train', '--data', data, '--tokenizer', tokenizer, '--wide', '0', '--steps', str(STEPS),
                        '--evaluations', '1', '--validation-rows', '50', '--window', str(window), '--out', folder],
                       check=True, capture_output=True)
        lines = [json.loads(line) for line in open(f'{folder}/metrics.jsonl')]
        steps = {line['step']: line for line in lines if 'loss' in line}
        first = steps[FIRST]
        return [(last['tokens'] - first['tokens']) / (last['seconds'] - first['seconds']) for last in (steps[STEPS], steps[FIRST_PASS])]
    finally:
        shutil.rmtree(folder)


def main():
    linnet, data = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    commit = origin.commit()
    kind = sys.argv[4] if len(sys.argv) > 4 else 'words'
    tokenizer = tempfile.mktemp(suffix='.model')
    more = ['--vocab', '60000', '--lower', '--split-punctuation'] if kind == 'words' else []
    subprocess.run([linnet, 'tokenizer', 'train', '--kind', kind, '--data', data, '--out', tokenizer, *more], check=True, capture_output=True)
    rates = {'memory': [], 'stream': []}
    for _ in range(rounds):
        rates['memory'].append(rate(linnet, data, tokenizer, 64_000_000))
        rates['stream'].append(rate(linnet, data, tokenizer, 700_000))
        print({name: [round(v) for v in values[-1]] for name, values in rates.items()}, flush=True)
    ratios = {}
    for part, name in enumerate(('ratio', 'first_pass_ratio')):
        stream, memory = ([values[part] for values in rates[source]] for source in ('stream', 'memory'))
        ratios[name] = round(max(stream) / max(memory), 4)
        ratios[name + '_of_rounds'] = round(statistics.median(s / m for s, m in zip(stream, memory)), 4)
        ratios[name + '_of_medians'] = round(statistics.median(stream) / statistics.median(memory), 4)
    record = {'bench': 'feed', 'tokenizer': kind, 'steps': STEPS, **{name: [round(v[0]) for v in values] for name, values in rates.items()},
              **ratios, 'commit': commit, 'machine': origin.machine()}
    print(json.dumps(record))
    with open(origin.ROOT / 'results' / 'bench_feed.jsonl', 'a') as out:
        out.write(json.dumps(record) + '\n')


main()
