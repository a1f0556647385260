#!/usr/bin/env bash
# usage: site.sh BUILD-FOLDER   the documents' site builds without a broken link, holds the reference, and loads nothing from elsewhere
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
"$("$root/scripts/python_env.sh" docs)" "$root/scripts/make_site.py" "$build/bin/hespas" "$build/site"
cd "$build/site"
for text in "docs/reference/commands.html:--network-backend" docs/reference/formats.html:memory_bandwidth \
  docs/reference/headers.html:MessageEngine docs/layers.svg:assemble; do
  grep -q -- "${text#*:}" "${text%%:*}" || { echo "${text%%:*} lacks ${text#*:}"; exit 1; }
done
if grep -rlE '<(script|link|img)[^>]+(src|href)="(https?:)?//' --include=*.html .; then
  echo "these pages load something from elsewhere"
  exit 1
fi
