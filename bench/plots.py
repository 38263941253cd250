# plots.py -- accuracies of the rows of an arena as bars, one panel a task, for docs.py.
"""A bar is the mean over seeds, a dot is a seed. The axis begins a little below the lowest, so lengths of bars do not compare."""
import statistics

import pages
import recipes

WIDTH, LEFT, ROW = 660, 150, 18


def panel(title, rows, top):
    """rows: {label: accuracies}; returns the parts of the picture and its height."""
    values = [value for found in rows.values() for value in found]
    low = max(0.0, min(values) - 0.1 * (max(values) - min(values)) - 0.005)
    high = max(values) + 0.002
    at = lambda value: LEFT + (WIDTH - LEFT - 70) * (value - low) / (high - low)
    parts = [pages.text(LEFT, top + 16, title, 'start', '#000')]
    for index, (label, found) in enumerate(rows.items()):
        y = top + 26 + ROW * index
        mean = statistics.fmean(found)
        parts += [pages.text(LEFT - 8, y + 11, label, 'end'),
                  f'<rect x="{LEFT}" y="{y + 2}" width="{at(mean) - LEFT:.1f}" height="{ROW - 6}" fill="{pages.COLOURS[0]}" opacity="0.6"/>',
                  *(f'<circle cx="{at(value):.1f}" cy="{y + ROW / 2 - 1}" r="2.5" fill="{pages.COLOURS[1]}"/>' for value in found),
                  pages.text(WIDTH - 8, y + 11, f'{100 * mean:.1f}', 'end', '#000')]
    return parts, 34 + ROW * len(rows)


def chart(panels):
    """panels: {title: {label: accuracies}}."""
    parts, top = [], 4
    for title, rows in panels.items():
        more, height = panel(title, rows, top)
        parts += more
        top += height
    return pages.svg(WIDTH, top, parts)


def accuracies(which, titles):
    """{title: {row: test accuracies}} of the tasks in `titles` that results/ has."""
    panels = {}
    for run in recipes.read(recipes.results(which)):
        if run.get('status') == 'ok' and run['task'] in titles:
            panels.setdefault(titles[run['task']], {}).setdefault(run['row'], []).append(run['test']['accuracy'])
    return panels


def all_plots():
    """Yields (file in docs, content)."""
    words = {'text': 'IMDb, words', 'bytes': 'IMDb, 4,000 bytes', 'matching': 'Citations', 'listops': 'ListOps'}
    arena = {**words, 'text': 'IMDb, 4,000 bytes'}
    for which, titles in (('recipes', words), ('layers', words), ('text_kernel', arena), ('listops_kernel', arena)):
        panels = accuracies(which, titles)
        if panels:
            yield f'arena_{which}.svg', chart(panels)
