#!/usr/bin/env bash
# report_test.sh -- linnet report: the page's figures are those of the records, it asks no network, and bad input is one sentence.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

python3 "$LINNET_ROOT/tests/report/synthetic_arena.py" arena.jsonl || fail "synthetic_arena.py"
"$LINNET_BIN" report arena.jsonl --out page.html --markdown table.md --csv table.csv --title 'A & B' --json >cells.jsonl 2>err ||
  fail "report"
[[ $(wc -l <err) -eq 3 ]] || fail "one line a file that was written"

python3 - <<'PY' || fail "contents of the report"
import collections, csv, html.parser, json, re, statistics

runs = collections.defaultdict(dict)
for line in open('arena.jsonl'):
    record = json.loads(line)
    if record.get('status') == 'ok':
        runs[record['task'], record['row']][record['seed']] = record['test']['accuracy']

# --json and --csv: the statistics by Python's own.
lines = [json.loads(line) for line in open('cells.jsonl')]
cells = {(c['task'], c['row']): c for c in lines if 'missing' not in c}
assert cells.keys() == runs.keys()
for key, cell in cells.items():
    values = list(runs[key].values())
    assert cell['n'] == len(values) and abs(cell['mean'] - statistics.mean(values)) < 1e-12, cell
    assert abs(cell['deviation'] - statistics.stdev(values)) < 1e-12 and cell['best'] == max(values), cell
    assert min(values) <= cell['low'] <= cell['mean'] <= cell['high'] <= max(values), cell
    assert {run['seed'] for run in cell['runs']} == runs[key].keys(), cell
    assert (cell['p_holm'] is None) == (key[1] == 'transformer'), cell
missing = [(c['task'], c['row'], c['seed'], c['failed']) for c in lines if 'missing' in c]
assert missing == [('matching', '3xaoglu', s, False) for s in (3, 4, 5)] + [('listops', '2xoglu', 3, True)], missing
table = {(row['task'], row['row']): row for row in csv.DictReader(open('table.csv'))}
assert all(float(table[key]['mean']) == cell['mean'] for key, cell in cells.items())

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tables, self.ids, self.links, self.fetches, self.text, self.titles = [], set(), [], [], None, []
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == 'table': self.tables.append((a['class'], []))
        if tag == 'tr': self.tables[-1][1].append([])
        if tag in ('td', 'th'): self.tables[-1][1][-1].append(''); self.text = tag
        if tag == 'td' and self.tables[-1][0] == 'scores': self.titles.append(a.get('title', ''))
        if tag == 'small' and self.text: self.tables[-1][1][-1][-1] += ' '
        if 'id' in a: assert a['id'] not in self.ids, a; self.ids.add(a['id'])
        if a.get('href', '').startswith('#'): self.links.append(a['href'][1:])
        elif 'href' in a or 'src' in a or tag in ('link', 'iframe', 'img', 'object', 'base'): self.fetches.append((tag, a))
    def handle_endtag(self, tag):
        if tag in ('td', 'th'): self.text = None
    def handle_data(self, data):
        if self.text: self.tables[-1][1][-1][-1] += data

source = open('page.html', encoding='utf-8').read()
page = Page()
page.feed(source)
assert '<title>A &amp; B</title>' in source
# Nothing is fetched: no element refers to anything outside, no style or script does, and the browser is told to refuse.
assert not page.fetches, page.fetches
assert "default-src 'none'" in source
assert not re.search(r'url\(|@import|sourceMappingURL|\bfetch\(|XMLHttpRequest|WebSocket|import\(', source)
assert all(link in page.ids for link in page.links), set(page.links) - page.ids

# Table 1: every mean, best and figure of the paper; every figure names its seeds.
names = ['transformer', 'linear-kernel', '1xglu', '2xglu', '3xglu', 'orth-linear', '1xoglu', '2xoglu', '3xaoglu']
(_, rows), = [t for t in page.tables if t[0] == 'scores']
assert rows[0] == ['Model', 'Classification', 'Matching', 'ListOps'], rows[0]
shown = lambda share: f'{share * 100:.2f}'
for name, row in zip(names, rows[1:], strict=True):
    for task, text in zip(('text', 'matching', 'listops'), row[1:], strict=True):
        cell = cells[task, name]
        assert text == f"{shown(cell['mean'])} best {shown(cell['best'])} paper {shown(cell['paper'])}", (name, task, text)
assert rows[1][3].endswith('paper 36.37') and rows[9][1].endswith('paper 66.06')
assert all(re.match(r'n = \d, seeds 1.*; commit 0000000; synthetic', title) for title in page.titles), page.titles

