#!/usr/bin/env bash
# usage: build.sh PRESET [TARGET ...]   configures the preset where needed and builds into build/PRESET
# HESPAS_TESTS=OFF: without tests where the folder is new; GoogleTest is not needed then.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
tests=${HESPAS_TESTS:-ON}
if [ ! -f "build/$preset/build.ninja" ] || { [ "$tests" = ON ] && grep -qx 'HESPAS_TESTS:BOOL=OFF' "build/$preset/CMakeCache.txt"; }; then
  cmake --preset "$preset" "-DHESPAS_TESTS=$tests" >"/tmp/hespas-configure.$$" 2>&1 || { cat "/tmp/hespas-configure.$$" >&2; exit 1; }
  rm -f "/tmp/hespas-configure.$$"
fi
build() {
  ninja -C "build/$preset" -j "${JOBS:-$(nproc)}" --quiet "$@" 2>&1 | { grep -v -e 'no work to do' -e '^-- ' >&2 || true; }
}
again=build/$preset/batches/sort_again # left by scripts/unity_batches.py where an edit needs other batches
build "$@" || { [ "$again" -nt "build/$preset/build.ninja" ] && build "$@"; }
