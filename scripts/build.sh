#!/usr/bin/env bash
# usage: build.sh PRESET [TARGET ...]   configures the preset where needed and builds into build/PRESET
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
# g++ spends a quarter less time on -O2 than on -O3.
flags=()
export CCACHE_DEPEND=1  # no preprocessing beside the compilation
if [ "$preset" = release ]; then
  # The source package (tests/python/package.sh) has the same objects, wherever it lies.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  flags=(-DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DHESPAS_PIC=ON)
fi
if [ ! -f "build/$preset/build.ninja" ]; then
  cmake --preset "$preset" "${flags[@]}" >"/tmp/hespas-configure.$$" 2>&1 || { cat "/tmp/hespas-configure.$$" >&2; exit 1; }
  rm -f "/tmp/hespas-configure.$$"
fi
ninja -C "build/$preset" -j "${JOBS:-$(nproc)}" --quiet "$@" 2>&1 | { grep -v -e 'no work to do' -e '^-- ' >&2 || true; }
