#!/usr/bin/env bash
# Runs graph_page_test.mjs on a program whose names tell its layers, and on one of blocks in two loops: a small one, in `make test-full` 16,617 blocks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
mkdir -p "$HESPAS_ROOT/build/screenshots"
cd "$HESPAS_ROOT"
if [ -n "${HESPAS_ALL_SETTINGS:-}" ]; then
  zstd -dqc data/workloads/llama3-70b-8dev.mlir.zst >"$folder/program.mlir"
else
  gzip -dc examples/llama3-100m-4dev.mlir.gz >"$folder/program.mlir"
fi
check() {  # PROGRAM DEVICE
  "$HESPAS_BIN/hespas" run "$1" --device "$2" --output "$folder/out" --quiet --no-what-if >/dev/null
  node tests/report/graph_page_test.mjs "$folder/out/report.html" "$1" build/screenshots
  rm -r "$folder/out"
}
check tests/data/hlo/mlp_dp.after.hlo.txt A100_SXM_40GB
check "$folder/program.mlir" H100_80GB
