#!/usr/bin/env bash
# usage: package.sh PART BUILD   tests of the Python package, each in a fresh virtual environment without a compiler in reach
#   wheel     builds the wheel from BUILD's libraries
#   api       the package alone: no other package, no compiler
#   jax       with JAX: Lowered, Compiled and Exported objects, 8 pretended devices
#   pipelines with JAX: the ready pipelines' values                      (full)
#   plans     with JAX: plans                                              (full)
#   attention_kernels  with JAX: their shapes                              (full)
#   notebook  runs the notebook of docs/
#   export    every ready configuration; XLA's GPU and TPU compilers without their devices (full)
#   maxtext   MaxText's own step, in an environment with Python 3.12       (full)
#   versions  the package for Python 3.12 and 3.13 where they are found    (full)
#   sdist     everything built from the source package                     (full)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
part=$1 build=$2
wheels=$build/python
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset HESPAS_DATA_DIR PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1

# fresh PYTHON WHEEL: an environment with nothing but the wheel
fresh() {
  "$1" -m venv "$place/venv"
  "$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$2"
}

# tests PYTHON NAMES...: from outside the source tree, with the virtual environment's commands alone in reach, and with $reach
reach=
tests() {
  local python=$1
  shift
  cd "$place"
  for name in "$@"; do
    PATH=$place/venv/bin$reach PYTHONPATH=$root/python/tests "$python" -m unittest -q "test_$name"
  done
}

# with_packages NAME: the wheel in reach of the locked environment NAME, which itself stays as it is
with_packages() {
  local python
  python=$("$root/scripts/python_env.sh" "$1")
  "$python" -m venv --system-site-packages --without-pip "$place/venv"  # unpacking it takes longer than all else here
  cat >"$(echo "$place"/venv/lib/python*/site-packages)/locked.pth" <<<"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  "$python" -m pip --python "$place/venv/bin/python" install --quiet --disable-pip-version-check --no-index --no-deps "$wheels"/hespas-*.whl
}

case $part in
  wheel)
    "$root/scripts/build_wheel.sh" "$wheels" "$build"
    carried=$(python3 -m zipfile -l "$wheels"/hespas-*.whl)
    for file in licenses/LICENSE licenses/third_party/hespas.spdx.json licenses/third_party/licences/libfmt9/copyright \
      licenses/third_party/licences/nanobind/LICENSE; do
      grep -q "dist-info/$file" <<<"$carried" || { echo "package.sh: no $file in the wheel" >&2; exit 1; }
    done
    ;;
  api)
    fresh python3 "$wheels"/hespas-*.whl
    tests "$place/venv/bin/python" api errors hardware estimators commands many sweeps shipped torch_recorded
    ;;
  jax | pipelines | plans | attention_kernels)
    with_packages export
    tests "$place/venv/bin/python" "$part"
    ;;
  notebook)
    with_packages notebook
    tests "$place/venv/bin/python" notebook
    ;;
  export | maxtext)
    with_packages export
    # Their environments are made before: a download is no part of a command's time.
    if [ "$part" = export ]; then
      for name in cuda tpu; do "$root/scripts/python_env.sh" "$name" >/dev/null; done
    else
      PYTHONPATH=$root/python/export python3 -c 'import contextlib, environments
with contextlib.suppress(environments.Refused):
    environments.maxtext_python()'
    fi
    reach=:$PATH # for the Python that made them
    tests "$place/venv/bin/python" "$part"
    ;;
  versions)
    # One wheel for both, by the stable ABI.
    for version in 3.12 3.13; do
      python=$("$root/scripts/find_python.sh" "$version") || { echo "no Python $version here"; continue; }
      ls "$place"/stable/hespas-*.whl >/dev/null 2>&1 || HESPAS_PYTHON=$python "$root/scripts/build_wheel.sh" "$place/stable" "$build"
      rm -rf "$place/venv"
      fresh "$python" "$place"/stable/hespas-*.whl
      tests "$place/venv/bin/python" api errors hardware estimators commands many sweeps shipped torch_recorded
    done
    ;;
  sdist)
    python=$("$root/scripts/python_env.sh" wheel)
    (cd "$root" && "$python" -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$place") >/dev/null
    tar -xf "$place"/hespas-*.tar.gz -C "$place"
    export CXX=c++  # as the build: ccache tells c++ from g++
    "$place"/hespas-*/scripts/build_wheel.sh "$place/wheel"
    fresh python3 "$place"/wheel/hespas-*.whl
    tests "$place/venv/bin/python" api
    ;;
  *) echo "package.sh: unknown part $part" >&2; exit 2 ;;
esac
