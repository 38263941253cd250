# twin.py -- PyTorch twin of linnet's engine: the same model, written plainly, in any dtype.
"""One sequence at a time, one formula a line: this file is read to be believed, not run fast.

Shapes: T tokens (or rows, when a CLS row is in front), C width, H heads, D = C/H head size.
Weights are stored as [in, out]: y = x W + b.
"""
import json
import math
import re

import numpy as np
import torch
import torch.nn.functional as F

from ngrams import ngram_sums
from scan import mix_gated_scan, mix_scan
from tensor_file import read_safetensors, write_safetensors

GUARD = 1e-6  # added to the denominator of kernel attention
WINDOW = STRIDE = 128  # of the mixers window and strided
CHUNK, MOST_BUCKETS = 64, 64  # of the mixer reformer
FEW = 64  # most landmarks of Nystromformer, most sums of Linformer

# The projections of a mixer; those not listed have q, k and v.
PROJECTIONS = {'mean': 'v', 'reformer': 'kv', 'poly-relu2': 'qv', 'poly-squares': 'qv', 'scan': 'qv'}

GATED = ('bilinear', 'swiglu')  # feed-forward layers with a second projection of x
LINEAR = ('squares-linear',)    # and with x W added to their answer


# -- files --------------------------------------------------------------------------------------

def write_model(folder, config, params):
    """Writes a model folder: config.json and model.safetensors."""
    with open(f'{folder}/config.json', 'w', encoding='ascii') as file:
        json.dump(config, file, indent=2)
        file.write('\n')
    write_safetensors(f'{folder}/model.safetensors', params)


def read_model(folder, dtype=torch.float32):
    """Returns (config, params) of a model folder."""
    with open(f'{folder}/config.json', encoding='utf-8') as file:
        config = json.load(file)
    arrays = read_safetensors(f'{folder}/model.safetensors')
    return config, {name: torch.tensor(array, dtype=dtype) for name, array in arrays.items()}


# -- parameters ---------------------------------------------------------------------------------

def hidden_units(config):
    """Hidden units of the feed-forward layer: with ffn_match as many as cost what GELU's do."""
    C, hidden, ffn = config['width'], config['hidden'], config['ffn']
    if config.get('ffn_match', 'none') == 'none':
        return hidden
    budget = hidden * (2 * C + 1) - (C * C if ffn in LINEAR else 0)
    return max(1, round(budget / (3 * C + 2 if ffn in GATED else 2 * C + 1)))


