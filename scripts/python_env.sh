#!/usr/bin/env bash
# usage: python_env.sh NAME [--lock]
# Prints the Python of the cached environment that python/locks/NAME.txt describes; makes it on the first call, outside the tree.
# --lock writes python/locks/NAME.txt, with all versions and digests, again from python/locks/NAME.in; NAME.alone, where there is one, has
# packages that come without what they say they need.
set -euo pipefail
locks=$(cd "$(dirname "$0")/../python/locks" && pwd)
name=${1:?usage: python_env.sh NAME [--lock]}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hespas/python
python=${HESPAS_PYTHON:-python3}

# make_environment FOLDER PIP-ARGUMENTS...: marked as complete at the end, made again where the mark is missing
make_environment() {
  local folder=$1
  shift
  mkdir -p "$cache"
  exec 9>"$folder.lock"
  flock 9
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    "$python" -m venv "$folder" >&2
    "$(dirname "$0")/retry.sh" "packages of ${folder##*/}" \
      "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2
    touch "$folder/complete"
  fi
  exec 9>&-
}

if [ "${2:-}" = --lock ]; then
  tools=$cache/pip-tools-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  make_environment "$tools" 'pip-tools==7.5.1' 'pip<25.3'
  (cd "$locks" && "$tools/bin/python" -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header \
    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file "$name.txt" "$name.in")
  [ ! -e "$locks/$name.alone" ] || cat "$locks/$name.alone" >>"$locks/$name.txt"
fi
digest=$({ cat "$locks/$name.txt"; "$python" --version; } | sha256sum | cut -c1-12)
make_environment "$cache/$name-$digest" --no-deps --require-hashes -r "$locks/$name.txt"
echo "$cache/$name-$digest/bin/python"
