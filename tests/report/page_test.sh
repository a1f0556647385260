#!/usr/bin/env bash
# usage: page_test.sh looks|paper|use   runs page_PART_test.mjs on the report of the example; pictures of what fails stay under build/screenshots
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$HESPAS_BIN/hespas" run "$HESPAS_ROOT/examples/llama3-100m-4dev.mlir.gz" --device A100_SXM_40GB --system A100_SXM_40GB_4GPU \
  --output "$folder" --quiet >/dev/null
if [ "$1" = use ]; then
  "$HESPAS_BIN/hespas" run "$HESPAS_ROOT/tests/data/hlo/mlp_dp.after.hlo.txt" --device A100_SXM_40GB --output "$folder/layers" --quiet >/dev/null
fi
grep -q 'Licensed to the Apache' "$folder/report.html" || { echo "page_test: this build has no ECharts (scripts/npm_env.sh report)" >&2; exit 1; }
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
node "$HESPAS_ROOT/tests/report/page_$1_test.mjs" "$folder" "$HESPAS_ROOT/build/screenshots"
