#!/usr/bin/env bash
# Checks that all C++ files are as clang-format-14 would write them; with --write rewrites them.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=${CLANG_FORMAT:-clang-format-14}
mapfile -d '' files < <(find src cli python tests bench fuzz include \( -name '*.h' -o -name '*.cc' \) -print0 2>/dev/null | sort -z)
if [ "${1:-}" = --write ]; then
  "$formatter" -i "${files[@]}"
  exit 0
fi
command -v "$formatter" >/dev/null || { echo "SKIP: $formatter is not installed"; exit 77; }
"$formatter" --dry-run --Werror "${files[@]}" || { echo "run: make format"; exit 1; }
echo "${#files[@]} files are formatted"
