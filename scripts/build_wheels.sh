#!/usr/bin/env bash
# usage: build_wheels.sh FOLDER BUILD   wheels in FOLDER: for Python 3.11, and for 3.12 and later (scripts/build_wheel.sh), as far as these are found here
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$target"
for versions in "3.11" "3.12 3.13"; do
  python=
  for version in $versions; do
    [ -n "$python" ] || python=$("$here/find_python.sh" "$version") || true
  done
  if [ -n "$python" ]; then
    wheel=$(HESPAS_PYTHON=$python "$here/build_wheel.sh" "$place/${versions%% *}" "$2")
    mv "$wheel" "$target/"
    echo "$target/$(basename "$wheel")"
  else
    echo "no wheel for Python ${versions/ / or }: it is not installed with its headers" >&2
  fi
done
[ -n "$(ls "$place")" ]
