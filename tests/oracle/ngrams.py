# ngrams.py -- Rows of hashed n-grams, as src/models/ngram_table.h defines them.
import torch

GOLDEN, MASK = 0x9E3779B97F4A7C15, 2 ** 64 - 1


def ngram_row(ngram, buckets):
    """The row of an n-gram, a list of token numbers: the high half of its hash, over the buckets."""
    h = 0
    for token in ngram:
        z = (token + GOLDEN) & MASK  # SplitMix64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        h = (h * GOLDEN + (z ^ (z >> 31))) & MASK
    return (h >> 32) * buckets >> 32


def ngram_sums(table, longest, tokens):
    """[T, C]: for each token the sum of the rows of the 2- to longest-grams that end with it."""
    sums = []
    for t in range(len(tokens)):
        grams = [tokens[t - k + 1:t + 1] for k in range(2, min(longest, t + 1) + 1)]
        rows = [ngram_row(gram, len(table)) for gram in grams]
        sums.append(table[torch.tensor(rows, dtype=torch.long)].sum(0))
    return torch.stack(sums)
