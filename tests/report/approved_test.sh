#!/usr/bin/env bash
# Pages of fixed figures against approved pictures (approved_test.mjs). After a change of the design: HESPAS_BIN=build/release/bin
# HESPAS_ROOT=$PWD tests/report/approved_test.sh --write, then look at the pictures. --renew also takes new figures.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
approved=$HESPAS_ROOT/tests/report/approved
HESPAS_BIN=$(realpath "$HESPAS_BIN")
pictures=$HESPAS_ROOT/build/screenshots/approved
mkdir -p "$pictures"
NODE_PATH=$("$HESPAS_ROOT/scripts/npm_env.sh" browser)
export NODE_PATH
# As a reader would call it: the files that are kept say how they were made, without places of this machine.
ln -s "$HESPAS_ROOT/tests" "$folder/tests"
run() {  # DEVICE
  (cd "$folder" && PATH=$HESPAS_BIN:$PATH hespas run tests/data/hlo/mlp_dp.after.hlo.txt --device "$1" --system "${1}_8GPU" --output "out/$1" --quiet >/dev/null)
}
run A100_SXM_40GB
if [ "${1:-}" = --renew ]; then
  run H100_80GB
  for device in A100_SXM_40GB H100_80GB; do cp "$folder/out/$device/result.json" "$approved/$device.json"; done
fi
python3 "$HESPAS_ROOT/tests/report/fixed_data.py" "$folder/out/A100_SXM_40GB/report.html" "$approved/report.json" "${1:-}"
(cd "$approved" && "$HESPAS_BIN/hespas" compare A100_SXM_40GB.json H100_80GB.json --output "$folder/compare.html" --quiet >/dev/null)
node "$HESPAS_ROOT/tests/report/approved_test.mjs" "$approved" "$pictures" report="$folder/out/A100_SXM_40GB/report.html" compare="$folder/compare.html" \
  ${1:+--write}
