#!/usr/bin/env python3
"""naive_bayes_golden.py -- the numbers of naive_bayes_test.cpp by other ways: dense matrices, and Newton in the primal."""

import numpy as np

STATE = 0


def draw(n):
    """The generator of the test: 0 .. n-1 from the high bits of a 32-bit congruence."""
    global STATE
    STATE = (STATE * 1664525 + 1013904223) % 2**32
    return (STATE >> 16) % n


ROWS, FEATURES, CLASSES = 150, 20, 3
labels = [draw(CLASSES) for _ in range(ROWS)]
# The last feature is never there; features of the row's own class are there more often.
x = np.array([[float(j + 1 < FEATURES and draw(2 if j % CLASSES == label else 4) == 0) for j in range(FEATURES)] for label in labels])
labels = np.array(labels)


def log_ratios(c, smoothing):
    seen = x.sum(0) > 0
    p, q = smoothing + x[labels == c].sum(0), smoothing + x[labels != c].sum(0)
    return np.where(seen, np.log(p / p[seen].sum()) - np.log(q / q[seen].sum()), 0.0)


def fit(c, ratios, strength):
    """Minimises |w|^2 / 2 + strength sum log(1 + exp(-y w x)) over x = (1, f r); returns bias and w r."""
    y = np.where(labels == c, 1.0, -1.0)
    z = np.hstack([np.ones((ROWS, 1)), x * ratios])
    w = np.zeros(FEATURES + 1)
    for _ in range(100):
        s = 1 / (1 + np.exp(y * (z @ w)))
        gradient = w - strength * z.T @ (y * s)
        hessian = np.eye(FEATURES + 1) + strength * (z.T * (s * (1 - s))) @ z
        w = w - np.linalg.solve(hessian, gradient)
    assert np.abs(gradient).max() < 1e-10
    return w[0], w[1:] * ratios


for c in range(CLASSES):
    ratios = log_ratios(c, 1.0)
    print(f'class {c}: r[0] {ratios[0]:.9f}, r[5] {ratios[5]:.9f}, r[19] {ratios[19]:.9f}, sum of squares {ratios @ ratios:.9f}')
    for strength in (0.1, 2.0):
        bias, u = fit(c, ratios, strength)
        print(f'  strength {strength}: bias {bias:.7f}, u[0] {u[0]:.7f}, u[5] {u[5]:.7f}, |u|^2 {u @ u:.7f}')
scores = []
for c in range(CLASSES):
    bias, u = fit(c, log_ratios(c, 1.0), 2.0)
    scores.append(bias + x @ u)
print('right of all three', (np.argmax(scores, 0) == labels).sum())
