#!/usr/bin/env bash
# usage: web_test.sh package|page|limits|equal      builds the page where needed, then runs NAME_test.mjs on it
set -euo pipefail
cd "$HESPAS_ROOT"
command -v emcc >/dev/null || { echo "web_test: skipped, no Emscripten (scripts/bootstrap.sh web)" >&2; exit 77; }
exec 9>build/web.lock
flock 9
sources=(web src cli data cmake scripts/build_web.sh scripts/web_data.py scripts/npm/web)
if [ ! -e build/web.built ] || [ -n "$(find "${sources[@]}" -type f -newer build/web.built -print -quit)" ]; then
  scripts/build_web.sh
  touch build/web.built
fi
flock -u 9

case $1 in
  page)
    NODE_PATH=$(scripts/npm_env.sh browser)
    export NODE_PATH
    node tests/web/page_test.mjs build/web build/screenshots/web
    ;;
  limits)
    NODE_PATH=$(scripts/npm_env.sh browser) node tests/web/limits_test.mjs build/web
    ;;
  package)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    (cd "$folder" && echo '{}' >package.json && npm install --silent --no-audit --no-fund "$HESPAS_ROOT"/build/web/hespas-*.tgz)
    node tests/web/package_test.mjs "$folder/node_modules/hespas"
    cp tests/web/types_test.ts "$folder"
    modules=$(scripts/npm_env.sh web)
    "$modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext --skipLibCheck "$folder/types_test.ts"
    ;;
  equal) node tests/web/equal_test.mjs build/web/npm ;;
esac
