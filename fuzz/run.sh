#!/usr/bin/env bash
# usage: run.sh PROGRAM TOPIC   runs one fuzzer from the seeds in fuzz/corpus/TOPIC; findings go to build/fuzzing/findings
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1 topic=$2
mkdir -p "build/fuzzing/corpus/$topic" build/fuzzing/findings
exec "$program" -max_total_time="${HESPAS_FUZZ_SECONDS:-10}" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 -seed=1 -verbosity=0 \
  -print_final_stats=1 -artifact_prefix="build/fuzzing/findings/$topic-" "build/fuzzing/corpus/$topic" "fuzz/corpus/$topic"
