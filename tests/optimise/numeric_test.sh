#!/usr/bin/env bash
# Runs numeric_test.py in the environment of python/locks/jax.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../../scripts/python_env.sh" jax)
exec env PYTHONDONTWRITEBYTECODE=1 "$python" "$here/numeric_test.py" "$@"
