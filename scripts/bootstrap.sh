#!/usr/bin/env bash
# usage: bootstrap.sh demo|build|test|web   installs what is missing; silent when nothing is
#   demo   what the program needs to be compiled      build   and what its packages and charts need      test   and what tests need
#   web    what is compiled to WebAssembly
set -euo pipefail

what=${1:-test}
packages=(
  cmake ninja-build ccache g++ libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libyaml-cpp-dev libprotozero-dev
  libsqlite3-dev libxxhash-dev libssl-dev zlib1g-dev libzstd-dev libexpat1-dev python3
)
test_packages=(
  libgtest-dev libgmock-dev
  chromium nodejs libbenchmark-dev mmdebstrap faketime valgrind strace graphviz clang-14 llvm-14 libclang-rt-14-dev lld-14 clang-format-14 clang-tidy-14 python3-venv python3-dev
  libsimgrid-dev munge slurmctld slurmd slurm-client
)
command -v npm >/dev/null || test_packages+=(npm)  # some Node.js packages bring it along
[ "$what" != demo ] && packages+=(libnlopt-dev)
[ "$what" = web ] && packages+=(emscripten libfast-float-dev nodejs) && { command -v npm >/dev/null || packages+=(npm); }
[ "$what" = test ] && packages+=("${test_packages[@]}")

if ! command -v dpkg-query >/dev/null; then
  echo "bootstrap: no apt here; these Debian packages (or their like) are needed: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -x installed | head -1) || true
  [ "$state" = installed ] || missing+=("$package")
done
# The charts of report.html; without them it has tables.
fetch_charts() {
  [ "$what" = demo ] && return
  "$(dirname "$0")/npm_env.sh" report >/dev/null || echo "bootstrap: no ECharts; reports will have tables instead of charts" >&2
}
[ ${#missing[@]} -eq 0 ] && fetch_charts && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "bootstrap: run as root or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}
echo "bootstrap: installing ${missing[*]}" >&2
install || { "${as_root[@]}" apt-get update -q >&2 && install; }
fetch_charts
