#!/usr/bin/env bash
# list_test.sh -- linnet list shows every kind, its page is up to date, and every row of Table 1 can be built.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

"$LINNET_BIN" list --json >"$dir/list" || fail "list --json"
python3 - "$dir/list" <<'PY' || fail "fields of list --json"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for row in rows:
    assert {'registry', 'name', 'cost', 'paper', 'causal', 'streaming'} <= row.keys(), row
    assert row['cost'] and isinstance(row['causal'], bool), row
names = {(row['registry'], row['name']): row for row in rows}
assert not names['mixers', 'linformer']['causal'] and names['mixers', 'softmax']['causal']
assert names['mixers', 'kernel']['streaming'] and not names['mixers', 'softmax']['streaming']
assert ('features', 'aoglu') in names and ('ffns', 'bilinear') in names
PY
"$LINNET_BIN" list --markdown | diff -q - "$LINNET_ROOT/docs/kinds.md" >/dev/null ||
  fail "docs/kinds.md is old: linnet list --markdown > docs/kinds.md"
"$LINNET_BIN" list features | grep -q softplus || fail "list features"

# Every row of Table 1: the paper's own counts, and none above 110% of the Transformer.
declare -A known=([transformer]=21019658 [1xglu]=21412874 [3xaoglu]=21904394)
for row in transformer linear-kernel 1xglu 2xglu 3xglu orth-linear 1xoglu 2xoglu 3xaoglu; do
  count=$("$LINNET_BIN" info --profile paper --task listops --row $row --json | sed 's/.*"parameters":\([0-9]*\).*/\1/')
  [[ -z ${known[$row]:-} || ${known[$row]} == "$count" ]] || fail "$row has $count parameters"
  ((count <= 21019658 * 11 / 10)) || fail "$row has $count parameters, more than 110%"
done

# And can be trained.
"$LINNET_BIN" quickstart --dir "$dir/q" --steps 3 --row 2xoglu --row 3xaoglu --json >"$dir/q.json" || fail "quickstart --row"
grep -q '"model":"3xaoglu"' "$dir/q.json" || fail "quickstart --row names its models"
"$LINNET_BIN" info "$dir/q/2xoglu" | grep -q '^phi  *2xoglu' || fail "info of a trained row"
exit $((failures > 0))
