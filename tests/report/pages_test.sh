#!/usr/bin/env bash
# usage: pages_test.sh serve|goodput|validate|shard|plan|experiments   runs pages_test.mjs on that command's page; the last three run Python, shard
# and plan with JAX
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$HESPAS_ROOT"
hespas=$HESPAS_BIN/hespas
page=$folder/report.html
case $1 in
  serve) "$hespas" serve llama3-8b --device H100_80GB --isl 1024 --osl 200 --rate 4 --output "$folder" --quiet >/dev/null ;;
  goodput) "$hespas" goodput examples/llama3-100m-4dev.mlir.gz --device H100_80GB --tokens 1e12 --output "$page" --quiet >/dev/null ;;
  validate) "$hespas" validate --set gemm --html "$page" --quiet >/dev/null ;;
  shard) "$hespas" shard tests/data/whole/llama3-tiny-4dev-raw.mlir.gz --devices 4 --axes fsdp,tensor --device A100_SXM_40GB --output "$folder" --quiet >/dev/null ;;
  plan) "$hespas" plan tests/report/plan_model.yml --devices 8 --device H100_80GB --global-batch 64 --axes data,fsdp,tensor --evaluations 4 --why tensor=2 --output "$folder" --quiet >/dev/null ;;
  experiments)
    page=$folder/index.html
    "$hespas" experiment distributed_gemm tpu --output "$folder" >/dev/null 2>&1
    ;;
esac
NODE_PATH=$(scripts/npm_env.sh browser)
export NODE_PATH
mkdir -p build/screenshots
node tests/report/pages_test.mjs build/screenshots "$1=$page"
