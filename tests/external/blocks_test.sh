#!/usr/bin/env bash
# usage: blocks_test.sh HESPAS parse|compile|values|all [CUT]   blocks_test.py in its environment: one part, with every cut or one, on the program of
# this tree; `all` is every part, on the shared workloads as well. 77, which is a skip, where none is at hand
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
shared=$root/../shared/workloads
python=$("$root/scripts/python_env.sh" jax)
plugin=$(echo "$(dirname "$("$root/scripts/python_env.sh" pjrt)")"/../lib/*/site-packages/lammps_jax_pjrt_cpu/*.so)
tiny=$root/tests/data/optimise/run/llama3-tiny-4dev.mlir.gz
parsed=("$tiny" "$root/examples/llama3-100m-4dev.mlir.gz")
compiled=("$tiny")
run=("$tiny")
cuts=(linear fusion)
if [ "$2" = all ]; then
  [ -d "$shared" ] || { echo "skipped: there is no $shared"; exit 77; }
  cuts+=(individual)
  small=$shared/resnet18_train_small_1dev.mlir.gz
  run+=("$small")
  # -raw is not partitioned
  mapfile -t parsed < <(ls "$shared"/*.mlir.gz "$shared"/{gemm,blocks,fixtures}/*.mlir | grep -v -e -raw)
  mapfile -t compiled < <(ls "$shared"/llama3-{tiny,100m}-4dev.mlir.gz "$small" "$shared"/{gemm,blocks}/*.mlir | grep -v -e -raw)
fi
[ -z "${3:-}" ] || cuts=("$3")
arguments=()
case $2 in parse | all) arguments+=(--made --parse "${parsed[@]}") ;; esac
case $2 in compile | all) arguments+=(--compile "$plugin" "${compiled[@]}") ;; esac
case $2 in values | all) arguments+=(--run "${run[@]}") ;; esac
exec "$python" "$here/blocks_test.py" "$1" "${arguments[@]}" --cuts "${cuts[@]}"