# Details: the tests, as in --json.
details = [t[1] for t in page.tables if t[0] == 'tested']
for task, rows in zip(('text', 'matching', 'listops'), details, strict=True):
    for name, row in zip(names, rows[1:], strict=True):
        cell = cells[task, name]
        assert row[1].startswith(f"{shown(cell['mean'])} sd {shown(cell['deviation'])} 95% {shown(cell['low'])} to"), row
        if name == 'transformer':
            continue
        p = cell['p_holm']
        assert row[6].startswith('< 0.001' if p < 0.001 else f'{p:.3f}' if p < 0.1 else f'{p:.2f}'), (row, p)
        assert row[5].startswith(f"{cell['difference'] * 100:+.2f} "), row
        assert row[7] == cell['verdict'], row
assert [len(t[1]) - 1 for t in page.tables if t[0] == 'runs'] == [45, 42, 45]
assert 'failed: loss is not a number at step 212' in source
assert '131 of 135 planned runs are done; 3 missing, 1 failed.' in source
assert cells['matching', '3xaoglu']['verdict'] == 'too few seeds to tell'
assert cells['matching', '1xglu']['verdict'] == 'higher, if normal'

# Data of the charts.
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', source, re.S)[1])
task = data['boards'][0]['tasks'][2]
assert task['references'] == [{'name': 'root operator only', 'accuracy': 33.4}], task['references']
assert all(len(cell['curves'][x][y]['x']) > 10 for cell in task['cells'] for x in ('steps', 'seconds') for y in ('accuracy', 'loss'))
assert source.count('<canvas') == 18
assert [[line['name'] for line in mode['mixers']] for mode in data['lengths']] == [['softmax', 'kernel']] * 2
assert len(data['lengths'][1]['mixers'][0]['points']) == 9
projected = [rows for css, rows in page.tables if css == 'costs' and rows[0][0] == 'Task']
assert len(projected) == 1 and len(projected[0]) == 28 and projected[0][1][2] == '4.2 days', projected

markdown = open('table.md').read()
for key in (('listops', '1xglu'), ('text', 'transformer')):
    assert shown(cells[key]['mean']) in markdown and shown(cells[key]['low']) in markdown
PY

"$LINNET_BIN" report arena.jsonl >text || fail "terminal"
grep -q '^Linear kernel .* 18.54' text || fail "Table 1 in the terminal"
grep -q 'too few seeds to tell' text || fail "verdicts in the terminal"
"$LINNET_BIN" report arena.jsonl --csv - | cmp -s - table.csv || fail "--csv -"
"$LINNET_BIN" report arena.jsonl --out again.html --title 'A & B' 2>/dev/null
cmp -s page.html again.html || fail "the same records give the same page"
"$LINNET_BIN" report arena.jsonl --against 1xglu --json >other.jsonl
grep -q '"against":"1xglu"' other.jsonl || fail "--against"
# From six seeds on the exact test takes part.
python3 "$LINNET_ROOT/tests/report/synthetic_arena.py" eight.jsonl 8
"$LINNET_BIN" report eight.jsonl --json >eight.cells
grep -q '"verdict":"higher"' eight.cells || fail "eight seeds"

expect_error "files" report
expect_error "[none.jsonl]" report none.jsonl
expect_error "[--against] no such row" report arena.jsonl --against magic
expect_error "cannot write" report arena.jsonl --out none/page.html
: >empty.jsonl
expect_error "no runs" report empty.jsonl
{ cat arena.jsonl && echo '{"arena":' && echo '{}'; } >broken.jsonl
expect_error "[broken.jsonl:$(($(wc -l <arena.jsonl) + 1))] is not JSON" report broken.jsonl
echo '{"arena":"a","task":"t","row":"r","seed":1,"status":"ok","test":{"accuracy":31}}' >wrong.jsonl
expect_error "[wrong.jsonl:1] \"accuracy\" must be a number from 0 to 1" report wrong.jsonl
head -c 100000 /dev/zero | tr '\0' '[' >deep.jsonl
expect_error "[deep.jsonl:1]" report deep.jsonl
head -c 5000 "$LINNET_BIN" >binary.jsonl
expect_error "[binary.jsonl:1]" report binary.jsonl
# A time of a stranger is any text: it is not cut within a character.
sed 's/"started": *"[^"]*"/"started": "1ééééééééé"/' arena.jsonl >strange.jsonl
expect "" report strange.jsonl --out strange.html
python3 -c "assert 'of 1ééééééééé' in open('strange.html', encoding='utf-8').read()" || fail "a time that is none"
exit $((failures > 0))
