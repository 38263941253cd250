# make_golden.py -- Makes tests/golden: small models with the logits and gradients PyTorch gives.
"""Usage: make_golden.py [FOLDER]   (default: tests/golden beside this folder)

Each case is a model folder plus golden.safetensors: the batch (tokens, lengths, labels, as
float32 numbers), logits [n, classes], loss [1] and grad.<parameter> for every parameter, computed
in float64 from the float32 weights and rounded to float32 once. Weights come from the case's own
seed, so adding a case leaves the other files as they are.
"""
import pathlib
import sys
import zlib

import numpy as np

import twin
from tensor_file import write_safetensors

# What differs from case to case; everything else is in BASE or in the sizes of the caller.
CASES = {
    'kernel_softplus': {'pool': 'cls'},
    'kernel_softplus_causal': {'causal': True, 'pool': 'mean'},
    'kernel_elu1': {'phi': 'elu1', 'positions': 'sinusoidal', 'pool': 'mean'},
    'kernel_elu1_causal': {'phi': 'elu1', 'causal': True, 'pool': 'last'},
    'kernel_count': {'mixer': 'kernel-count', 'pool': 'mean'},
    'kernel_count_causal': {'mixer': 'kernel-count', 'phi': 'taylor:r=3', 'causal': True,
                            'pool': 'last'},
    'kernel_decay': {'mixer': 'kernel-decay', 'pool': 'mean'},
    'kernel_decay_causal': {'mixer': 'kernel-decay', 'phi': '2xglu', 'causal': True,
                            'pool': 'last'},
    'scan': {'mixer': 'scan', 'pool': 'mean'},
    'scan_causal': {'mixer': 'scan', 'causal': True, 'pool': 'last'},
    'gated_scan': {'mixer': 'gated-scan', 'pool': 'mean'},
    'gated_scan_causal': {'mixer': 'gated-scan', 'causal': True, 'pool': 'last'},
    'first_scan': {'first_mixer': 'scan'},
    'first_kernel': {'first_mixer': 'kernel', 'mixer': 'softmax', 'conv': 2, 'pool': 'mean'},
    'phi_2xglu': {'phi': '2xglu'},
    'phi_3xaoglu': {'phi': '3xaoglu'},
    'phi_deep': {'phi': 'linear>norm>linear:f=12>gelu', 'pool': 'mean'},
    'phi_relu2': {'phi': 'relu2'},
    'phi_bilinear': {'phi': 'bilinear', 'pool': 'mean'},
    'phi_squares': {'phi': 'linear>squares'},
    'phi_taylor': {'phi': 'taylor:r=3', 'causal': True, 'pool': 'mean'},
    'phi_hedgehog': {'phi': 'hedgehog', 'causal': True, 'pool': 'last'},
    'performer': {'mixer': 'performer', 'pool': 'mean'},
    'performer_causal': {'mixer': 'performer', 'causal': True, 'pool': 'last'},
    'softmax': {'mixer': 'softmax', 'pool': 'cls'},
    'softmax_causal': {'mixer': 'softmax', 'causal': True, 'pool': 'last'},
    'mean': {'mixer': 'mean', 'positions': 'none', 'pool': 'mean'},
    'mean_causal': {'mixer': 'mean', 'causal': True, 'pool': 'last'},
    'window': {'mixer': 'window', 'pool': 'cls'},
    'window_causal': {'mixer': 'window', 'causal': True, 'pool': 'mean'},
    'strided': {'mixer': 'strided', 'pool': 'mean'},
    'strided_causal': {'mixer': 'strided', 'causal': True, 'pool': 'last'},
    'reformer': {'mixer': 'reformer', 'pool': 'mean'},
    'tokens': {'task': 'tokens', 'pool': 'none'},
    'tokens_causal': {'task': 'tokens', 'pool': 'none', 'causal': True, 'positions': 'sinusoidal'},
    'match_kernel': {'task': 'match', 'pool': 'cls'},
    'mean_first': {'pool': 'mean-first'},
    'pool_max': {'pool': 'max'},
    'bag': {'bag': True, 'ngrams': 2, 'ngram_buckets': 31, 'pool': 'cls'},
    'bag_match': {'bag': True, 'task': 'match', 'pool': 'mean-first', 'pair': 'compare'},
    'match_distance': {'task': 'match', 'pool': 'mean', 'pair': 'distance'},
    'match_compare': {'task': 'match', 'pool': 'mean', 'pair': 'compare'},
    'sigmoid': {'loss': 'sigmoid', 'pool': 'mean'},
    'sigmoid_match': {'loss': 'sigmoid', 'task': 'match'},
    'ffn_relu2': {'ffn': 'relu2'},
    'ffn_bilinear': {'ffn': 'bilinear'},
    'ffn_squares': {'ffn': 'squares'},
    'ffn_squares_linear': {'ffn': 'squares-linear'},
    'ffn_swiglu': {'ffn': 'swiglu', 'ffn_match': 'params'},
    'poly_relu2': {'mixer': 'poly-relu2', 'pool': 'cls'},
    'poly_bilinear': {'mixer': 'poly-bilinear', 'pool': 'mean'},
    'poly_squares': {'mixer': 'poly-squares', 'pool': 'cls'},
    'poly_squares_linear': {'mixer': 'poly-squares-linear', 'pool': 'mean'},
    'poly_bilinear_causal': {'mixer': 'poly-bilinear', 'causal': True, 'pool': 'last'},
    'poly_squares_causal': {'mixer': 'poly-squares', 'causal': True, 'pool': 'mean'},
    'linformer': {'mixer': 'linformer', 'pool': 'cls'},
    'nystromformer': {'mixer': 'nystromformer', 'pool': 'cls'},
    'conv_kernel': {'conv': 4, 'pool': 'last'},
    'conv_kernel_causal': {'conv': 3, 'causal': True, 'pool': 'mean'},
    'conv_softmax': {'conv': 5, 'mixer': 'softmax', 'pool': 'cls'},
    'conv_poly_squares': {'conv': 64, 'mixer': 'poly-squares', 'pool': 'mean'},
    'ngrams': {'ngrams': 3, 'ngram_buckets': 200, 'pool': 'cls'},
    'ngrams_causal': {'ngrams': 8, 'ngram_buckets': 97, 'causal': True, 'pool': 'last'},
    'ngrams_match': {'ngrams': 2, 'ngram_buckets': 31, 'task': 'match', 'pool': 'mean'},
    'ngrams_tokens': {'ngrams': 4, 'ngram_buckets': 50, 'task': 'tokens', 'pool': 'none',
                      'causal': True, 'positions': 'none'},
}

BASE = {'task': 'classify', 'mixer': 'kernel', 'phi': 'softplus', 'causal': False, 'ffn': 'gelu',
        'positions': 'learned', 'pool': 'cls', 'dropout': 0, 'norm_eps': 1e-6}

SIZES = {'vocab': 11, 'classes': 5, 'length': 160, 'width': 24, 'heads': 3, 'blocks': 2,
         'hidden': 40, 'head_units': 12}

LENGTHS = [1, 7, 33, 150]  # 150 crosses from one chunk of 128 rows into a second


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / 'golden'
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for case, changes in CASES.items():
        config = {**BASE, **SIZES, **changes}
        rng = np.random.default_rng(zlib.crc32(case.encode()))
        params = twin.random_params(config, rng)
        batch = twin.random_batch(config, LENGTHS, rng)
        folder = root / case
        folder.mkdir(parents=True, exist_ok=True)
        twin.write_model(folder, config, params)
        result = twin.answers(params, config, batch)
        write_safetensors(folder / 'golden.safetensors', {**batch, **result})
        print(f'{case}: loss {result["loss"][0]:.6f}')


if __name__ == '__main__':
    main()
