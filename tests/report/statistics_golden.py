#!/usr/bin/env python3
"""statistics_golden.py -- the numbers of statistics_test.cpp, by SciPy and by counting every case (python3-scipy)."""

import itertools

import numpy as np
from scipy import special, stats

A = [0.3635, 0.3710, 0.3590, 0.3725, 0.3660]
B = [0.3540, 0.3655, 0.3610, 0.3580, 0.3525]
C = [0.6551, 0.6602, 0.6498, 0.6575, 0.6633, 0.6540, 0.6587, 0.6561]
D = [0.6449, 0.6530, 0.6502, 0.6480, 0.6521, 0.6477, 0.6533, 0.6490]


def exact_bootstrap(values):
    """Of all n^n draws, not of some."""
    means = [np.mean(draw) for draw in itertools.product(values, repeat=len(values))]
    return np.percentile(means, [2.5, 97.5])


def sign_flip(differences):
    return stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue


def holm(p):
    """By its definition: the i-th smallest of m is rejected at a level when all up to it are below level / (m - i)."""
    order = np.argsort(p)
    steps = [p[order[i]] * (len(p) - i) for i in range(len(p))]
    out = np.empty(len(p))
    for rank, index in enumerate(order):
        out[index] = min(1.0, max(steps[: rank + 1]))
    return list(out)


print("mean, deviation", np.mean(A), np.std(A, ddof=1))
print("bootstrap of every draw", *exact_bootstrap(A))
for x, y in ((A, B), (C, D)):
    difference = np.subtract(x, y)
    t = stats.ttest_rel(x, y)
    low, high = stats.t.interval(0.95, len(x) - 1, np.mean(difference), stats.sem(difference))
    print("paired", np.mean(difference), low, high, t.pvalue, sign_flip(difference))
for a, b, x in ((2, 0.5, 0.3), (0.5, 0.5, 0.9), (10, 3, 0.7), (50, 0.5, 0.999), (0.5, 2, 1e-6)):
    print("incomplete beta", a, b, x, special.betainc(a, b, x))
for t, freedom in ((0.1, 1), (2.5, 4), (12, 4), (1.96, 1000), (40, 9)):
    print("student", t, freedom, 2 * stats.t.sf(t, freedom))
for freedom in (1, 4, 9, 100):
    print("quantile", freedom, stats.t.ppf(0.975, freedom))
print("holm", *holm([0.01, 0.04, 0.03, 0.005, 0.9]))
