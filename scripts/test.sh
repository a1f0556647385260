#!/usr/bin/env bash
# usage: test.sh test-fast|test|test-full|fuzz|soak
# Builds and runs the parts of one tier, each to its end, then prints one table and ctest's summaries; fails if any part did.
set -uo pipefail
cd "$(dirname "$0")/.."

tier=${1:-test}
jobs=${JOBS:-$(nproc)}
results=build/results
rm -rf "$results"
mkdir -p "$results"
failed=()
started=$SECONDS

# part NAME PRESET TARGETS CTEST-ARGUMENTS...
part() {
  local name=$1 preset=$2 targets=$3
  shift 3
  echo "== $name: build ($preset)"
  # shellcheck disable=SC2086
  if ! JOBS=$jobs scripts/build.sh "$preset" $targets; then
    failed+=("$name (build)")
    return
  fi
  echo "== $name: run"
  ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --test-output-size-passed 100000 --no-tests=ignore \
    --output-junit "$PWD/$results/$name.xml" "$@" >"$results/$name.log" 2>&1
  local status=$?
  [ $status -ne 0 ] && sed -n '/\*\*\*/,$p' "$results/$name.log" && failed+=("$name")
}

# fuzzers SECONDS PRESET
fuzzers() {
  export HESPAS_FUZZ_SECONDS=$1
  LLVM_PROFILE_FILE=/dev/null part fuzz "$2" fuzzers -L fuzz -j $((jobs + 1)) --timeout $((8 * HESPAS_FUZZ_SECONDS + 120))
}

# Packages of PyPI and npm arrive while the compiler works; the tests that need them say what is missing.
packages() {
  for name in wheel jax export pjrt perfetto spdx schemas docs zigzag sweep iree iree_runtime figures; do
    scripts/python_env.sh "$name" >/dev/null
  done
  for name in report browser; do
    scripts/npm_env.sh "$name" >/dev/null
  done
}

case $tier in
  test-fast) part release release "" -L fast ;;
  test)
    packages &
    part release release "" -LE "full|network"
    wait
    part network release "" -L network -LE full # stands on packages of PyPI and npm
    part sanitizers asan-ubsan "unit_tests fuzzers" -L "unit|conformance"
    fuzzers 10 asan-ubsan
    ;;
  test-full)
    # Short rounds of these run under the sanitizers; here the whole ones do.
    scripts/build.sh dev || failed+=("sources compiled one by one") # clang-tidy looks at these, too
    part release release "" -E '^(external.blocks[.].*|external.zigzag|faults.short)$'
    rm -rf build/coverage/profiles
    part sanitizers coverage "" -LE "repository|fuzz|full" -E package
    scripts/coverage.py || failed+=("coverage")
    part threads tsan "unit_tests bin/hespas hespas_pjrt_worker fake_pjrt_plugin" -L "unit|cli|sweep" -LE full
    fuzzers 30 coverage
    scripts/tidy.sh || failed+=("clang-tidy")
    ;;
  fuzz) fuzzers "${FUZZ_SECONDS:-1800}" asan-ubsan ;;
  soak)
    deadline=$((SECONDS + ${SOAK_MINUTES:-60} * 60))
    round=0
    while [ $SECONDS -lt $deadline ] && [ ${#failed[@]} -eq 0 ]; do
      part "soak$((++round))" release ""
    done
    ;;
  *)
    echo "test.sh: unknown tier $tier" >&2
    exit 2
    ;;
esac

echo
python3 scripts/test_table.py "$results"/*.xml || failed+=("unlisted skip")
echo
for log in "$results"/*.log; do
  [ -f "$log" ] && echo "$(basename "$log" .log): $(grep -E 'tests passed|No tests were found' "$log" | tail -1)"
done
echo "total: $((SECONDS - started)) s"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "all passed"
