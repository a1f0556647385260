#!/usr/bin/env bash
# usage: build.sh PRESET [TARGET ...]   configures the preset where needed and builds into build/PRESET
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
if [ ! -f "build/$preset/build.ninja" ]; then
  cmake --preset "$preset" >"/tmp/hespas-configure.$$" 2>&1 || { cat "/tmp/hespas-configure.$$" >&2; exit 1; }
  rm -f "/tmp/hespas-configure.$$"
fi
ninja -C "build/$preset" -j "${JOBS:-$(nproc)}" --quiet "$@" 2>&1 | { grep -v -e 'no work to do' -e '^-- ' >&2 || true; }
