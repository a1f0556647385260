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
started=$SECONDS
trap 'trap - TERM; kill 0' INT # Ctrl-C ends what runs in the background, too

# Tests make many thousands of files, each of which takes a disk up to forty times as long as memory (bench/results.md).
files_in_memory() {
  local free folder
  free=$(df --output=avail -BG /dev/shm 2>/dev/null | tail -1)
  [ -z "${TMPDIR:-}" ] && [ "${free//[!0-9]/}" -ge 4 ] 2>/dev/null || return 0
  folder=$(mktemp -d /dev/shm/hespas.XXXXXX)
  trap "rm -rf '$folder'" EXIT
  chmod 1777 "$folder" # as /tmp: some tests run as another user
  printf '#!/bin/sh\n' >"$folder/program"
  chmod +x "$folder/program"
  ! "$folder/program" 2>/dev/null || export TMPDIR=$folder # containers may allow no programs there
}
files_in_memory

fail() { echo "$*" >>"$results/failed"; } # also from the background

# spent: sets $spent, processor seconds of what has ended so far
spent() {
  local file=$results/times.$BASHPID
  times >"$file"
  spent=$(awk -F'[ms ]+' 'END { printf "%d", 60 * ($1 + $3) + $2 + $4 }' "$file")
}

# timed WHAT COMMAND...
timed() {
  local began=$SECONDS before status
  echo "== $1"
  spent
  before=$spent
  "${@:2}"
  status=$?
  spent
  echo "== $1: $((SECONDS - began)) s, of processors $((spent - before)) s"
  return $status
}

logged() { "${@:2}" >"$1" 2>&1; } # FILE COMMAND...

# build NAME PRESET TARGETS
build() {
  # shellcheck disable=SC2086
  timed "$1: build ($2)" env JOBS="$jobs" scripts/build.sh "$2" $3 || { fail "$1 (build)"; return 1; }
}

# run NAME PRESET CTEST-ARGUMENTS...
run() {
  local log=$results/$1.log
  timed "$1: run" logged "$log" ctest --test-dir "build/$2" -j "$jobs" --output-on-failure --test-output-size-passed 100000 --no-tests=ignore \
    --output-junit "$PWD/$results/$1.xml" "${@:3}" && return
  sed -n '/\*\*\*/,$p' "$log"
  fail "$1"
}

# part NAME PRESET TARGETS CTEST-ARGUMENTS...
part() {
  build "$1" "$2" "$3" && run "$1" "$2" "${@:4}"
}

# fuzzers SECONDS PRESET: in processor time, whose shares of jobs + 1 fill the processors
fuzzers() {
  HESPAS_FUZZ_SECONDS=$1 LLVM_PROFILE_FILE=/dev/null run fuzz "$2" -L fuzz -j $((jobs + 1)) --timeout $((8 * $1 + 120))
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
    fetched=$!
    build release release other_tests && tested=yes # unit tests run once, under the sanitizers
    # The compiler takes the time that tests leave over: many wait for browsers, clusters and packages.
    { renice -n 19 $BASHPID >/dev/null; build sanitizers asan-ubsan "unit_tests fuzzers"; } &
    sanitized=$!
    [ -z "${tested:-}" ] || run release release -LE "full|slow|network|unit|conformance"
    wait $fetched
    [ -z "${tested:-}" ] || run network release -L network -LE full -j $((jobs + 1)) & # stands on packages of PyPI and npm
    packaged=$!
    wait $sanitized && (
      run sanitizers asan-ubsan -L "unit|conformance"
      fuzzers 10 asan-ubsan
    )
    wait $packaged
    ;;
  test-full)
    # Short rounds of these run under the sanitizers; here the whole ones do.
    export HESPAS_ALL_SETTINGS=1 # each width and theme of pages, all points, cases and limits where `make test` draws some
    scripts/build.sh dev || fail "sources compiled one by one"
    short='external.zigzag|faults.short'
    [ ! -d ../shared/workloads ] || short+='|external.blocks[.].*' # else external.blocks_all is skipped
    part release release "" -E "^($short)\$"
    rm -rf build/coverage/profiles
    # Programs are some 17 times slower here: outside tools meet the release build alone.
    part sanitizers coverage "" -LE "repository|fuzz|full|network|sweep|experiments" -E package
    scripts/coverage.py || fail "coverage"
    part threads tsan "unit_tests bin/hespas hespas_pjrt_worker fake_pjrt_plugin" -L threads
    fuzzers 30 coverage
    scripts/tidy.sh || fail "clang-tidy"
    ;;
  fuzz) build fuzz fuzz fuzzers && fuzzers "${FUZZ_SECONDS:-1800}" fuzz ;;
  soak)
    deadline=$((SECONDS + ${SOAK_MINUTES:-60} * 60))
    round=0
    while [ $SECONDS -lt $deadline ] && [ ! -e "$results/failed" ]; do
      part "soak$((++round))" release ""
    done
    ;;
  *)
    echo "test.sh: unknown tier $tier" >&2
    exit 2
    ;;
esac

echo
python3 scripts/test_table.py "$results"/*.xml || fail "unlisted skip"
echo
for log in "$results"/*.log; do
  [ -f "$log" ] && echo "$(basename "$log" .log): $(grep -E 'tests passed|No tests were found' "$log" | tail -1)"
done
spent
echo "total: $((SECONDS - started)) s, of processors $spent s"
if [ -e "$results/failed" ]; then
  sed 's/^/FAILED: /' "$results/failed"
  exit 1
fi
echo "all passed"
