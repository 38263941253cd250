#!/usr/bin/env bash
# data_test.sh -- linnet data: inspect, make and convert on real files, pipes and broken input.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

printf 'text,label\n"a ""good"" film",pos\n"bad\nfilm",neg\nfine,pos\n' >train.csv
printf 'text,label\nfine,pos\nnew,odd\n' >test.csv
expect "records    3" data inspect train.csv
expect "1 text (text), 2 label (label)" data inspect train.csv
expect "warning    a class with one example" data inspect train.csv
expect "in train and in test: 1 contents" data inspect train.csv --test test.csv
expect '"records":3' data inspect train.csv --json
"$LINNET_BIN" data inspect train.csv --test test.csv --json >json 2>err || fail "inspect --json"
python3 - json <<'PY' || fail "fields of inspect --json"
import json, sys
train, test, between = [json.loads(line) for line in open(sys.argv[1])]
assert train["split"] == "train" and test["split"] == "test", (train, test)
assert train["classes"] == [{"label": "neg", "records": 1}, {"label": "pos", "records": 2}]
assert train["bytes"]["max"] == 13 and train["distinct"] == 3
assert between == {"between": ["train", "test"], "shared": 1}
PY

# Standard input, plain and packed, guessed and told.
"$LINNET_BIN" data inspect - <train.csv 2>err | grep -q "records    3" || fail "CSV from a pipe"
gzip -c train.csv | "$LINNET_BIN" data inspect - --format csv 2>err | grep -q "records    3" || fail "gzip from a pipe"
printf 'once upon a time\n' | "$LINNET_BIN" data inspect - 2>err | grep -q "standard input\|- (text" || fail "text from a pipe"
printf '' | "$LINNET_BIN" data inspect - >out 2>err && fail "an empty pipe"
grep -qF "[standard input] has no records" err || { fail "message of an empty pipe"; cat err; }

# There and back again.
expect "" data convert train.csv --out train.jsonl
expect "" data convert train.jsonl --out again.csv
expect '"distinct":3' data inspect again.csv --json
"$LINNET_BIN" data inspect train.csv --test again.csv 2>err | grep -q "in train and in test: 3 contents" || fail "convert keeps the records"
"$LINNET_BIN" data convert train.csv --out - 2>err | grep -q '"pos","a ""good"" film"' || fail "convert to a pipe"

# Generators.
expect "" data make listops --rows 200 --seed 7 --out sample.tsv
expect "" data make listops --rows 200 --seed 7 --out sample2.tsv
cmp sample.tsv sample2.tsv || fail "make listops is not the same twice"
expect "lra-listops" data inspect sample.tsv
expect "records    200" data inspect sample.tsv
head -1 sample.tsv | grep -q $'^Source\tTarget\r$' || fail "header of make listops"
expect "" data make listops --rows 500 --split --out listops
[[ $(wc -l <listops/basic_train.tsv) -eq 481 && $(wc -l <listops/basic_val.tsv) -eq 11 && $(wc -l <listops/basic_test.tsv) -eq 11 ]] || fail "rows of make listops --split"
expect "in train and in test: nothing" data inspect listops
expect "" data make polynomial --rows 100 --degree 2 --out poly.tsv
expect "records    100" data inspect poly.tsv
expect "1 text (text), 2 label (label)" data inspect poly.tsv

expect "__label__x __label__y text" data formats
expect '"name":"cifar10"' data formats --json
for format in $("$LINNET_BIN" data formats --json | sed 's/.*"name":"\([^"]*\)".*/\1/'); do
  grep -q "| \`$format\` |" "$LINNET_ROOT/docs/data.md" || fail "docs/data.md does not know $format"
done

# Faults.
expect_error "[none.csv] cannot open" data inspect none.csv
expect_error 'no column "lable"; there are 2: 1 text, 2 label' data inspect train.csv --label-column lable
expect_error "no such format" data inspect train.csv --format magic
: >empty.csv && expect_error "[empty.csv] has no records" data inspect empty.csv
printf 'text,label\na,b\nc\n' >ragged.csv && expect_error "[ragged.csv:3:1] this row has 1 fields" data inspect ragged.csv
printf 'text,label\n"a,b\n' >open.csv && expect_error "[open.csv:2:1] a quote that is never closed" data inspect open.csv
{ printf 'label,text\nx,' && head -c 3000000 /dev/zero | tr '\0' 'y'; } >long.csv
expect_error "[long.csv:2:1] a record of more than 1048576 bytes" data inspect long.csv --record-limit 1
# A line of 2 GB: refused at the limit, long before the memory is full (no ulimit: the address sanitizer maps terabytes).
{ printf 'text,label\na,b\n' && head -c 2147483648 /dev/zero | tr '\0' x; } 2>/dev/null | python3 -c '
import os, resource, subprocess, sys
code = subprocess.call([os.environ["LINNET_BIN"], "data", "inspect", "-", "--format", "csv"])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
sys.exit(code if peak < 1024 else f"{peak} MB of memory")' >out 2>err
[[ ${PIPESTATUS[1]} -eq 2 ]] && grep -q ':3:1\] a record of more than 67108864 bytes' err || fail "a line of 2 GB: $(cat err)"
expect "records    1" data inspect long.csv
printf 'label\ttext\nx\ta\\qb\n' >escape.tsv && expect_error "[escape.tsv:2:4] a backslash" data inspect escape.tsv --escapes
printf 'text,label\na\0b,x\n\xff\xfe,x\n' >bytes.csv
expect "NUL bytes  1 records, the first at bytes.csv:2:5" data inspect bytes.csv
expect "not UTF-8 in 1 records, the first at bytes.csv:3:4" data inspect bytes.csv
expect_error "not UTF-8" data convert bytes.csv --out bytes.jsonl
[[ ! -e bytes.jsonl ]] && ! compgen -G ".linnet-*" >/dev/null || fail "a broken convert leaves a file"
{ printf '\177ELF\2\1\1' && for i in {1..9}; do printf "$(printf '\\%03o' {0..8} {128..255})"; done; } >program && expect_error "[program] is no layout that linnet knows; give --format" data inspect program
expect "(text" data inspect program --format text
expect_error "--out" data make listops --rows 5
expect_error "[--out] must end with" data convert train.csv --out train.xls
expect_error "[listops.max_tokens]" data make listops --rows 5 --out x.tsv --min-tokens 10 --max-tokens 5
expect_error "cannot write" data make polynomial --rows 5 --out none/x.tsv
expect_error "[polynomial.degree]" data make polynomial --rows 5 --degree 9 --out x.tsv
# What a part of each tree is worth, of a file and of new trees.
"$LINNET_BIN" data ladder listops/basic_test.tsv >ladder 2>err || fail "data ladder: $(cat err)"
grep -q "^all of levels 1 to 3 .*%" ladder && grep -q "^10 trees$" ladder || fail "data ladder says $(cat ladder)"
"$LINNET_BIN" data ladder --rows 200 --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["rungs"]; assert len(r) == 6 and r[-1]["accuracy"] > 0.6 > r[0]["accuracy"]' || fail "data ladder --json"
"$LINNET_BIN" data make listops --split --rows 500 --test 100 --out larger 2>err && [[ $(wc -l <larger/basic_train.tsv) -eq 481 && $(wc -l <larger/basic_test.tsv) -eq 101 ]] || fail "make listops --test"
printf 'Source\tTarget\n( [MAX 1 2 ) ] oops\t2\n' >bad.tsv
expect_error "oops" data ladder bad.tsv
exit $((failures > 0))
