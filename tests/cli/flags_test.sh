#!/usr/bin/env bash
# flags_test.sh -- no flag takes what it cannot mean: empty values, numbers that are none, settings without effect.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

printf 'text,label\n' >train.csv
for i in $(seq 60); do printf 'good film %s,pos\nbad film %s,neg\n' "$i" "$i"; done >>train.csv

# Numbers: of every verb one, of every type one. Empty is no number either.
for value in nan -inf 0x10 1e400 ' 5' +5 '' -1; do
  expect_error "--record-limit" data inspect train.csv --record-limit "$value"
  expect_error "--seconds" bench engine --brief --seconds "$value"
  expect_error "--limit" bench mixers --limit "$value"
  expect_error "--seed" data make listops --rows 10 --seed "$value" --out x.tsv
  expect_error "--seed" quickstart --steps 1 --seed "$value" --dir q
  expect_error "--threads" predict none --threads "$value"
  expect_error "--top" predict none --top "$value"
  expect_error "--autotune" train --data train.csv --autotune "$value" --out m
  expect_error "--seed" data make pathfinder --rows 1 --seed "$value" --out x.bin
  expect_error "--budget" arena --budget "$value" --dir a
  expect_error "width" info --width "$value"
done
for value in nan 0x1 ' 0.5'; do
  expect_error "dropout" info --dropout "$value"
  expect_error "--contrast" data make pathfinder --rows 1 --contrast "$value" --out x.bin
  expect_error "--coverage" tokenizer train --data train.csv --coverage "$value" --out t.model
  expect_error "--validation-share" train --data train.csv --validation-share "$value" --out m
done
expect_error "init_qk" quickstart --steps 1 --dir q --init-qk 1e999
expect_error "[--budget]" arena --budget 1d --dir a
expect_error "[--budget]" arena --budget m --dir a
for json in '{"seeds": 1e999}' '{"rows": [{"name": "x", "row": "linear-kernel", "settings": {"lr": 1e999}}]}'; do
  echo "$json" >spec.json && expect_error "[spec.json" arena --spec spec.json --dir a
done
cp -r "$LINNET_ROOT/tests/golden/kernel_softplus" model && sed -i 's/"dropout": [^,]*/"dropout": 1e999/' model/config.json && expect_error "config.json" info model
[[ ! -e q && ! -e m && ! -e a && ! -e x.tsv && ! -e x.bin && ! -e t.model ]] || fail "something was written: $(ls)"

# Every flag: an empty value.
declare -A seen
for verb in quickstart train eval predict arena info report "data inspect" "data convert" "data make listops" "data make polynomial" "data make pathfinder" \
  "data ladder" "bench engine" "bench mixers" "bench polynomial" "bench text" "tokenizer train" "tokenizer encode" "tokenizer decode"; do
  read -ra words <<<"$verb"
  "$LINNET_BIN" "${words[@]}" --help >help || fail "$verb --help"
  while read -r flag; do
    [[ -n ${seen[$flag]-} ]] && continue
    seen[$flag]=yes
    expect_error "$flag: is empty" "${words[@]}" "$flag" ''
  done < <(sed -n 's/^  \(--[a-z0-9-]*\) \(TEXT\|U\?INT\|FLOAT\|NUMBER\|true\).*/\1/p' help)
done
[[ ${#seen[@]} -gt 100 ]] || fail "${#seen[@]} flags alone"

# Settings that change nothing.
expect_error "[config.phi]" info --mixer softmax --phi foo
expect_error "[config.phi]" info --mixer softmax --phi elu1
expect_error "[config.phi]" quickstart --row transformer --phi elu1 --dir q
expect_error "[config.phi]" arena --task listops --row transformer --phi elu1 --dir a
expect_error "[config.pair]" info --width 16 --heads 2 --pair distance
expect_error "[config.ngram_buckets]" info --width 16 --heads 2 --ngram-buckets 64
expect "elu1" info --mixer kernel --phi elu1
expect "elu1" info --mixer softmax --first-mixer kernel --phi elu1
expect_error "[train.csv] has no split foo" data inspect train.csv --split foo
expect_error "[train.csv] has no split test" data convert train.csv --split test --out x.csv
mkdir texts && printf 'a text\n' >texts/a.txt
expect_error "[texts] has no split foo" data inspect texts --split foo
expect_error "[info]" info --task listops --width 16
expect_error "[info]" info "$LINNET_ROOT/tests/golden/kernel_softplus" --task listops --row transformer
expect_error "--table1" arena --table1 --row transformer --dir a
expect_error "[--title]" report none.jsonl --title 'A title'
expect_error "[--lower]" tokenizer train --data train.csv --kind bpe --lower --out t.model
expect_error "[--coverage]" tokenizer train --data train.csv --kind words --coverage 0.9 --out t.model
[[ ! -e q && ! -e a && ! -e t.model && ! -e x.csv ]] || fail "something was written: $(ls)"
expect_error "--top" predict none --top 2 --json
shows_progress=yes
expect_error "--validation-share" train --data train.csv --validation train.csv --validation-share 0.2 --out m
expect_error "[train.pretrain_share]" train --data train.csv --pretrain-share 0.2 --out m
expect_error "[config.phi]" train --data train.csv --mixer softmax --phi elu1 --out m
exit $((failures > 0))
