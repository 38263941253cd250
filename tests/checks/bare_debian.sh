#!/usr/bin/env bash
# bare_debian.sh -- proves the two commands of README on a bare Debian 12, with their times: FOLDER, as root.
#
# FOLDER becomes a debootstrap root (or is one already; delete it for a cold start). The mirror and all that
# apt needs to reach it come from the apt configuration of this machine. Run by hand; not a test of ctest.
#   tests/checks/bare_debian.sh FOLDER [setup | VERB...]   with setup: only the root, and that apt works in it
set -euo pipefail

[[ $# -ge 1 && $EUID -eq 0 ]] || { echo "usage, as root: $0 FOLDER [setup | VERB...]" >&2 && exit 2; }
mkdir -p "$1"
bare=$(readlink -f "$1")
shift
source=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
suite=bookworm

if [[ ! -x $bare/usr/bin/apt-get ]]; then
  # shellcheck disable=SC2016 # apt-get expands these
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    sed -n "s/^$suite //p" | head -n 1)
  [[ -n $mirror ]] || { echo "apt knows no mirror of $suite; run apt-get update first" >&2 && exit 1; }
  echo "debootstrap of $suite from $mirror"
  debootstrap --variant=minbase "$suite" "$bare" "$mirror" >"$bare.log" 2>&1 ||
    { tail -n 20 "$bare.log" >&2 && exit 1; }
fi

# The way to the packages: sources, keys, proxies and certificates, name resolution. Nothing else comes along.
rm -f "$bare/etc/apt/sources.list"
for path in etc/apt/sources.list etc/apt/sources.list.d etc/apt/auth.conf.d etc/apt/keyrings etc/apt/trusted.gpg.d \
  usr/share/keyrings etc/resolv.conf etc/hosts; do
  [[ ! -e /$path ]] || { mkdir -p "$bare/$(dirname "$path")" && cp -rL "/$path" "$bare/$(dirname "$path")/"; }
done
apt-config dump Acquire | grep -E 'Proxy|CaInfo|CaPath|Verify-|Check-Valid-Until|ForceIPv' \
  >"$bare/etc/apt/apt.conf.d/90way-out" || true
if grep -rqs https: "$bare/etc/apt"; then
  mkdir -p "$bare/etc/ssl/certs" && cp -L /etc/ssl/certs/ca-certificates.crt "$bare/etc/ssl/certs/"
fi

for mount in proc sys dev dev/pts dev/shm; do
  mountpoint -q "$bare/$mount" || { mkdir -p "$bare/$mount" && mount --bind "/$mount" "$bare/$mount"; }
done
trap 'for mount in dev/shm dev/pts dev sys proc; do umount "$bare/$mount" || true; done' EXIT

inside() { # COMMAND...: in the root, with a clean environment but for the proxies
  local -a kept=()
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [[ -z ${!name-} ]] || kept+=("$name=${!name}")
  done
  chroot "$bare" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp TERM=dumb "${kept[@]}" "$@"
}

place=/srv/linnet
rm -rf "${bare:?}$place"
mkdir -p "$bare$place"
tar -C "$source" --exclude=./.git --exclude=./build --exclude=./runs --exclude=./quickstart -cf - . |
  tar -C "$bare$place" --no-same-owner -xf -

timed() { # ARGS...: ./linnet ARGS inside, with its wall time
  local start=$SECONDS
  inside bash -c "cd $place && exec ./linnet \"\$@\"" linnet "$@" ||
    { echo "bare Debian: ./linnet $* FAILED after $((SECONDS - start)) s" && exit 1; }
  times+=("bare Debian: ./linnet $* took $((SECONDS - start)) s, installing and building included")
}

times=()
if [[ ${1-} == setup ]]; then
  packages=$(sed -n 's/^build_packages=(\(.*\))$/\1/p' "$source/linnet")
  inside apt-get update
  # shellcheck disable=SC2086 # a list of words
  inside apt-get install -y --no-install-recommends --dry-run $packages
elif (($#)); then
  timed "$@"
else
  timed quickstart
  timed test
fi
printf '%s\n' "${times[@]}"
