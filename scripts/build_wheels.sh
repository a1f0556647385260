#!/usr/bin/env bash
# usage: build_wheels.sh FOLDER BUILD   a wheel in FOLDER for each Python of 3.11 to 3.13 that is found here (scripts/build_wheel.sh)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$target"
for version in 3.11 3.12 3.13; do
  if python=$("$here/find_python.sh" "$version"); then
    wheel=$(HESPAS_PYTHON=$python "$here/build_wheel.sh" "$place/$version" "$2")
    mv "$wheel" "$target/"
    echo "$target/$(basename "$wheel")"
  else
    echo "no wheel for Python $version: it is not installed with its headers" >&2
  fi
done
[ -n "$(ls "$place")" ]
