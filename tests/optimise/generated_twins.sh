#!/usr/bin/env bash
# Runs generated_twins.py in the environment of python/locks/cuda.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../../scripts/python_env.sh" cuda)
exec env PYTHONDONTWRITEBYTECODE=1 "$python" "$here/generated_twins.py" "$@"
