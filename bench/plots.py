# plots.py -- accuracies of the rows of an arena as dots on a scale, one panel a task, for docs.py.
"""A stroke is the mean over seeds, a dot is a seed; the ends of the scale are named, since they are those of the panel. It has at
least NARROWEST, so that chance does not look large. No bars: their lengths would say something."""
import statistics

import pages
import recipes

WIDTH, LEFT, ROW = 660, 150, 18
NARROWEST = 0.04


def panel(title, rows, top):
    """rows: {label: accuracies}; returns the parts of the picture and its height."""
    values = [value for found in rows.values() for value in found]
    middle, half = (max(values) + min(values)) / 2, max(0.55 * (max(values) - min(values)), NARROWEST / 2)
    low, high, right = middle - half, middle + half, WIDTH - 70
    at = lambda value: LEFT + (right - LEFT) * (value - low) / (high - low)
    parts = [pages.text(LEFT, top + 6, title, 'start', '#000'),
             *(pages.text(at(end), top + 20, f'{100 * end:.1f}%', anchor) for end, anchor in ((low, 'start'), (high, 'end')))]
    for index, (label, found) in enumerate(rows.items()):
        y = top + 26 + ROW * index
        middle_y, mean = y + ROW / 2 - 1, statistics.fmean(found)
        parts += [pages.text(LEFT - 8, y + 11, label, 'end'),
                  f'<line x1="{LEFT}" y1="{middle_y}" x2="{right}" y2="{middle_y}" stroke="#ddd"/>',
                  f'<rect x="{at(mean) - 1.5:.1f}" y="{y + 2}" width="3" height="{ROW - 6}" fill="{pages.COLOURS[0]}"/>',
                  *(f'<circle cx="{at(value):.1f}" cy="{middle_y}" r="2.5" fill="{pages.COLOURS[1]}"/>' for value in found),
                  pages.text(WIDTH - 8, y + 11, f'{100 * mean:.1f}', 'end', '#000')]
    return parts, 34 + ROW * len(rows)


def chart(panels):
    """panels: {title: {label: accuracies}}."""
    parts, top = [], 12
    for title, rows in panels.items():
        more, height = panel(title, rows, top)
        parts += more
        top += height
    return pages.svg(WIDTH, top, parts)


def in_order(which, task, rows):
    """As the set of recipes has them; else as Table 1, with the others behind it."""
    known = list(recipes.SETS[which][task][1] if which in recipes.SETS else recipes.TABLE1)
    return dict(sorted(rows.items(), key=lambda row: known.index(row[0]) if row[0] in known else len(known)))


def accuracies(which, titles):
    """{title: {row: test accuracies}} of the tasks in `titles` that results/ has, in that order."""
    found = {task: {} for task in titles}
    for run in recipes.read(recipes.results(which)):
        if run.get('status') == 'ok' and run['task'] in titles:
            found[run['task']].setdefault(run['row'], []).append(run['test']['accuracy'])
    return {titles[task]: in_order(which, task, rows) for task, rows in found.items() if rows}


def all_plots():
    """Yields (file in docs, content)."""
    words = {'text': 'IMDb, words', 'bytes': 'IMDb, 4,000 bytes', 'matching': 'Citations', 'listops': 'ListOps'}
    arena = {**words, 'text': 'IMDb, 4,000 bytes', 'matching': 'Citations, 4,000 bytes each'}
    for which, titles in (('recipes', words), ('layers', words), ('table1', arena), ('text_kernel', arena), ('listops_kernel', arena),
                          ('listops_parts', arena), ('text_parts', arena)):
        panels = accuracies(which, titles)
        if panels:
            yield f'arena_{which}.svg', chart(panels)
