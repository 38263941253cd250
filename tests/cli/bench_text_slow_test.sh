#!/usr/bin/env bash
# bench_text_slow_test.sh -- naive Bayes and fastText on some real reviews; 77 (skipped) without the data.
set -euo pipefail
if [[ ! -e ${LINNET_DATA-}/imdb/train.tsv.xz ]]; then
  echo "skipped: LINNET_DATA names no folder with imdb/train.tsv.xz"
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for part in train test; do # 1500 of each class: the file is sorted by class
  xz -dc "$LINNET_DATA/imdb/$part.tsv.xz" >"$dir/all"
  (head -n 1500 "$dir/all" && tail -n 1500 "$dir/all") >"$dir/$part.tsv"
done
against=nb
if command -v fasttext >/dev/null; then against=nb,fasttext; else echo "fasttext is not installed: tested without it"; fi
"$LINNET_BIN" bench text --data "$dir/train.tsv" --test "$dir/test.tsv" --escapes --label-column 1 --text-column 4 --header no \
  --against $against --steps 5 --width 16 --heads 2 --blocks 1 --hidden 16 --length 64 --json >"$dir/out"
python3 - "$dir/out" <<'P'
import json, sys
rows = {row['model']: row for row in map(json.loads, open(sys.argv[1]))}
print({name: row['accuracy'] for name, row in rows.items()})
assert rows['nb']['accuracy'] > 0.84 and rows['nb']['texts'] == 3000, rows
assert 'fasttext, words' not in rows or rows['fasttext, words']['accuracy'] > 0.78, rows
P
