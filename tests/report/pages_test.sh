#!/usr/bin/env bash
# Runs pages_test.mjs on the pages of serve, goodput, validate, shard, plan and experiment; the last three run Python, shard and plan with JAX.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$HESPAS_ROOT"
"$HESPAS_BIN/hespas" serve llama3-8b --device H100_80GB --isl 1024 --osl 200 --rate 4 --output "$folder/serve" --quiet >/dev/null
"$HESPAS_BIN/hespas" goodput examples/llama3-100m-4dev.mlir.gz --device H100_80GB --tokens 1e12 --output "$folder/goodput.html" --quiet >/dev/null
"$HESPAS_BIN/hespas" validate --set gemm --html "$folder/validate.html" --quiet >/dev/null
"$HESPAS_BIN/hespas" shard tests/data/whole/llama3-tiny-4dev-raw.mlir.gz --devices 4 --axes fsdp,tensor --device A100_SXM_40GB --output "$folder/shard" --quiet >/dev/null
"$HESPAS_BIN/hespas" plan tests/report/plan_model.yml --devices 8 --device H100_80GB --global-batch 64 --axes data,fsdp,tensor --evaluations 4 --why tensor=2 --output "$folder/plan" --quiet >/dev/null
"$HESPAS_BIN/hespas" experiment distributed_gemm tpu --output "$folder/experiments" >/dev/null 2>&1
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
mkdir -p build/screenshots
node tests/report/pages_test.mjs build/screenshots serve="$folder/serve/report.html" goodput="$folder/goodput.html" validate="$folder/validate.html" \
  shard="$folder/shard/report.html" plan="$folder/plan/report.html" experiments="$folder/experiments/index.html"
