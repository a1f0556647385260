#!/usr/bin/env bash
# usage: find_python.sh VERSION   prints the first Python of that version (3.12) that runs and has its headers; a pyenv's shim may not run
for candidate in "$(command -v "python$1")" "$HOME"/.pyenv/versions/"$1".*/bin/python3; do
  if "$candidate" -c 'import os, sys, sysconfig, venv, ensurepip
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null; then
    echo "$candidate"
    exit
  fi
done
exit 1
