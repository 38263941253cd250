# scan.py -- the mixers scan (as a convolution) and gated-scan (token by token), for the PyTorch twin.
import math

import torch
import torch.nn.functional as F


def mix_scan(q, v, learned, weight):
    """y_i = q_i * sum_n u_n sum_j a_n^|i-j| v_j, j <= i for the first 8 sums, j >= i for the others."""
    T, C = v.shape
    place = (torch.arange(8, dtype=v.dtype)[:, None] + torch.arange(C, dtype=v.dtype) / C) / 8
    time = torch.arange(T, dtype=v.dtype)[:, None, None]
    s = 0
    for first in range(0, len(learned), 8):
        log_a = -math.log(2) / 1024 ** place * learned[first:first + 8].exp()
        u = weight[first:first + 8] * (1 - (2 * log_a).exp()).sqrt()
        response = (u * (log_a * time).exp()).sum(1)  # [T, C], to a one t tokens ago
        x = v.flip(0) if first else v
        y = F.conv1d(F.pad(x.T[None], (T - 1, 0)), response.flip(0).T[:, None], groups=C)[0].T
        s = s + (y.flip(0) if first else y)
    return q * s


def mix_gated_scan(q, k, v, causal):
    """y_i = q_i * h_i, h_i = (1 - sigmoid(k_i + t)) h_i-1 + b v_i; half of the channels from the right."""
    C = v.shape[1]
    half = (C + 1) // 2
    place = torch.cat([torch.arange(n, dtype=torch.float64) / max(n, 1) for n in (half, C - half)])
    a = 2 ** -(1024 ** -place)
    t, b = ((1 - a) / a).log().to(v.dtype), (1 - a * a).sqrt().to(v.dtype)

    def turned(x):  # the channels from the right in their own order
        return x if causal else torch.cat([x[:, :half], x[:, half:].flip(0)], 1)
    h, sums = torch.zeros(C, dtype=v.dtype), []
    for keep, value in zip(turned(torch.sigmoid(-(k + t))), turned(b * v)):
        h = keep * h + value
        sums.append(h)
    return q * turned(torch.stack(sums))
