#!/usr/bin/env bash
# format.sh -- fails on a C++ file that clang-format would change: [ROOT]; 77 (skipped) without clang-format 14.
set -euo pipefail
cd "${1:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}"

# Other versions lay out some lines differently, so only the one of Debian 12 decides.
formatter=
for candidate in clang-format-14 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then formatter=$candidate && break; fi
done
if [[ -z $formatter ]]; then
  echo "skipped: clang-format 14 is not installed"
  exit 77
fi

folders=()
for folder in src tests bench python; do [[ ! -d $folder ]] || folders+=("$folder"); done
mapfile -t files < <(find "${folders[@]}" -name '*.cpp' -o -name '*.h')
((${#files[@]})) || exit 0
if ! "$formatter" --dry-run -Werror "${files[@]}"; then
  echo "to mend it: $formatter -i FILE"
  exit 1
fi
echo "${#files[@]} files are formatted"
