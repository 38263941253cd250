# pages.py -- docs/mixers.md, the table of docs/polynomial.md and their plots from results/*.jsonl, for docs.py.
"""results/bench_mixers.jsonl and results/bench_polynomial.jsonl each begin with a line about the run (date, commit, machine,
command), followed by what the command printed with --json.
"""
import json
import math
import pathlib
import statistics

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLOURS = ('#1b6ca8', '#d1495b', '#2e933c', '#8f5ea2', '#e08e0b', '#00798c', '#7d5a50', '#5c5c5c')
DASHES = ('', '6 3', '2 3')


def read(name):
    """Returns the run's description and the list of its measurements, or None where there is none."""
    path = ROOT / 'results' / f'{name}.jsonl'
    if not path.exists():
        return None
    run, *rows = map(json.loads, path.read_text(encoding='utf-8').splitlines())
    note = f'Measured {run["date"]} at commit {run["commit"]}: {run["machine"]}; `{run["command"]}`. {run.get("later", "")}'.strip()
    return note, rows


def table(rows):
    head, *body = rows
    return '\n'.join('| ' + ' | '.join(map(str, row)) + ' |' for row in [head, ['---'] * len(head), *body])


def text(x, y, content, anchor='middle', colour='#555'):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{content}</text>'


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
            f'font-size="12"><rect width="{width}" height="{height}" fill="#fff"/>\n' + '\n'.join(parts) + '\n</svg>\n')


def log_plot(curves, title):
    """curves: {name: {T: microseconds a token}}, both axes logarithmic."""
    lengths = sorted({T for curve in curves.values() for T in curve})
    values = [v for curve in curves.values() for v in curve.values()]
    low, high = math.log2(min(values)), math.log2(max(values))
    x = lambda T: 70 + 480 * (math.log2(T) - math.log2(lengths[0])) / (math.log2(lengths[-1]) - math.log2(lengths[0]))
    y = lambda v: 380 - 330 * (math.log2(v) - low) / (high - low)
    parts = [text(310, 25, title, colour='#000')]
    for T in lengths:
        parts.append(f'<line x1="{x(T):.1f}" y1="50" x2="{x(T):.1f}" y2="380" stroke="#eee"/>')
        parts.append(text(x(T), 398, f'{T}' if T < 1024 else f'{T // 1024}Ki'))
    for power in range(math.ceil(low), math.floor(high) + 1):
        parts.append(f'<line x1="70" y1="{y(2 ** power):.1f}" x2="550" y2="{y(2 ** power):.1f}" stroke="#eee"/>')
        parts.append(text(62, y(2 ** power) + 4, f'{2 ** power:g}', 'end'))
    parts.append(text(310, 418, 'tokens of a sequence'))
    for index, (name, curve) in enumerate(sorted(curves.items(), key=lambda item: -item[1][max(item[1])])):
        colour, dash = COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]
        points = ' '.join(f'{x(T):.1f},{y(v):.1f}' for T, v in sorted(curve.items()))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
        parts.append(f'<line x1="570" y1="{60 + 20 * index}" x2="595" y2="{60 + 20 * index}" stroke="{colour}" '
                     f'stroke-width="2" stroke-dasharray="{dash}"/>')
        parts.append(text(602, 64 + 20 * index, name, 'start', '#000'))
    return svg(740, 430, parts)


def crossover(curve, exact):
    """The length from which the kind is faster than softmax wherever both were measured."""
    both = sorted(set(curve) & set(exact))
    slower = [T for T in both if curve[T] >= exact[T]]
    after = [T for T in both if not slower or T > slower[-1]]
    return after[0] if after else '-'


