#!/usr/bin/env bash
# report_page_slow_test.sh -- the page in headless Chromium: charts are drawn, no fault, no request, fits a phone; 77 without it.
set -uo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "skipped: no Chromium"
  exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
python3 "$LINNET_ROOT/tests/report/synthetic_arena.py" "$dir/arena.jsonl"
"$LINNET_BIN" report "$dir/arena.jsonl" --out "$dir/page.html" 2>/dev/null || exit 1

# A copy of the page that writes into its title what the browser made of it; in a frame as wide as a phone or a laptop, since
# windows have a smallest width.
python3 - "$dir" <<'PY'
import sys
folder = sys.argv[1]
page = open(f'{folder}/page.html', encoding='utf-8').read()
watch = '''<script>
const faults = [];
window.addEventListener('error', event => faults.push(event.message));
document.addEventListener('securitypolicyviolation', event => faults.push('request: ' + event.blockedURI));
</script>'''
tell = '''<script>
window.addEventListener('load', () => {
  const inked = [...document.querySelectorAll('canvas')].filter(canvas => {
    const {width, height} = canvas;
    return width && new Set(canvas.getContext('2d').getImageData(0, 0, width, height).data).size > 20;
  }).length;
  const wide = document.documentElement.scrollWidth > window.innerWidth;
  const asked = performance.getEntriesByType('resource').length;
  parent.postMessage(`charts ${inked} of ${document.documentElement.dataset.charts} wide ${wide} asked ${asked} faults ${faults.join(';')}`, '*');
});
</script>'''
open(f'{folder}/watched.html', 'w', encoding='utf-8').write(page.replace('<head>', '<head>' + watch).replace('</body>', tell + '</body>'))
for width in (390, 1280):
    open(f'{folder}/frame{width}.html', 'w').write(
        f'<pre id="said"></pre><script>window.addEventListener("message", event => said.textContent = event.data)</script>'
        f'<iframe src="watched.html" style="width:{width}px;height:900px"></iframe>')
PY
for width in 390 1280; do
  for scheme in 0 1; do
    said=$(HOME=$dir timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --virtual-time-budget=10000 \
      --window-size=1400,1000 --blink-settings=preferredColorScheme=$scheme --dump-dom "file://$dir/frame$width.html" 2>/dev/null |
      grep -o 'charts [^<]*')
    echo "$width px, scheme $scheme: $said"
    [[ $said == "charts 18 of 18 wide false asked 0 faults " ]] || failures=$((failures + 1))
  done
done
exit $((failures > 0))
