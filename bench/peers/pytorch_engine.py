# pytorch_engine.py -- The rival of `linnet bench engine`: the same model, as fast as PyTorch goes.
"""Usage: pytorch_engine.py --model DIR --tokens FILE.safetensors --mode infer|train --batch B
           [--seconds S] [--micro M] [--offset K] [--threads N] [--pin CORE] [--processes N]
           [--fold] [--any-blas]

Loads a linnet model folder and a batch of sequences of one length (tokens, lengths, labels, as in
tests/golden), does one step as a warm-up, and prints one line of JSON: the logits of the batch (to
be compared before anything is timed) and the set-up. Then it obeys lines on standard input:
  run SECONDS   runs for about that time, at least one step, and answers one line of JSON:
                {"tokens": n, "seconds": s, "rss_peak_kb": VmHWM}
  quit          ends, as the end of the input does
With --seconds S it runs once for S seconds instead, without waiting for a line.

As installed: no further flag. One process, PyTorch's own number of threads.
Tuned: --processes 2. Each process has one thread, one core to itself, its share of the batch, and
a malloc that keeps its memory and asks for huge pages (fresh pages for every big tensor take a
quarter of the time otherwise; jemalloc and tcmalloc were no faster). In training a data-parallel
step would also have to add up the gradients of the processes; that is left out, which favours
PyTorch. Tokens and memory of the processes are added.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
KEEP = str(1 << 34)  # bytes: more than any tensor, so malloc never gives memory back
TUNED = {'MALLOC_TRIM_THRESHOLD_': KEEP, 'MALLOC_MMAP_THRESHOLD_': KEEP,
         'MALLOC_TOP_PAD_': str(1 << 26), 'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1'}


def parse(arguments):
    parser = argparse.ArgumentParser(description='PyTorch as a rival of linnet bench engine')
    parser.add_argument('--model', required=True, help='model folder')
    parser.add_argument('--tokens', required=True, help='safetensors: tokens, lengths, labels')
    parser.add_argument('--mode', required=True, choices=('infer', 'train'))
    parser.add_argument('--batch', required=True, type=int, help='sequences a step')
    parser.add_argument('--micro', type=int, default=0, help='sequences at once (default: all)')
    parser.add_argument('--offset', type=int, default=0, help='first sequence of the file')
    parser.add_argument('--threads', type=int, default=0, help='default: what PyTorch takes')
    parser.add_argument('--pin', type=int, default=-1, help='core to stay on')
    parser.add_argument('--processes', type=int, default=1, help='pinned processes of 1 thread')
    parser.add_argument('--seconds', type=float, default=0, help='run once, then end')
    parser.add_argument('--fold', action='store_true', help='phi into q and k (infer only)')
    parser.add_argument('--any-blas', action='store_true', help='accept a reference BLAS')
    options = parser.parse_args(arguments)
    if options.fold and options.mode == 'train':
        parser.error('--fold is for inference only')
    return options


def say(answer):
    print(json.dumps(answer), flush=True)


def obey(options, run):
    """The line protocol: run(seconds) returns the answer."""
    if options.seconds > 0:
        say(run(options.seconds))
        return
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            return
        if len(words) != 2 or words[0] != 'run':
            sys.exit(f'pytorch_engine.py: expected "run SECONDS" or "quit", not "{line.strip()}"')
        say(run(float(words[1])))


# -- several processes: this one only hands lines on, and never loads PyTorch -------------------

def lead(options):
    """Starts the pinned processes and joins their answers."""
    share, rest = divmod(options.batch, options.processes)
    if rest:
        sys.exit('pytorch_engine.py: --processes must divide --batch')
    cores = sorted(os.sched_getaffinity(0))
    children = []
    for index in range(options.processes):
        command = [sys.executable, str(HERE), '--model', options.model, '--tokens', options.tokens,
                   '--mode', options.mode, '--batch', str(share), '--micro', str(options.micro),
                   '--offset', str(options.offset + index * share), '--threads', '1',
                   '--pin', str(cores[index % len(cores)])]
        command += ['--fold'] * options.fold + ['--any-blas'] * options.any_blas
        children.append(subprocess.Popen(command, env={**os.environ, **TUNED}, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def hear():
        lines = [child.stdout.readline() for child in children]
        if not all(lines):
            sys.exit('pytorch_engine.py: a process ended early')
        return [json.loads(line) for line in lines]

    def run(seconds):
        for child in children:
            print('run', seconds, file=child.stdin, flush=True)
        answers = hear()
        tokens = sum(answer['tokens'] for answer in answers)
        # Rates are added: the processes do not wait for each other.
        rate = sum(answer['tokens'] / answer['seconds'] for answer in answers)
        return {'tokens': tokens, 'seconds': tokens / rate,
                'rss_peak_kb': sum(answer['rss_peak_kb'] for answer in answers)}

    ready = hear()
    say({**ready[0], 'logits': [row for answer in ready for row in answer['logits']],
         'processes': options.processes})
    obey(options, run)
    for child in children:
        child.stdin.close()
        child.wait()


# -- one process --------------------------------------------------------------------------------

def find_blas(torch):
    """Returns (name, threads) of the matrix library in use; threads 0 when it does not say."""
    with open('/proc/self/maps', encoding='ascii') as file:
        paths = sorted({line.split()[-1] for line in file if 'blas' in line or 'blis' in line})
    for path in paths:  # Debian's OpenBLAS is called libblas.so.3 too: ask for its own function
        library = ctypes.CDLL(path)
        if hasattr(library, 'openblas_get_num_threads'):
            return 'openblas', library.openblas_get_num_threads()
    if torch.backends.mkl.is_available():
        return 'mkl', torch.get_num_threads()
    return ('blis', 0) if any('blis' in path for path in paths) else ('reference', 1)


def peak_memory_kb():
    with open('/proc/self/status', encoding='ascii') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))


class Engine:
    """The model on a batch of equal lengths, with weights of a linnet model folder.

    Measured on the model of the bench, two cores, and all within 5% of each other: three
    projections or one (kept: one, best in training); matmul (kept) or einsum; addmm with weights
    as stored (kept) or F.linear. Sequences one by one (--micro 1) gain 15 to 30% as installed,
    where big tensors are fresh pages each time, and nothing when tuned. Scripting, freezing gain
    nothing (this build has no fuser for the CPU), oneDNN by optimize_for_inference loses 5 to 10%.
    """

    def __init__(self, torch, config, params, fold):
        self.torch, self.config, self.fold = torch, config, fold
        if config['task'] != 'classify' or config['causal'] or config['mixer'] == 'mean':
            sys.exit('pytorch_engine.py: only bidirectional kernel and softmax classifiers')
        if fold and (config['mixer'], config['phi']) != ('kernel', 'softplus'):
            sys.exit('pytorch_engine.py: --fold is for kernel attention with a softplus phi')
        for block in (f'blocks.{index}.mix.' for index in range(config['blocks'])):
            for kind in ('.weight', '.bias'):
                q, k, v = (params.pop(block + part + kind) for part in 'qkv')
                if fold:  # softplus((x Wq + bq) W) = softplus(x (Wq W) + bq W): inference only
                    W = torch.block_diag(*params[block + 'phi.weight'])
                    q, k = q @ W, k @ W
                params[block + 'qkv' + kind] = torch.cat([q, k, v], -1)
        self.params = {name: value.requires_grad_() for name, value in params.items()}

    def linear(self, name, x):
        return self.torch.addmm(self.params[name + '.bias'], x, self.params[name + '.weight'])

    def norm(self, name, x):
        weight, bias = self.params[name + '.weight'], self.params[name + '.bias']
        return self.torch.nn.functional.layer_norm(x, weight.shape, weight, bias,
                                                   self.config['norm_eps'])

    def phi(self, name, x):
        """[B, H, T, D] -> features of the same shape."""
        functional = self.torch.nn.functional
        if self.config['phi'] == 'softplus':
            return functional.softplus(x if self.fold else x @ self.params[name + 'phi.weight'])
        return functional.elu(x) + 1

    def mix(self, name, x, B):
        """Token mixer: [B*T, C] -> [B*T, C]."""
        H, C = self.config['heads'], x.shape[1]
        qkv = self.linear(name + 'qkv', x).view(B, -1, 3, H, C // H)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        if self.config['mixer'] == 'softmax':
            y = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3) @ v
        else:
            q, k = self.phi(name, q), self.phi(name, k)
            S, z = k.transpose(2, 3) @ v, k.sum(2).unsqueeze(3)
            y = (q @ S) / (q @ z + 1e-6)
        return self.linear(name + 'out', y.transpose(1, 2).reshape(x.shape))

    def embed(self, tokens):
        torch, config = self.torch, self.config
        x = self.params['embed.weight'][tokens]
        if config['positions'] == 'learned':
            x = x + self.params['embed.positions'][:tokens.shape[1]]
        elif config['positions'] == 'sinusoidal':
            import twin
            x = x + twin.sinusoids(tokens.shape[1], config['width'], x.dtype)
        if config['pool'] == 'cls':
            x = torch.cat([self.params['embed.cls'].expand(len(x), 1, -1), x], 1)
        return x

    def forward(self, tokens):
        """[B, T] token numbers -> logits [B, classes]."""
        gelu = self.torch.nn.functional.gelu
        x = self.embed(tokens)
        shape = x.shape
        x = x.reshape(-1, shape[2])
        for block in (f'blocks.{index}.' for index in range(self.config['blocks'])):
            x = x + self.mix(block + 'mix.', self.norm(block + 'norm1', x), shape[0])
            y = self.linear(block + 'ffn.in', self.norm(block + 'norm2', x))
            x = x + self.linear(block + 'ffn.out', gelu(y, approximate='tanh'))
        x = self.norm('final_norm', x).view(shape)
        x = {'cls': lambda: x[:, 0], 'mean': lambda: x.mean(1),
             'last': lambda: x[:, -1]}[self.config['pool']]()
        return self.linear('head.1', gelu(self.linear('head.0', x), approximate='tanh'))


def read_batch(options, torch, twin):
    """Returns tokens [B, T] and labels [B] of the sequences asked for."""
    arrays = twin.read_safetensors(options.tokens)
    lengths = arrays['lengths'].astype(int)
    first, last = options.offset, options.offset + options.batch
    if last > len(lengths) or len(set(lengths)) != 1:
        sys.exit(f'pytorch_engine.py: {options.tokens} must hold {last} sequences of one length')
    tokens = torch.tensor(arrays['tokens']).long().view(len(lengths), -1)[first:last]
    return tokens, torch.tensor(arrays['labels']).long()[first:last]


def work(options):
    """Loads the model, says its logits, and runs when told to."""
    if options.threads:  # before PyTorch and its BLAS start their threads
        for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
            os.environ[name] = str(options.threads)
    if options.pin >= 0:
        os.sched_setaffinity(0, {options.pin})
    sys.path.insert(0, str(HERE.parents[2] / 'tests' / 'oracle'))
    import torch
    import twin
    torch.set_flush_denormal(True)
    if options.threads:
        torch.set_num_threads(options.threads)
    blas, blas_threads = find_blas(torch)
    if blas == 'reference' and not options.any_blas:
        sys.exit('pytorch_engine.py: PyTorch runs on the reference BLAS here, 20 times slower than'
                 ' it can be; apt-get install libopenblas0 (or --any-blas)')

    engine = Engine(torch, *twin.read_model(options.model), options.fold)
    tokens, labels = read_batch(options, torch, twin)
    parts = list(zip(tokens.split(options.micro or options.batch),
                     labels.split(options.micro or options.batch)))
    optimizer = torch.optim.AdamW(engine.params.values(), lr=1e-4)  # foreach: no faster

    def infer():
        with torch.inference_mode():
            return torch.cat([engine.forward(part) for part, _ in parts])

    def train():
        optimizer.zero_grad(set_to_none=True)
        for part, label in parts:
            loss = torch.nn.functional.cross_entropy(engine.forward(part), label, reduction='sum')
            (loss / options.batch).backward()
        optimizer.step()

    def run(seconds):
        step, steps, start = train if options.mode == 'train' else infer, 0, time.perf_counter()
        while True:
            step()
            steps += 1
            elapsed = time.perf_counter() - start
            if elapsed + 0.5 * elapsed / steps >= seconds:
                return {'tokens': steps * tokens.numel(), 'seconds': elapsed,
                        'rss_peak_kb': peak_memory_kb()}

    logits = infer().tolist()
    run(0)
    say({'logits': logits, 'pytorch': torch.__version__, 'threads': torch.get_num_threads(),
         'blas': blas, 'blas_threads': blas_threads, 'processes': 1, 'mode': options.mode})
    obey(options, run)


def main():
    options = parse(sys.argv[1:])
    if options.processes > 1:
        lead(options)
    else:
        work(options)


if __name__ == '__main__':
    main()
