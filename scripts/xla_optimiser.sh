#!/usr/bin/env bash
# usage: xla_optimiser.sh -i PROGRAM.mlir [-o OPTIMISED.mlir] [-g DEVICE] [-d]
# The prototype's script of this name, without an XLA build: XLA's own GPU passes by way of the CUDA PJRT plugin.
#   -i  StableHLO program, partitioned      -o  where the optimised program goes (default: PROGRAM-opt.mlir)
#   -g  device preset (default: A100_SXM_40GB)      -d  says what is run
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
input= output= device=A100_SXM_40GB
while getopts "i:o:g:dh" option; do
  case $option in
    i) input=$OPTARG ;;
    o) output=$OPTARG ;;
    g) device=$OPTARG ;;
    d) set -x ;;
    *)
      sed -n '2,5s/^# \{0,1\}//p' "$0"
      [ "$option" = h ] && exit 0 || exit 2
      ;;
  esac
done
[ -n "$input" ] || { echo "xla_optimiser.sh: -i PROGRAM is missing" >&2; exit 2; }
if [ -z "$output" ]; then
  output=${input%.gz}
  output=${output%.mlir}-opt.mlir
fi
hespas=${HESPAS_BIN:-$here/../build/release/bin}/hespas
trap 'rm -f "$output.part"' EXIT
"$hespas" optimise "$input" --optimise xla --device "$device" --quiet >"$output.part"
mv "$output.part" "$output"
