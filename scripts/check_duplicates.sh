#!/usr/bin/env bash
# usage: check_duplicates.sh [FOLDER ...]
# Fails where ten lines and a hundred tokens of code stand twice (jscpd, versions in scripts/npm/duplicates). What is shorter may: classes that
# implement one interface declare the same functions.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=$(scripts/npm_env.sh duplicates)
[ $# -gt 0 ] || set -- src cli python experiments scripts bench tests fuzz data/report
node "$modules/.bin/jscpd" --min-lines 10 --min-tokens 100 --max-lines 3000 --max-size 1mb --exitCode 1 --gitignore --reporters console \
  --format cpp,python,javascript,bash --formats-exts "cpp:cc,h;python:py;javascript:js,mjs;bash:sh" \
  --ignore "**/build/**,**/node_modules/**,tests/data/**" "$@" | sed 's/\x1b\[[0-9;]*m//g'
