#!/usr/bin/env bash
# The live part of the page against single runs: one host, a network of two levels, a torus, and a step that the device's power limit slows
# down. LIVE_SETTINGS: how many of each.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
example=$HESPAS_ROOT/examples/llama3-100m-4dev.mlir.gz
compare() {  # NAME SEED RUN...
  "$HESPAS_BIN/hespas" "${@:3}" --output "$folder/$1" --quiet --no-what-if >/dev/null
  node "$HESPAS_ROOT/tests/report/live_test.mjs" "$folder/$1/report.html" "${LIVE_SETTINGS:-100}" "${@:2}"
}
compare host 1 run "$example" --device A100_SXM_40GB
compare cluster 2 run "$example" --retarget 16 --device H100_80GB --system "H100_80GB 8x2 ib=400Gbit/s"
compare torus 3 run "$example" --device TPUv5p
compare power 4 run "$HESPAS_ROOT/data/workloads/llama3-70b-8dev.mlir.zst" --device H100_80GB
