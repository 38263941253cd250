#!/usr/bin/env bash
# link_loop_test.sh -- paths that lead in a circle are one sentence and exit code 2, wherever a path can stand.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

printf 'text,label\n' >train.csv
for i in $(seq 60); do printf 'good film %s,pos\nbad film %s,neg\n' "$i" "$i"; done >>train.csv
ln -s loop loop
mkdir loops && ln -s b loops/a && ln -s a loops/b
small=(--width 8 --heads 2 --blocks 1 --hidden 8 --steps 1 --threads 1 --wide 0 --regions 0)
shows_progress=yes
for loop in loop loop/x loops/a; do
  rm -rf m
  expect_error "$loop" data inspect "$loop"
  expect_error "$loop" data inspect train.csv --test "$loop"
  expect_error "$loop" data convert "$loop" --out x.csv
  expect_error "$loop" data convert train.csv --out "$loop.csv/x.csv"
  expect_error "$loop" data make listops --rows 5 --out "$loop"
  expect_error "$loop" data make listops --rows 500 --split --out "$loop"
  expect_error "$loop" data make pathfinder --rows 2 --out "$loop"
  expect_error "$loop" data make polynomial --rows 5 --out "$loop"
  expect_error "$loop" data ladder "$loop"
  expect_error "$loop" info "$loop"
  expect_error "$loop" eval "$loop" train.csv
  expect_error "$loop" predict "$loop" train.csv
  expect_error "$loop" train --data "$loop" "${small[@]}" --out m
  expect_error "$loop" train --data train.csv "${small[@]}" --out "$loop"
  expect_error "$loop" train --data train.csv "${small[@]}" --init "$loop" --out m
  expect_error "$loop" train --data train.csv "${small[@]}" --tokenizer "$loop" --out m
  expect_error "$loop" train --data train.csv "${small[@]}" --validation "$loop" --out m
  expect_error "$loop" train --data train.csv "${small[@]}" --test "$loop" --out m
  expect_error "$loop" tokenizer train --kind words --data train.csv --out "$loop"
  expect_error "$loop" tokenizer encode --model "$loop"
  expect_error "$loop" report "$loop"
  expect_error "$loop" arena --spec "$loop" --dir a
  expect_error "$loop" arena --task text --data text="$loop" --row linear-kernel --seeds 1 --dir a
  expect_error "$loop" arena --task text --data text=train.csv --row linear-kernel --seeds 1 --dir "$loop"
  expect_error "$loop" arena --task text --data text=train.csv --row linear-kernel --seeds 1 --dir a --results "$loop"
  expect_error "$loop" quickstart --steps 1 --dir "$loop"
done
# Data in folders with such links.
ln -s loop2 loops/train.csv
expect_error "loops" data inspect loops
[[ -L loop && -L loops/a && -L loops/b && ! -e x.csv ]] || fail "something was replaced"
exit $((failures > 0))
