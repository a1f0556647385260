#!/usr/bin/env bash
# Runs pages_test.mjs on the pages of serve, goodput and validate.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$HESPAS_ROOT"
"$HESPAS_BIN/hespas" serve llama3-8b --device H100_80GB --isl 1024 --osl 200 --rate 4 --output "$folder/serve" --quiet >/dev/null
"$HESPAS_BIN/hespas" goodput examples/llama3-100m-4dev.mlir.gz --device H100_80GB --tokens 1e12 --output "$folder/goodput.html" --quiet >/dev/null
"$HESPAS_BIN/hespas" validate --set gemm --html "$folder/validate.html" --quiet >/dev/null
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
mkdir -p build/screenshots
node tests/report/pages_test.mjs build/screenshots serve="$folder/serve/report.html" goodput="$folder/goodput.html" validate="$folder/validate.html"
