#!/usr/bin/env bash
# profile_test.sh -- linnet train --profile: model, training and tokenizer of the profile, the user's flags on top.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1
shows_progress=yes
has() { # FOLDER SETTING...: GROUP.NAME=VALUE in run.json
  python3 - "$@" <<'P' || fail "$*"
import json, sys
run = json.load(open(sys.argv[1] + '/run.json'))
for setting in sys.argv[2:]:
    name, value = setting.split('=')
    group, name = name.split('.')
    if str(run[group][name]) != value:
        sys.exit(f'{group}.{name} = {run[group][name]}, not {value}')
P
}
"$LINNET_BIN" data make listops --rows 100 --min-tokens 5 --max-tokens 30 --out lists.tsv 2>/dev/null || fail "data"
for i in $(seq 60); do
  echo "some good text $i,a"
  echo "a bad one $i,b"
done >texts.csv
"$LINNET_BIN" train --data lists.tsv --profile desk --steps 2 --batch 4 --out lists >out 2>&1 || fail "$(cat out)"
grep -q '^profile    desk, row linear-kernel' out || fail "not said: $(cat out)"
has lists model.width=64 model.blocks=2 model.length=2000 model.head_units=128 model.phi=softplus model.vocab=17 \
  train.lr=0.003 train.warmup=50 train.steps=2 train.batch=4 train.evaluations=5 train.minutes=0.0
"$LINNET_BIN" train --data texts.csv --profile paper --row 2xoglu --width 16 --heads 2 --blocks 1 --hidden 16 --epochs 0.1 --evaluations 1 \
  --out texts >out 2>&1 || fail "$(cat out)"
grep -q '^profile    paper, row 2xoglu' out || fail "not said: $(cat out)"
grep -q '^tokens     bytes' out || fail "tokenizer: $(cat out)"
has texts model.width=16 model.length=4000 model.head_units=1024 model.phi=2xoglu model.vocab=256 train.schedule=rsqrt train.lr=0.05 \
  train.warmup=8000 train.weight_decay=0.1 train.steps=0 train.epochs=0.1
"$LINNET_BIN" train --data texts.csv --profile desk --tokenizer words --steps 1 --out words >out 2>&1 || fail "$(cat out)"
grep -q '^tokens     words' out || fail "tokenizer: $(cat out)"
has words model.width=32 model.length=4000 model.init_embed=0.1 model.init_qk=4.0 model.dropout=0.0 train.lr=0.004 train.embed_rate=20.0 train.drop_tokens=0.0 train.ema=0.998 train.choose_by=loss

expect_error '[--profile] no such profile: "magic"; there are: paper, desk' train --data none --profile magic --out x
expect_error '[--row] no such row' train --data none --row magic --out x
expect_error '[--task] no such task of profile desk: "image"; there are: text, matching, listops' \
  train --data none --task image --profile desk --out x
printf 'a B\nc O\n\n' >tags.conll
for i in $(seq 5); do cat tags.conll tags.conll; done >many.conll
expect_error '[--task] no such task of profile desk: "tagging"' train --data many.conll --validation tags.conll --profile desk --out x
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
