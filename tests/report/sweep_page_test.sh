#!/usr/bin/env bash
# usage: sweep_page_test.sh devices|programs|many   runs sweep_PART_test.mjs on the page of a sweep; pictures of what fails stay under build/screenshots
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$HESPAS_ROOT"
case $1 in
  devices) sweep=examples/sweeps/devices.yaml reports=2 ;;
  *) sweep=tests/report/sweep_$1.yaml reports=1 ;;
esac
"$HESPAS_BIN/hespas" sweep "$sweep" --output "$folder" --quiet >/dev/null
"$HESPAS_BIN/hespas" sweep-report "$folder" --reports "$reports" --quiet >/dev/null
NODE_PATH=$(scripts/npm_env.sh browser)
export NODE_PATH
node "tests/report/sweep_$1_test.mjs" "$folder" build/screenshots