def parameter_shapes(config):
    """Returns {name: shape} of every parameter, in the order of the model."""
    C, H, U = (config[key] for key in ('width', 'heads', 'head_units'))
    hidden, ffn = hidden_units(config), config['ffn']
    shapes = {'embed.weight': (config['vocab'], C)}
    if config['pool'] == 'cls':
        shapes['embed.cls'] = (C,)
    if config['positions'] == 'learned':
        shapes['embed.positions'] = (config['length'], C)

    def norm(name):
        shapes[name + '.weight'] = shapes[name + '.bias'] = (C,)

    def linear(name, rows, columns):
        shapes[name + '.weight'] = (rows, columns)
        shapes[name + '.bias'] = (columns,)

    for index in range(config['blocks']):
        block, own = f'blocks.{index}.', of_block(config, index)
        norm(block + 'norm1')
        for name in (*PROJECTIONS.get(own['mixer'], 'qkv'), 'out'):
            linear(block + 'mix.' + name, C, C)
        if own['mixer'] == 'linformer':
            rows = config['length'] + (config['pool'] == 'cls')
            shapes[block + 'mix.project'] = (rows, min(FEW, rows))
        if own['mixer'] == 'reformer':
            shapes[block + 'mix.rotation'] = (H, C // H, MOST_BUCKETS // 2)
        if own['mixer'] == 'kernel-decay':
            shapes[block + 'mix.decay'] = (H,)
        if own['mixer'] == 'scan':
            rows = 8 if config['causal'] else 16
            shapes[block + 'mix.scan_decay'] = shapes[block + 'mix.scan_weight'] = (rows, C)
        if phi_of(own):
            shapes.update(phi_shapes(phi_of(own), block + 'mix.phi', H, C // H))
        norm(block + 'norm2')
        linear(block + 'ffn.in', C, hidden)
        if ffn in GATED:
            linear(block + 'ffn.gate', C, hidden)
        linear(block + 'ffn.out', hidden, C)
        if ffn in LINEAR:
            shapes[block + 'ffn.linear.weight'] = (C, C)
    norm('final_norm')
    V = 2 * C if config.get('bag') else C
    joined = (2 if config.get('pair', 'concat') == 'concat' else 4) * V
    sizes = {'match': [joined, U, U // 2], 'classify': [V, U], 'tokens': [C]}[config['task']]
    for index, (rows, columns) in enumerate(zip(sizes, sizes[1:] + [config['classes']])):
        linear(f'head.{index}', rows, columns)
    if config.get('conv', 0):
        for index in range(config['blocks']):
            shapes[f'blocks.{index}.conv.weight'] = (config['conv'], C)
    if config.get('bag'):
        norm('bag_norm')
    if config.get('ngrams', 0):
        shapes['embed.ngrams'] = (config['ngram_buckets'], C)
    return shapes


def of_block(config, index):
    """The config with the mixer of that block."""
    return {**config, 'mixer': config['first_mixer']} if index == 0 and config.get('first_mixer') else config


def phi_of(config):
    """The text of phi; None where the mixer has none."""
    own = {'performer': 'favor', 'linear-transformer': 'elu1', 'kernel': config['phi'],
           'kernel-count': config['phi'], 'kernel-decay': config['phi']}
    return own.get(config['mixer'])


def phi_stages(text, name):
    """Yields (kind, options, parameter prefix, is it the last) of a phi text."""
    stages = []
    for part in text.split('>'):
        part, _, options = part.partition(':')
        count, kind = re.fullmatch(r'(?:(\d+)x)?(.*)', part).groups()
        values = {key: int(value) for key, value in re.findall(r'(\w+)=(\d+)', options)}
        stages += [(kind, values)] * int(count or 1)
    for index, (kind, values) in enumerate(stages):
        prefix = name if len(stages) == 1 else f'{name}.{index}'
        yield kind, values, prefix, index == len(stages) - 1


def phi_shapes(text, name, H, D):
    """Returns {name: shape} of the parameters of a phi."""
    shapes = {}
    for kind, options, prefix, _ in phi_stages(text, name):
        out = options.get('f', D)
        if kind in ('softplus', 'orth-softplus', 'linear', 'relu2'):
            shapes[prefix + '.weight'] = (H, D, out)
        elif kind == 'bilinear':
            shapes[prefix + '.left'] = shapes[prefix + '.right'] = (H, D, out)
        elif kind in ('glu', 'oglu'):
            shapes[prefix + '.value'] = shapes[prefix + '.gate'] = (H, D, out)
        elif kind == 'aoglu':
            rank = options.get('r', max(1, D // 4))
            shapes[prefix + '.value'] = (H, D, out)
            shapes[prefix + '.gate_in'] = (H, D, rank)
            shapes[prefix + '.gate_out'] = (H, rank, out)
        elif kind == 'favor':
            shapes[prefix + '.projection'] = (H, D, out)
        elif kind == 'taylor':
            rank = options.get('r', min(16, D))
            shapes[prefix + '.weight'] = (H, D, rank)
            out = 1 + rank + rank * (rank + 1) // 2
        elif kind == 'hedgehog':
            out = options.get('f', 2 * D)
            shapes[prefix + '.weight'] = (H, D, out // 2)
        D = out
    return shapes


def random_params(config, rng):
    """Random float32 weights at which every gradient is well away from zero."""
    params = {}
    for name, shape in parameter_shapes(config).items():
        value = rng.standard_normal(shape)
        if 'norm' in name and name.endswith('.weight'):
            value = 1 + 0.2 * value
        elif name.endswith(('.bias', 'decay')):
            value *= 0.2
        elif name == 'embed.positions':
            value *= 0.5
        elif not name.startswith('embed.'):
            value /= math.sqrt(shape[-2])
        params[name] = value.astype(np.float32)
    return params


# -- the model ----------------------------------------------------------------------------------

def linear(params, name, x):
    return x @ params[name + '.weight'] + params[name + '.bias']


def layer_norm(params, name, x, eps):
    weight, bias = params[name + '.weight'], params[name + '.bias']
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def short_conv(weight, x):
    """g_t = sum_j c_j * x_{t-j}: weight [w, C], x [T, C], zero before the first row."""
    return sum(c * F.pad(x, (0, 0, j, 0))[:len(x)] for j, c in enumerate(weight))


def gelu(x):
    return F.gelu(x, approximate='tanh')


def sinusoids(T, C, dtype):
    """pos(t, 2i) = sin(t * 10000^(-2i/C)), pos(t, 2i+1) = cos(the same)."""
    column = torch.arange(C, dtype=torch.float64)
    even = column - column % 2
    angle = torch.arange(T, dtype=torch.float64)[:, None] * 10000.0 ** (-even / C)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).to(dtype)


def embed(params, config, tokens):
    """[T] token numbers -> [T, C], or [T+1, C] with the CLS row in front."""
    x = params['embed.weight'][tokens]
    if config['positions'] == 'learned':
        x = x + params['embed.positions'][:len(tokens)]
    elif config['positions'] == 'sinusoidal':
        x = x + sinusoids(len(tokens), config['width'], x.dtype)
    if config.get('ngrams', 0):
        x = x + ngram_sums(params['embed.ngrams'], config['ngrams'], tokens.tolist())
    if config['pool'] == 'cls':
        x = torch.cat([params['embed.cls'][None], x])
    return x


def mix_mean(v, causal):
    """y_i = mean of v_j, over all j or over j <= i."""
    if causal:
        return v.cumsum(0) / torch.arange(1, len(v) + 1, dtype=v.dtype)[:, None]
    return v.mean(0, keepdim=True).expand_as(v)


def seen_keys(mixer, queries, keys):
    """[queries, keys]: whether query i sees key j, before causality."""
    i, j = torch.arange(queries)[:, None], torch.arange(keys)[None]
    if mixer == 'window':
        return ((i - j).abs() <= WINDOW) | (i == 0) | (j == 0)
    if mixer == 'strided':
        return ((i - j).abs() < STRIDE) | (j % STRIDE == STRIDE - 1)
    return torch.ones(queries, keys, dtype=torch.bool)


def mix_softmax(q, k, v, causal, mixer):
    """One head, [T, D] each: y = softmax(q k^T / sqrt(D)) v, over the keys that the mixer sees."""
    seen = seen_keys(mixer, len(q), len(k))
    if causal:
        seen = seen.tril()
    score = (q @ k.T / math.sqrt(q.shape[1])).masked_fill(~seen, -math.inf)
    return score.softmax(1) @ v


def softplus(x):
    # threshold: PyTorch's is cut to the identity above 20 by default.
    return F.softplus(x, threshold=40)


def phi_stage(params, kind, prefix, last, head, x):
    """One stage of a phi for one head, [T, D] -> [T, F]."""
    def times(name):
        return x @ params[f'{prefix}.{name}'][head]

    if kind in ('softplus', 'orth-softplus'):
        return softplus(times('weight'))
    if kind == 'linear':
        return times('weight')
    if kind == 'norm':
        return F.layer_norm(x, x.shape[1:], eps=1e-6)
    if kind == 'elu1':
        return F.elu(x) + 1
    if kind == 'relu':
        return F.relu(x)
    if kind == 'sigmoid':
        return x.sigmoid()
    if kind == 'gelu':
        return gelu(x) + (np.float32(0.1701).item() if last else 0)
    if kind == 'squares':
        return x * x
    if kind == 'relu2':
        return F.relu(times('weight')) ** 2
    if kind == 'bilinear':
        product = times('left') * times('right')
        return softplus(product) if last else product
    if kind in ('glu', 'oglu', 'aoglu'):
        gate = (times('gate_in') @ params[prefix + '.gate_out'][head] if kind == 'aoglu'
                else times('gate'))
        value = times('value')
        return (softplus(value) if last else value) * gate.sigmoid()
    if kind == 'favor':
        x = x * x.shape[1] ** -0.25
        e = (x @ params[prefix + '.projection'][head].detach() - (x * x).sum(1, keepdim=True) / 2)
        return (e.exp() + 1e-6) / math.sqrt(e.shape[1])
    if kind == 'taylor':
        z = times('weight')
        z = z * z.shape[1] ** -0.25
        a, b = torch.triu_indices(z.shape[1], z.shape[1])
        squares = z[:, a] * z[:, b] * torch.where(a == b, 0.5 ** 0.5, 1.0)
        return torch.cat([torch.ones_like(z[:, :1]), z, squares], 1)
    if kind == 'hedgehog':
        p = times('weight')
        return torch.cat([p, -p], 1).softmax(1)
    raise ValueError(kind)


def phi(params, text, name, head, x):
    """A whole phi for one head."""
    for kind, _, prefix, last in phi_stages(text, name):
        x = phi_stage(params, kind, prefix, last, head, x)
    return x


def mix_reformer(k, v, rotation):
    """One head: y = softmax(k k^T / |k|) v within chunks of tokens sorted by their hash."""
    T = len(k)
    half = min(MOST_BUCKETS, 2 * math.ceil(math.ceil(T / 32) / 2)) // 2
    turned = (k @ rotation[:, :half]).detach()
    order = torch.cat([turned, -turned], 1).argmax(1).argsort(stable=True)
    chunk = torch.empty(T, dtype=torch.long)
    chunk[order] = torch.arange(T) // CHUNK
    back = chunk[:, None] - chunk[None]
    score = k @ (k / (k.square().sum(1, keepdim=True) + 1e-12).sqrt()).T - 1e5 * torch.eye(T)
    return score.masked_fill((back < 0) | (back > 1), -math.inf).softmax(1) @ v


def mix_kernel(phi_q, phi_k, v, causal, by_count, log_decay):
    """One head: y_i = sum_j (phi_q_i . phi_k_j) v_j / (sum_j phi_q_i . phi_k_j + guard).

    The prefix sums S_i = sum_{j<=i} phi_k_j v_j^T are those of the weights phi_q_i . phi_k_j
    with the future set to zero, which is how they are taken here: T x T, but plain.
    """
    weight = phi_q @ phi_k.T
    if log_decay is not None:
        place = torch.arange(len(v), dtype=v.dtype)
        weight = weight * (log_decay * (place[:, None] - place[None]).abs()).exp()
    if causal:
        weight = weight.tril()
    if by_count:
        m = weight @ v / (torch.arange(1, len(v) + 1, dtype=v.dtype)[:, None] if causal else len(v))
        return m / (m.square().mean(1, keepdim=True) + 1e-6).sqrt()
    return weight @ v / (weight.sum(1, keepdim=True) + GUARD)


def mix_polynomial(kind, q, k, v, causal):
    """y_i = q_i * mean of p_j, with the terms p of the kind."""
    p = {'poly-relu2': lambda: F.relu(v) ** 2, 'poly-bilinear': lambda: k * v,
         'poly-squares': lambda: v, 'poly-squares-linear': lambda: v + k}[kind]()
    return q * mix_mean(p, causal)


def mix_nystrom(q, k, v):
    """One head: y = F1 Z F3 v, with Z the iterated pseudo-inverse of A."""
    T, m = len(q), min(FEW, len(q))
    cuts = [s * T // m for s in range(m + 1)]
    ql, kl = (torch.stack([x[a:b].mean(0) for a, b in zip(cuts, cuts[1:])]) for x in (q, k))
    F1, A, F3 = ((a @ b.T / math.sqrt(q.shape[1])).softmax(1)
                 for a, b in ((q, kl), (ql, kl), (ql, k)))
    one = torch.eye(m, dtype=q.dtype)
    Z = A.T / (A.sum(1).max() * A.sum(0).max()).detach()  # not differentiated
    for _ in range(6):
        AZ = A @ Z
        Z = Z @ (13 * one - AZ @ (15 * one - AZ @ (7 * one - AZ))) / 4
    return F1 @ Z @ (F3 @ v)


def mix(params, config, name, x):
    """Token mixer with its projections: [T, C] -> [T, C]."""
    kind, causal = config['mixer'], config['causal']
    v = linear(params, name + 'v', x * x if kind.startswith('poly-squares') else x)
    q, k = (linear(params, name + part, x) if name + part + '.weight' in params else None
            for part in 'qk')
    if kind == 'mean':
        return linear(params, name + 'out', mix_mean(v, causal))
    if kind.startswith('poly-'):
        return linear(params, name + 'out', mix_polynomial(kind, q, k, v, causal))
    if kind == 'scan':
        return linear(params, name + 'out', mix_scan(q, v, params[name + 'scan_decay'], params[name + 'scan_weight']))
    if kind == 'gated-scan':
        return linear(params, name + 'out', mix_gated_scan(q, k, v, causal))
    if kind == 'linformer':
        k, v = (params[name + 'project'][:len(x)].T @ a for a in (k, v))
    D = config['width'] // config['heads']
    if kind == 'reformer':
        heads = map(mix_reformer, k.split(D, 1), v.split(D, 1), params[name + 'rotation'])
        return linear(params, name + 'out', torch.cat(list(heads), 1))
    heads = []
    for head, (qh, kh, vh) in enumerate(zip(q.split(D, 1), k.split(D, 1), v.split(D, 1))):
        if kind == 'nystromformer':
            heads.append(mix_nystrom(qh, kh, vh))
            continue
        if not phi_of(config):
            heads.append(mix_softmax(qh, kh, vh, causal, kind))
            continue
        qh, kh = (phi(params, phi_of(config), name + 'phi', head, a) for a in (qh, kh))
        log_decay = None
        if kind == 'kernel-decay':
            place = head / (config['heads'] - 1) if config['heads'] > 1 else 0.5
            half_life = 16 * 64 ** place
            log_decay = -math.log(2) / half_life * params[name + 'decay'][head].exp()
        heads.append(mix_kernel(qh, kh, vh, causal, kind == 'kernel-count', log_decay))
    return linear(params, name + 'out', torch.cat(heads, 1))


def feed_forward(params, config, name, x):
    """[T, C] -> [T, C]."""
    ffn = config['ffn']
    p = linear(params, name + 'in', x)
    q = linear(params, name + 'gate', x) if ffn in GATED else None
    if ffn == 'gelu':
        hidden = gelu(p)
    elif ffn == 'relu2':
        hidden = F.relu(p) ** 2
    elif ffn in ('squares', 'squares-linear'):
        hidden = p ** 2
    elif ffn == 'bilinear':
        hidden = p * q
    elif ffn == 'swiglu':
        hidden = F.silu(p) * q
    else:
        raise ValueError(f'no such ffn: {ffn}')
    y = linear(params, name + 'out', hidden)
    return y + x @ params[name + 'linear.weight'] if ffn in LINEAR else y


def encode(params, config, tokens):
    """[T] token numbers -> one vector [C], with `bag` [2C]."""
    eps = config['norm_eps']
    x = embed(params, config, tokens)
    start = x[1 if config['pool'] == 'cls' else 0:]
    for index in range(config['blocks']):
        block, own = f'blocks.{index}.', of_block(config, index)
        h = layer_norm(params, block + 'norm1', x, eps)
        if config.get('conv', 0):
            h = short_conv(params[block + 'conv.weight'], h)
        x = x + mix(params, own, block + 'mix.', h)
        y = layer_norm(params, block + 'norm2', x, eps)
        x = x + feed_forward(params, config, block + 'ffn.', y)
    if config['pool'] in ('mean-first', 'max'):
        z = layer_norm(params, 'final_norm', x.mean(0) if config['pool'] == 'mean-first' else x.max(0).values, eps)
    else:
        x = layer_norm(params, 'final_norm', x, eps)
        z = {'cls': x[0], 'mean': x.mean(0), 'last': x[-1], 'none': x}[config['pool']]
    return torch.cat([z, layer_norm(params, 'bag_norm', start.mean(0), eps)]) if config.get('bag') else z


def forward(params, config, sequences):
    """Sequences (a list of 1-D integer tensors) -> logits [n, classes]; match: [n/2, classes]; tokens: one row each."""
    if config['task'] == 'tokens':
        return linear(params, 'head.0', torch.cat([encode(params, config, tokens) for tokens in sequences]))
    x = torch.stack([encode(params, config, tokens) for tokens in sequences])
    match = config['task'] == 'match'
    if match:  # sequences 2i and 2i+1 are pair i
        u, v = x[0::2], x[1::2]
        x = torch.cat({'concat': [u, v], 'compare': [u, v, u * v, u - v], 'distance': [u, v, u * v, (u - v).abs()]}[config.get('pair', 'concat')], 1)
    last = 2 if match else 1
    for index in range(last):
        x = gelu(linear(params, f'head.{index}', x))
    return linear(params, f'head.{last}', x)


# -- what golden files and the live oracle compare ----------------------------------------------

def random_batch(config, lengths, rng):
    """Returns {tokens, lengths, labels}, float32 as in the files."""
    rows = {'match': len(lengths) // 2, 'classify': len(lengths), 'tokens': sum(lengths)}[config['task']]
    batch = {'tokens': rng.integers(config['vocab'], size=sum(lengths)), 'lengths': lengths,
             'labels': rng.integers(config['classes'], size=rows)}
    if config['task'] == 'tokens':
        batch['labels'][::5] = -1  # these have no target
    if config.get('loss') == 'sigmoid':  # of every class of every example, whether it is true
        batch['labels'] = rng.integers(2, size=rows * config['classes'])
    return {name: np.asarray(value, np.float32) for name, value in batch.items()}


def answers(params, config, batch, dtype=torch.float64):
    """Returns {logits, loss, grad.*} of a batch as float32 arrays, computed in dtype."""
    leaves = {name: torch.tensor(value, dtype=dtype).requires_grad_()
              for name, value in params.items()}
    tokens = torch.tensor(batch['tokens']).long()
    sequences = tokens.split([int(length) for length in batch['lengths']])
    logits = forward(leaves, config, sequences)
    labels = torch.tensor(batch['labels'])
    if config.get('loss') == 'sigmoid':
        loss = F.binary_cross_entropy_with_logits(logits, labels.to(dtype).reshape(logits.shape))
    else:
        loss = F.cross_entropy(logits, labels.long(), ignore_index=-1)
    loss.backward()
    result = {'logits': logits.detach(), 'loss': loss.detach()[None]}
    for name, leaf in leaves.items():
        result['grad.' + name] = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return {name: value.numpy().astype(np.float32) for name, value in result.items()}
