#!/usr/bin/env bash
# usage: npm_env.sh NAME [--cached]
# Prints the node_modules folder that scripts/npm/NAME/package-lock.json (versions and checksums) describes; fetches it on
# the first call, outside the tree. --cached: only what is there already, no network.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/npm/${1:?usage: npm_env.sh NAME [--cached]}" && pwd)
digest=$(sha256sum <"$project/package-lock.json" | cut -c1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hespas/npm
folder=$cache/$1-$digest

if [ ! -e "$folder/complete" ]; then
  [ "${2:-}" = --cached ] && exit 1
  command -v npm >/dev/null || { echo "npm_env: npm is not installed" >&2; exit 1; }
  mkdir -p "$cache"
  exec 9>"$folder.lock"
  flock 9
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$project/package.json" "$project/package-lock.json" "$folder"
    "$here/retry.sh" "packages of $1" env -C "$folder" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
    touch "$folder/complete"
  fi
  exec 9>&-
fi
echo "$folder/node_modules"
