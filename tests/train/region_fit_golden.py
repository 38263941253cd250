#!/usr/bin/env python3
"""region_fit_golden.py -- the numbers of region_fit_test.cpp by PyTorch: logits, and what a random dy gives by autograd."""

import torch

CLASSES, PLACES, ROWS, UNITS = 3, 2, 5, 64
TOKENS = [1, 4, 2, 9, 2, 0, 3]  # 9 is beyond the rows


def numbers(count, factor):
    """A congruence that both can compute."""
    return torch.tensor([(i * i * factor + 3) % 10007 / 5000 - 1 for i in range(count)], dtype=torch.float64)


table = numbers(PLACES * ROWS * UNITS, 37).reshape(PLACES, ROWS, UNITS).requires_grad_()
bias = numbers(UNITS, 29).requires_grad_()
out = numbers(UNITS * CLASSES, 53).reshape(UNITS, CLASSES).requires_grad_()
out_bias = numbers(CLASSES, 71).requires_grad_()
dy = torch.tensor([0.7, -1.3, 0.4], dtype=torch.float64)

ids = torch.tensor([t if t < ROWS else 0 for t in TOKENS])
sums = sum(table[p][ids[p:len(ids) - PLACES + 1 + p]] for p in range(PLACES))
logits = torch.relu(sums.max(0).values + bias) @ out + out_bias
(logits * dy).sum().backward()
print('logits', [round(x, 6) for x in logits.tolist()])
for name, tensor in (('table', table), ('bias', bias), ('out', out), ('out_bias', out_bias)):
    gradient = tensor.grad.flatten()
    print(name, round((gradient * numbers(len(gradient), 17)).sum().item(), 6))
