#!/usr/bin/env bash
# Builds and runs the benchmark programs of bench/; its scripts say themselves what they need.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! grep -q 'HESPAS_BENCH:BOOL=ON' build/release/CMakeCache.txt 2>/dev/null; then
  cmake --preset release -DHESPAS_BENCH=ON >/dev/null
fi
scripts/build.sh release
for program in build/release/bin/*_bench; do
  "$program"
done
