#!/usr/bin/env bash
# Runs compare_page_test.mjs on a comparison; pictures of what fails stay under build/screenshots.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
"$HESPAS_BIN/hespas" compare "$HESPAS_ROOT/examples/llama3-100m-4dev.mlir.gz" --device A100_SXM_40GB,H100_80GB --output "$folder" --quiet >/dev/null
node "$HESPAS_ROOT/tests/report/compare_page_test.mjs" "$folder" "$HESPAS_ROOT/build/screenshots"
