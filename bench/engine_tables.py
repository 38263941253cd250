# engine_tables.py -- the tables of results/bench_engine.jsonl, for docs.py.
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]

# figure, what it is, the goal of the engine
ROWS = (
    ('infer_tokens_per_s', 'inference, tokens/s', ''),
    ('infer_peak_fraction', 'inference, fraction of FMA peak', '>= 0.87'),
    ('infer_best_of_best_peak', 'the same, best of best', ''),
    ('infer_vs_pytorch', 'inference, times PyTorch as installed', '>= 2.5'),
    ('infer_vs_pytorch_tuned', 'inference, times PyTorch tuned', '>= 1.35'),
    ('train_tokens_per_s', 'training, tokens/s', ''),
    ('train_peak_fraction', 'training, fraction of FMA peak', '>= 0.80'),
    ('train_best_of_best_peak', 'the same, best of best', ''),
    ('train_vs_pytorch', 'training, times PyTorch as installed', '>= 2.2'),
    ('train_vs_pytorch_tuned', 'training, times PyTorch tuned', '>= 1.25'),
    ('train_rss_vs_pytorch', "training memory, share of PyTorch's", '<= 0.167'),
    ('train_rss_recompute_vs_pytorch', 'the same, recomputing', '<= 0.067'),
    ('kernel_vs_softmax_4096', 'kernel attention, times our own softmax, T=4096', '>= 3.5'),
    ('kernel_vs_softmax_16384', 'the same, T=16384', '>= 9'),
    ('softmax_peak_fraction_4096', 'our softmax, fraction of FMA peak, T=4096', '>= 0.60'),
    ('softmax_peak_fraction_16384', 'the same, T=16384', '>= 0.60'),
    ('token_cost_growth', 'time a token at 1 Mi tokens over 1 Ki', '<= 1.10'),
    ('long_tokens_per_s', 'one sequence of 1 Mi tokens, two threads, tokens/s', ''),
    ('long_memory', 'the same, peak memory, MB', ''),
    ('long_logits_difference', 'the same, largest difference to one thread', '0'),
)
SHORT = ('infer_vs_pytorch', 'infer_vs_pytorch_tuned', 'train_vs_pytorch', 'train_vs_pytorch_tuned',
         'train_rss_vs_pytorch', 'train_rss_recompute_vs_pytorch', 'kernel_vs_softmax_4096',
         'kernel_vs_softmax_16384')


def show(value):
    return f'{value:,.0f}' if value >= 1000 else f'{value:.3g}'


def read():
    """Returns the run's description and its figures."""
    run, *rest = map(json.loads, (ROOT / 'results' / 'bench_engine.jsonl').read_text(encoding='utf-8').splitlines())
    note = f'Measured {run["date"]} at commit {run["commit"]}: {run["machine"]}; `{run["command"]}`.'
    return note, {line['figure']: line['value'] for line in rest}


def full():
    note, figures = read()
    rows = [note, '', '| figure | value | median | goal |', '| --- | --- | --- | --- |']
    for name, text, goal in ROWS:
        if name in figures:
            middle = figures.get(name + '_median')
            rows.append(f'| {text} | {show(figures[name])} | {show(middle) if middle else ""} | {goal} |')
    return '\n'.join(rows)


def short():
    note, figures = read()
    rows = [f'| {text} | {show(figures[name])} |' for name, text, _ in ROWS if name in SHORT and name in figures]
    return '\n'.join([note, '', '| | linnet |', '| --- | --- |', *rows])
