#!/usr/bin/env bash
# usage: in_environment.sh TEST [CLASS]   runs a test, named from this folder, in the environment of python/locks/sweep.txt
exec "$("$HESPAS_ROOT/scripts/python_env.sh" sweep)" "$(dirname "$0")/$1.py" "${@:2}"
