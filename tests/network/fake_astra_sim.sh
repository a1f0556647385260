#!/bin/sh
# Stands in for ASTRA-sim in tests: checks its files and prints what FAKE_ASTRA_SIM asks for.
for argument in "$@"; do
  case "$argument" in
    --workload-configuration=*) workload=${argument#*=} ;;
    --system-configuration=* | --network-configuration=* | --remote-memory-configuration=*)
      [ -r "${argument#*=}" ] || { echo "cannot read $argument"; exit 1; } ;;
  esac
done
[ -r "$workload.0.et" ] || { echo "[workload] [critical] workload file: $workload.0.et does not exist"; exit 1; }
case "$FAKE_ASTRA_SIM" in
  recorded) cat "$FAKE_ASTRA_SIM_OUTPUT" ;;
  stuck) head -n 6 "$FAKE_ASTRA_SIM_OUTPUT" ;;
  crash) echo "Assertion \`src != dest' failed."; kill -ABRT $$ ;;
  hang) sleep 60 ;;
esac
