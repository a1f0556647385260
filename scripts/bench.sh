#!/usr/bin/env bash
# Builds and runs the benchmark programs of bench/; each prints medians.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -f build/release/build.ninja ] && cmake --preset release -DHESPAS_BENCH=ON >/dev/null
[ -f build/release/build.ninja ] || cmake --preset release -DHESPAS_BENCH=ON >/dev/null
scripts/build.sh release
for program in build/release/bin/*_bench; do
  [ -x "$program" ] && "$program"
done
for script in bench/*.sh; do
  [ -x "$script" ] && "$script"
done
