#!/usr/bin/env python3
"""metrics_golden.py -- the numbers of metrics_test.cpp, by other ways: pairs, sets and loops instead of ranks."""

import math

STATE = 0


def draw(n):
    """The generator of the test: 0 .. n-1 from the high bits of a 32-bit congruence."""
    global STATE
    STATE = (STATE * 1664525 + 1013904223) % 2**32
    return (STATE >> 16) % n


def f1(actual, predicted):
    """Of two sets of rows, through precision and recall."""
    if not actual and not predicted:
        return None
    hits = len(actual & predicted)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(predicted), hits / len(actual)
    return 2 * precision * recall / (precision + recall)


def mean(values):
    known = [v for v in values if v is not None]
    return sum(known) / len(known)


def auc(scores, positive):
    pairs = [(a, b) for a, p in zip(scores, positive) for b, q in zip(scores, positive) if p and not q]
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


ROWS, CLASSES = 200, 4
labels = [draw(CLASSES) for _ in range(ROWS)]
weights = [[1 + draw(16) + (24 if draw(2) and k == labels[r] else 0) for k in range(CLASSES)] for r in range(ROWS)]
# Sums of 2^n, so that float and double agree on every bit of the probabilities.
probabilities = [[w / 64 for w in row] for row in weights]
best = [max(range(CLASSES), key=lambda k: (row[k], -k)) for row in weights]

print("accuracy", sum(a == b for a, b in zip(labels, best)) / ROWS)
print("macro_f1", mean([f1({r for r in range(ROWS) if labels[r] == k}, {r for r in range(ROWS) if best[r] == k}) for k in range(CLASSES)]))
print("roc_auc class 1", auc([row[1] for row in weights], [label == 1 for label in labels]))
print("one vs rest", mean([auc([row[k] for row in weights], [label == k for label in labels]) for k in range(CLASSES)]))
error = 0.0
for b in range(15):
    rows = [r for r in range(ROWS) if b / 15 < max(probabilities[r]) <= (b + 1) / 15]
    if rows:
        accuracy = sum(best[r] == labels[r] for r in rows) / len(rows)
        confidence = sum(max(probabilities[r]) for r in rows) / len(rows)
        error += len(rows) / ROWS * abs(accuracy - confidence)
print("calibration_error", error)

LABELS = 5
actual = [[draw(3) == 0 for _ in range(LABELS - 1)] + [False] for _ in range(ROWS)]
predicted = [[draw(4) == 0 or (a and draw(2) == 0) for a in row[:-1]] + [False] for row in actual]
per_label = [f1({r for r in range(ROWS) if actual[r][k]}, {r for r in range(ROWS) if predicted[r][k]}) for k in range(LABELS)]
every = lambda table: {(r, k) for r in range(ROWS) for k in range(LABELS) if table[r][k]}
print("multi-label micro", f1(every(actual), every(predicted)), "macro", mean(per_label))
print("bits_per_byte", 1234.5 / math.log(2) / 800, "perplexity", math.exp(1234.5 / 300))
