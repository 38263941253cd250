# live_oracle.py -- Compares linnet with its PyTorch twin on fresh random models of many sizes.
"""Usage: LINNET_BIN=path/to/linnet live_oracle.py   (`./linnet test --oracle` does this)

For every case of make_golden.py, every size below and every seed: writes a model folder and a
batch, runs `linnet oracle DIR --data BATCH --out ANSWERS`, and compares the answers with the twin
in float64. Exit code 0: all within tolerance; 1: not; 77: PyTorch is not installed (skipped).

Errors, always relative:
  logits, loss   max |a - b| / max |b|      at most 1e-5
  a gradient     norm(a - b) / norm(b)      at most 1e-4
Some gradients are zero but for rounding: the key bias of softmax (a shift of all scores changes
nothing), queries and keys when a row sees only itself (the mixer's answer is v whatever they are).
The sum of their cancelling terms has no correct digit in float32, so a gradient whose norm(b) is
below ZERO * norm(the gradients of all parameters together) is measured against FLOOR * that norm
instead: it must be zero to 1e-6 of the whole, eight roundings of a float32. In these models such
gradients lie below 2e-7 of the whole, all others above 1e-4.

A model can be ill-conditioned: ReLU squared of a number near zero is divided by a sum that is as
near to zero. Where a gradient is beyond the tolerance, the twin runs in float32 too. One error of
such a model is chance (ours and PyTorch's differ up to tenfold with the last bits of the weights),
so both run NEIGHBOURS models whose weights differ by a millionth, and the median of ours may be at
most the tolerance or twice PyTorch's; the line says so.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import make_golden
    import twin
    from tensor_file import read_safetensors, write_safetensors
except ImportError as error:
    print(f'live_oracle.py: skipped, {error}; PyTorch is in the package python3-torch')
    sys.exit(77)

LOGIT_TOLERANCE = 1e-5
GRADIENT_TOLERANCE = 1e-4
ZERO = 1e-5
FLOOR = 1e-2
SEEDS = (1, 2)
NEIGHBOURS = 9


def size(vocab, classes, width, heads, blocks, hidden, head_units, lengths):
    """Sizes of a model and the lengths of its batch (an even number of them, for match)."""
    return {'vocab': vocab, 'classes': classes, 'length': max(lengths) + 3, 'width': width,
            'heads': heads, 'blocks': blocks, 'hidden': hidden, 'head_units': head_units}, lengths


SIZES = {
    'golden': (make_golden.SIZES, make_golden.LENGTHS),
    'one': size(5, 2, 8, 2, 1, 8, 4, [1, 1]),                    # length 1 and nothing else
    'odd': size(7, 3, 15, 3, 2, 21, 7, [1, 2, 3, 5, 31, 131]),   # no size divides a vector
    'thin': size(3, 2, 6, 1, 3, 5, 3, [9, 1, 2, 17]),            # one head
    'edges': size(19, 4, 32, 2, 2, 64, 16, [127, 128, 129, 255, 256, 257]),  # of chunks
    'large': size(64, 10, 64, 4, 3, 256, 64, [700, 64]),
}


def run_linnet(binary, config, params, batch):
    """Returns what `linnet oracle` answers for this model and batch."""
    with tempfile.TemporaryDirectory(prefix='linnet_oracle_') as folder:
        twin.write_model(folder, config, params)
        data, out = f'{folder}/batch.safetensors', f'{folder}/answers.safetensors'
        write_safetensors(data, batch)
        command = [binary, 'oracle', folder, '--data', data, '--out', out]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'exit code {done.returncode}: {done.stderr.strip()}')
        return read_safetensors(out)


def largest(values):
    return float(np.max(np.abs(values)))


def compare(ours, theirs):
    """Returns (error of logits and loss, worst gradient error, its name)."""
    if set(ours) != set(theirs):
        raise RuntimeError(f'tensors differ: {sorted(set(ours) ^ set(theirs))}')
    for name, value in ours.items():
        if value.shape != theirs[name].shape:
            raise RuntimeError(f'{name} has shape {value.shape}, not {theirs[name].shape}')
        if not np.isfinite(value).all():
            raise RuntimeError(f'{name} is not finite')
    ours, theirs = ({name: value.astype(np.float64) for name, value in side.items()}
                    for side in (ours, theirs))
    logits = max(largest(ours[name] - theirs[name]) / largest(theirs[name])
                 for name in ('logits', 'loss'))
    names = [name for name in theirs if name.startswith('grad.')]
    whole = np.sqrt(sum(np.sum(theirs[name] ** 2) for name in names))
    errors = {}
    for name in names:
        norm = np.linalg.norm(theirs[name])
        scale = FLOOR * whole if norm < ZERO * whole else norm
        errors[name] = np.linalg.norm(ours[name] - theirs[name]) / scale
    worst = max(errors, key=errors.get)
    return logits, errors[worst], worst.removeprefix('grad.')


def median_errors(binary, config, params, batch, rng):
    """The median gradient errors, ours and PyTorch's in float32, of models close to this one."""
    ours, theirs = [], []
    for _ in range(NEIGHBOURS):
        near = {name: (value * (1 + 1e-6 * rng.uniform(-1, 1, value.shape))).astype(value.dtype)
                for name, value in params.items()}
        exact = twin.answers(near, config, batch)
        ours.append(compare(run_linnet(binary, config, near, batch), exact)[1])
        theirs.append(compare(twin.answers(near, config, batch, torch.float32), exact)[1])
    return np.median(ours), np.median(theirs)


def check(binary, case, sizes, lengths, seed):
    """Runs one model through both; returns what compare does, whether it failed, and a remark."""
    config = {**make_golden.BASE, **sizes, **make_golden.CASES[case]}
    rng = np.random.default_rng([seed, *case.encode()])
    params = twin.random_params(config, rng)
    batch = twin.random_batch(config, lengths, rng)
    result = compare(run_linnet(binary, config, params, batch), twin.answers(params, config, batch))
    bad, remark = result[0] > LOGIT_TOLERANCE, ''
    if result[1] > GRADIENT_TOLERANCE:
        ours, theirs = median_errors(binary, config, params, batch, rng)
        bad = bad or ours > max(GRADIENT_TOLERANCE, 2 * theirs)
        remark = f'  (ill-conditioned: median {ours:.1e}, PyTorch in float32 {theirs:.1e})'
    return *result, bad, remark


def main():
    binary = os.environ.get('LINNET_BIN', '')
    if not pathlib.Path(binary).is_file():
        print(f'live_oracle.py: LINNET_BIN is "{binary}", not the linnet executable')
        return 1
    failures = 0
    print(f'{"case":<24}{"size":<8}{"logits":>9}{"gradient":>10}  worst gradient')
    for case in make_golden.CASES:
        for label, (sizes, lengths) in SIZES.items():
            try:
                results = [check(binary, case, sizes, lengths, seed) for seed in SEEDS]
            except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
                print(f'{case:<24}{label:<8}FAILED: {error}')
                failures += 1
                continue
            logits = max(result[0] for result in results)
            _, gradient, name, _, remark = max(results, key=lambda result: (result[3], result[1]))
            bad = any(result[3] for result in results)
            failures += bad
            print(f'{case:<24}{label:<8}{logits:>9.1e}{gradient:>10.1e}  {name}{remark}'
                  + ('  FAILED' if bad else ''))
    print(f'{failures} of {len(make_golden.CASES) * len(SIZES)} failed' if failures else
          f'all within {LOGIT_TOLERANCE:g} (logits, loss) and {GRADIENT_TOLERANCE:g} (gradients), '
          'or no worse than PyTorch in float32 where a line says so')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
