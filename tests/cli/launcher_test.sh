#!/usr/bin/env bash
# launcher_test.sh -- ./linnet installs packages for quickstart and test alone, and says so; any other verb needs the built program.
. "$LINNET_ROOT/tests/cli/expect.sh" || exit 1

# A copy of the script in a tree of its own, with tools that only write down what they were asked.
mkdir -p tree/src tree/tests tools && cp "$LINNET_ROOT/linnet" tree/ && touch tree/CMakeLists.txt tree/CMakePresets.json tree/src/a.cpp
for tool in apt-get sudo cmake ninja ctest; do
  printf '#!/bin/bash\necho "%s $*" >>"%s/asked"\n' $tool "$dir" >tools/$tool
done
echo 'while [[ $1 == *=* || $1 == env ]]; do shift; done; "$@"' >>tools/sudo
cat >tools/dpkg-query <<D
#!/bin/bash
for package in "\${@:3}"; do [[ -e $dir/installed || " \$(cat $dir/some 2>/dev/null) " == *" \$package "* ]] && echo "\$package installed"; done
true
D
# What is built, as the tools see it.
echo "mkdir -p $dir/tree/build/release" >>tools/cmake
cat >>tools/ninja <<N
printf '#!/bin/bash\necho "program \$*"\n' >$dir/tree/build/release/linnet && chmod +x $dir/tree/build/release/linnet
N
chmod +x tools/*
export PATH=$dir/tools:$PATH
command -v dpkg-query >/dev/null && [[ -e /var/lib/dpkg/status ]] || { echo "skipped: not a Debian system" && exit 77; }
ask() { # CODE PATTERN ARGS...: the script's exit code, and a pattern in what it says
  local expected=$1 pattern=$2 code
  shift 2
  rm -f asked
  tree/linnet "$@" >out 2>err
  code=$?
  touch asked
  [[ $code -eq $expected ]] && grep -qF -- "$pattern" out err || fail "./linnet $* (code $code): $(cat out err)"
}
asked() { # PATTERN: one of the tools was asked for it
  grep -q -- "$1" asked || fail "nobody was asked for \"$1\": $(cat asked)"
}
idle() { [[ ! -s asked ]] || fail "$1 asks for: $(cat asked)"; }

# Nothing is built: one sentence, and nothing done.
for verb in '' --help --version 'info m' 'train --data x' 'bench engine --against pytorch' 'quickstart --help'; do
  # shellcheck disable=SC2086 # words
  ask 2 './linnet quickstart' $verb
  [[ $(wc -l <err) -eq 1 && ! -s out && ! -e tree/build ]] || fail "./linnet $verb: $(cat out err; ls -A tree)"
  idle "./linnet $verb"
done
ask 0 '--sanitize' test --help
idle "./linnet test --help"

# quickstart and test install, and say what and why.
ask 0 'program quickstart' quickstart
grep -q '^linnet: installing with .*apt-get, to build linnet: g++ .*libhwy-dev' err || fail "says nothing of packages: $(cat err)"
asked 'apt-get .*install.* g++'
asked 'ninja '
ask 0 'to test linnet: libgtest-dev' test --fast
asked 'apt-get .*install.* libgtest-dev'
asked 'ctest '

# Built: other verbs build again where all packages are there, and never install.
ask 0 'program info m' info m
asked 'ninja '
! grep -q apt-get asked || fail "info installs: $(cat asked)"
rm tree/build/.packages-*
ask 0 'program --help' --help
idle "./linnet --help without packages"
touch -d '1 hour' tree/src/a.cpp
ask 0 'program info m' info m
idle "./linnet info without packages"
grep -q '^linnet: sources changed, but packages' err || fail "says nothing of sources: $(cat err)"
sed -n '/^build_packages=(/,/)/{s/^build_packages=(//;s/)//;p}' tree/linnet | tr '\n' ' ' >some
ask 2 'apt-get install --no-install-recommends python3-torch' bench engine --against pytorch
[[ $(wc -l <err) -eq 1 && ! -s out ]] || fail "more than a sentence: $(cat out err)"
idle "./linnet bench engine --against pytorch"
touch installed
ask 0 'program bench engine --against=pytorch' bench engine --against=pytorch
! grep -q apt-get asked || fail "bench installs: $(cat asked)"
[[ $failures -eq 0 ]] && echo "all passed"
exit $((failures > 0))
