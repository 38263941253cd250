#!/usr/bin/env bash
# machine_paths.sh -- fails when a file of the project names a folder of some development machine: [ROOT].
set -euo pipefail
cd "${1:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}"

# One bracketed letter a name, so that the pattern does not match itself.
pattern='/([h]ome/[A-Za-z0-9_.-]+|[U]sers/[A-Za-z0-9_.-]+|[r]oot|[w]ork|[f]arm)/'

if tracked=$(git ls-files --cached --others --exclude-standard 2>/dev/null) && [[ -n $tracked ]]; then
  mapfile -t files <<<"$tracked"
else # a copy without git: all but what .gitignore leaves out
  mapfile -t files < <(find . \( -name .git -o -name __pycache__ -o -path ./build -o -path ./runs \
    -o -path ./quickstart \) -prune -o -type f ! -name '*.pyc' -print)
fi
if grep -nIEs -- "$pattern" "${files[@]}"; then
  echo "absolute paths of one machine; use a path below the project or a flag"
  exit 1
fi
echo "${#files[@]} files, no path of a machine"
