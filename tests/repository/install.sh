#!/usr/bin/env bash
# usage: install.sh BUILD-FOLDER   an installed copy works from any folder and finds its own data
set -euo pipefail

build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$build" --prefix "$place/prefix" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
cd "$place"
unset HESPAS_DATA_DIR
prefix/bin/hespas devices >installed.txt
"$build/bin/hespas" devices >built.txt
cmp installed.txt built.txt
grep -q A100_SXM_40GB installed.txt
[ "$(ls -A | sort | tr '\n' ' ')" = "built.txt installed.txt log prefix " ] || { echo "wrote into the working folder"; ls -A; exit 1; }
mv prefix/share/hespas elsewhere
HESPAS_DATA_DIR=$place/elsewhere prefix/bin/hespas devices | cmp - installed.txt
if prefix/bin/hespas devices >/dev/null 2>missing.txt; then
  echo "a missing data folder went unnoticed"
  exit 1
fi
grep -q E0807 missing.txt