def mixers_page(note, rows):
    page = ['<!-- Written by bench/docs.py; not by hand. -->', '# Token mixers over the length', '',
            'One sequence on one thread through a model of one block, 128 wide, 4 heads. Forward is inference; training is '
            'forward, backward and the sum of gradients. Best of the rounds; kinds take turns at every length. `growth` is '
            'the mean factor of the time from T to 2T above 4096 tokens (2 is linear, 4 quadratic), `claimed` the same factor of '
            'the operations that the kinds\' records count, `beats softmax` the shortest length from which the kind is faster.', '', note]
    for mode, title in (('infer', 'Forward'), ('train', 'Training')):
        curves, memory = {}, {}
        for row in rows:
            if row.get('mode') == mode:
                curves.setdefault(row['mixer'], {})[row['length']] = row['seconds'] * 1e6 / row['length']
                memory[row['mixer']] = row['memory_mb']
        lengths = sorted({T for curve in curves.values() for T in curve})
        growth = {row['mixer']: row for row in rows if row.get('grows_in') == mode}
        body = [['microseconds a token', 'cost', *lengths, 'growth', 'claimed', 'beats softmax', 'MB at the longest']]
        for name, curve in curves.items():
            grown = growth.get(name)
            body.append([f'`{name}`', grown['cost'] if grown else '', *(f'{curve[T]:.3g}' if T in curve else '' for T in lengths),
                         *(f'{grown[key]:.2f}' if grown else '' for key in ('growth', 'claimed')),
                         '' if name == 'softmax' else crossover(curve, curves['softmax']), f'{memory[name]:.0f}'])
        yield f'mixers_{mode}.svg', log_plot(curves, f'{title}: microseconds a token')
        page += ['', f'## {title}', '', f'![{title}](mixers_{mode}.svg)', '', table(body)]
    phis = [row for row in rows if 'row' in row]
    if phis:
        page += ['', '## What a phi costs', '', 'Training of the whole model of `bench engine` (256 wide, 4 blocks, T=4096), '
                 'all threads.', '',
                 table([['row of Table 1', 'tokens/s', 'of linear-kernel']] +
                       [[f'`{r["row"]}`', f'{r["train_tokens_per_s"]:,.0f}', f'{r["of_linear_kernel"]:.2f}'] for r in phis])]
    yield 'mixers.md', '\n'.join(page) + '\n'


def bars(groups, title):
    """groups: {label: [median accuracy of degree 1, 2, 3]}."""
    parts = [text(330, 25, title, colour='#000')]
    for share in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        at = 230 + 380 * (share - 0.5) / 0.5
        parts.append(f'<line x1="{at}" y1="40" x2="{at}" y2="{60 + 42 * len(groups)}" stroke="#ddd"/>')
        parts.append(text(at, 56 + 42 * len(groups) + 20, f'{share:.0%}'))
    for index, (label, values) in enumerate(groups.items()):
        top = 48 + 42 * index
        parts.append(text(220, top + 22, label, 'end', '#000'))
        for degree, value in enumerate(values):
            width = max(1.0, 380 * (value - 0.5) / 0.5)
            parts.append(f'<rect x="230" y="{top + 11 * degree}" width="{width:.1f}" height="10" fill="{COLOURS[degree]}"/>')
    for degree in range(3):
        parts.append(f'<rect x="{250 + 110 * degree}" y="{86 + 42 * len(groups)}" width="12" height="12" fill="{COLOURS[degree]}"/>')
        parts.append(text(268 + 110 * degree, 97 + 42 * len(groups), f'degree {degree + 1}', 'start'))
    return svg(660, 110 + 42 * len(groups), parts)


def polynomial_scores(rows):
    """{(layer, place): {degree: accuracies}}."""
    scores = {}
    for row in rows:
        scores.setdefault((row['layer'], row['place']), {}).setdefault(row['degree'], []).append(row['accuracy'])
    return scores


def percent(values, middle=statistics.median):
    return f'{100 * middle(values):.1f} ({100 * min(values):.1f} to {100 * max(values):.1f})'


def polynomial_table():
    note, rows = read('bench_polynomial')
    body = [[f'`{layer}`', place, *(percent(by_degree[degree]) for degree in (1, 2, 3))]
            for (layer, place), by_degree in polynomial_scores(rows).items()]
    return f'{note}\n\n' + table([['layer', 'place', 'degree 1', 'degree 2', 'degree 3'], *body])


def polynomial_page(_, rows):
    groups = {f'{layer}, {place}': [statistics.median(by_degree[degree]) for degree in (1, 2, 3)]
              for (layer, place), by_degree in polynomial_scores(rows).items()}
    yield 'polynomial.svg', bars(groups, 'Test accuracy, median over seeds; half is chance')


def all_pages():
    """Yields (path, content)."""
    for name, page in (('bench_mixers', mixers_page), ('bench_polynomial', polynomial_page)):
        found = read(name)
        for file, content in page(*found) if found else ():
            yield ROOT / 'docs' / file, content
