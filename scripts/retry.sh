#!/usr/bin/env bash
# usage: retry.sh WHAT COMMAND...   three attempts at a download (one where PIP_NO_INDEX forbids any); says which one was slow (half a minute) or failed
set -uo pipefail
what=$1
shift
pauses=(5 30 0)
[ -z "${PIP_NO_INDEX:-}" ] || pauses=(0)
for pause in "${pauses[@]}"; do
  started=$SECONDS
  "$@"
  status=$?
  [ $((SECONDS - started)) -lt 30 ] || echo "slow: $what took $((SECONDS - started)) s" >&2
  [ $status -ne 0 ] || exit 0
  echo "failed after $((SECONDS - started)) s: $what" >&2
  sleep $pause
done
exit $status
