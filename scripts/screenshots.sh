#!/usr/bin/env bash
# Makes the screenshots in docs/pictures from the pages that this build writes: scripts/screenshots.sh [BIN]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${1:-$root/build/release/bin}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
NODE_PATH=$("$root/scripts/npm_env.sh" browser)
export NODE_PATH
cd "$root"
example=examples/llama3-100m-4dev.mlir.gz
"$bin/hespas" run $example --device A100_SXM_40GB --price 1.5 --output "$folder/run" --quiet >/dev/null
"$bin/hespas" compare $example --device A100_SXM_40GB,H100_80GB --output "$folder/compared" --quiet >/dev/null
"$bin/hespas" run data/workloads/llama3-70b-8dev.mlir.zst --device H100_80GB --output "$folder/loops" --quiet >/dev/null
"$bin/hespas" sweep examples/sweeps/devices.yaml --output "$folder/swept" --quiet >/dev/null
"$bin/hespas" sweep-report "$folder/swept" --quiet >/dev/null
node scripts/screenshots.mjs docs/pictures report="$folder/run/report.html" live="$folder/run/report.html#live" \
  graph="$folder/loops/report.html#graph~loop 1~iteration 4" compare="$folder/compared/compare.html" \
  sweep="$folder/swept/report.html#explore"
