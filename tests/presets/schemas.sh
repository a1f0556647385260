#!/usr/bin/env bash
# The schema test in its own Python environment.
set -euo pipefail
exec "$("$HESPAS_ROOT/scripts/python_env.sh" schemas)" "$(dirname "$0")/schemas_test.py"
