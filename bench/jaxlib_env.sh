#!/usr/bin/env bash
# Prints the Python of a cached environment with jaxlib; makes it on the first call.
set -euo pipefail
environment="${XDG_CACHE_HOME:-$HOME/.cache}/hespas/jaxlib-0.10.2"
if [ ! -x "$environment/bin/python" ]; then
  python3 -m venv "$environment" >&2
fi
"$environment/bin/python" -c 'import jaxlib' 2>/dev/null || "$environment/bin/pip" install --quiet 'jaxlib==0.10.2' 'numpy<3' >&2
echo "$environment/bin/python"
