#!/usr/bin/env bash
# report_scipy_slow_test.sh -- every interval and test of linnet report against live SciPy; 77 (skipped) without it.
set -euo pipefail
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import scipy.stats' 2>/dev/null; then python=$candidate && break; fi
done
if [[ -z $python ]]; then
  echo "skipped: python3-scipy is not installed"
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for seeds in 3 5 9; do
  "$python" "$LINNET_ROOT/tests/report/synthetic_arena.py" "$dir/arena.jsonl" $seeds
  "$LINNET_BIN" report "$dir/arena.jsonl" --against linear-kernel --json >"$dir/cells.jsonl"
  "$python" - "$dir/cells.jsonl" $seeds <<'PY'
import json, sys
import numpy as np
from scipy import stats

cells = [json.loads(line) for line in open(sys.argv[1])]
cells = [cell for cell in cells if 'missing' not in cell]
compared = 0
for task in ('text', 'matching', 'listops'):
    rows = {cell['row']: cell for cell in cells if cell['task'] == task}
    values = {name: {run['seed']: run['accuracy'] for run in cell['runs']} for name, cell in rows.items()}
    p = {}
    for name, cell in rows.items():
        x = np.array(list(values[name].values()))
        low, high = stats.bootstrap((x,), np.mean, n_resamples=20000, method='percentile', random_state=1).confidence_interval
        spread = x.std(ddof=1) / np.sqrt(len(x))
        assert abs(cell['low'] - low) < 0.15 * spread and abs(cell['high'] - high) < 0.15 * spread, (cell, low, high)
        if name == 'linear-kernel':
            continue
        seeds = sorted(values[name].keys() & values['linear-kernel'].keys())
        a, b = (np.array([values[row][seed] for seed in seeds]) for row in (name, 'linear-kernel'))
        assert cell['pairs'] == len(seeds)
        # Accuracies here are multiples of 1/2000, so sums tie: as whole numbers they do so without rounding.
        exact = stats.permutation_test((np.rint(2000 * (a - b)),), np.sum, permutation_type='samples', n_resamples=np.inf).pvalue
        assert abs(cell['p_exact'] - exact) < 1e-12, (cell, exact)
        t = stats.ttest_rel(a, b)
        p[name] = t.pvalue
        assert abs(cell['p_t'] - t.pvalue) < 1e-10, (cell, t)
        interval = stats.t.interval(0.95, len(a) - 1, np.mean(a - b), stats.sem(a - b))
        assert np.allclose([cell['difference_low'], cell['difference_high']], interval, atol=1e-12), (cell, interval)
        compared += 1
    worst = 0
    for rank, name in enumerate(sorted(p, key=p.get)):
        worst = max(worst, p[name] * (len(p) - rank))
        assert abs(rows[name]['p_holm'] - min(worst, 1)) < 1e-10, rows[name]
print(f'{sys.argv[2]} seeds: {compared} comparisons agree with SciPy')
PY
done
