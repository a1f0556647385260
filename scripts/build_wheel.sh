#!/usr/bin/env bash
# usage: build_wheel.sh FOLDER [BUILD]
# Makes the wheel in FOLDER and prints its path: with its shared libraries inside, for the Python that HESPAS_PYTHON names.
# BUILD is the folder of a finished release build whose libraries and commands to use; without it everything is built.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?usage: build_wheel.sh FOLDER [BUILD]}
python=$(scripts/python_env.sh wheel)
tools=$(dirname "$python")

mkdir -p "$target"
target=$(cd "$target" && pwd)
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
settings=()
if [ -n "${2:-}" ]; then
  settings+=(-C "cmake.define.HESPAS_BUILD=$(cd "$2" && pwd)")
fi
PATH=$tools:$PATH "$python" -m pip wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$raw" \
  "${settings[@]}" >&2
# The licences of what it will carry, and the bill of materials; `wheel pack` lists them in RECORD.
"$python" -m wheel unpack --dest "$raw/tree" "$raw"/hespas-*.whl >&2
rm "$raw"/hespas-*.whl
contents=("$raw"/tree/hespas-*)
information=("${contents[0]}"/hespas-*.dist-info)
"$python" scripts/third_party.py "${information[0]}/licenses/third_party" "${contents[0]}/hespas/bin/hespas" \
  "${contents[0]}"/hespas/bin/hespas_pjrt_worker "${contents[0]}"/hespas/_core.*.so
"$python" -m wheel pack --dest-dir "$raw" "${contents[0]}" >&2
rm -f "$target"/hespas-*.whl
PATH=$tools:$PATH "$tools/auditwheel" --verbose repair --wheel-dir "$target" "$raw"/hespas-*.whl >"$target/auditwheel.log" 2>&1 ||
  { tail -20 "$target/auditwheel.log" >&2; exit 1; }
ls "$target"/hespas-*.whl
