#!/usr/bin/env bash
# How fast the reports of a small and of a large program appear (load_test.mjs).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
"$HESPAS_BIN/hespas" run "$HESPAS_ROOT/examples/llama3-100m-4dev.mlir.gz" --device A100_SXM_40GB --system A100_SXM_40GB_4GPU \
  --output "$folder/llama3-100m" --quiet >/dev/null
"$HESPAS_BIN/hespas" run "$HESPAS_ROOT/data/workloads/llama3-70b-8dev.mlir.zst" --device H100_80GB --output "$folder/llama3-70b" --quiet >/dev/null
node "$HESPAS_ROOT/tests/report/load_test.mjs" "$folder/llama3-100m/report.html=300" "$folder/llama3-70b/report.html=1500"
