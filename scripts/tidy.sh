#!/usr/bin/env bash
# clang-tidy with the short list of .clang-tidy over all sources of the build `dev`, which compiles them one by one; arguments: files instead of all.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh dev
mapfile -t files < <(find src cli -name '*.cc' ! -name '*_test.cc' | sort)
[ $# -gt 0 ] && files=("$@")
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy-14 -p build/dev --quiet --extra-arg=-Wno-unknown-warning-option 2>/dev/null
echo "clang-tidy: ${#files[@]} files are clean"
