#!/usr/bin/env bash
# Runs sweep_page_test.mjs on the page of the example sweep; screenshots stay under build/screenshots.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$HESPAS_ROOT"
"$HESPAS_BIN/hespas" sweep examples/sweeps/devices.yaml --output "$folder/swept" --quiet >/dev/null
"$HESPAS_BIN/hespas" sweep-report "$folder/swept" --reports 2 --quiet >/dev/null
"$HESPAS_BIN/hespas" sweep tests/report/sweep_programs.yaml --output "$folder/programs" --quiet >/dev/null
"$HESPAS_BIN/hespas" sweep-report "$folder/programs" --reports 1 --quiet >/dev/null
"$HESPAS_BIN/hespas" sweep tests/report/sweep_many.yaml --output "$folder/many" --quiet >/dev/null
"$HESPAS_BIN/hespas" sweep-report "$folder/many" --reports 1 --quiet >/dev/null
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
node "$HESPAS_ROOT/tests/report/sweep_page_test.mjs" "$folder/swept" "$HESPAS_ROOT/build/screenshots" "$folder/programs" "$folder/many"
