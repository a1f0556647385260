#!/usr/bin/env bash
# usage: package_test.sh PART BUILD   what users install, used as they would
#   consumer  a program of its own on find_package(hespas)
#   tarball   the relocatable folder in a bare Debian root (full)
#   wheel     the Python package in a bare Debian root (full)
#   deb       the packages in a clean Debian root, which is the container's root file system (full)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
part=$1 build=$2
place=$(mktemp -d)
trap 'umount "$place/root/proc" 2>/dev/null || true; rm -rf --one-file-system "$place"' EXIT
unset HESPAS_DATA_DIR
example=llama3-100m-4dev.mlir.gz

fail() { echo "package_test: $*" >&2; exit 1; }

# predicts FILE ROOT HESPAS: the same answer below ROOT as the build gives here
step() { grep -o '"step_time_ps": *[0-9]*' "$1"; }
predicts() {
  local expected=$place/expected.json found=$place/found.json
  "$build/bin/hespas" run "$root/examples/$example" --device H100_80GB --format json >"$expected"
  cp "$root/examples/$example" "$1/tmp/"
  mount -t proc proc "$1/proc"
  chroot "$1" "$2" run "/tmp/$example" --device H100_80GB --format json >"$found" || fail "no prediction below $1"
  umount "$1/proc"
  [ -n "$(step "$expected")" ] && [ "$(step "$expected")" = "$(step "$found")" ] || fail "another step time below $1"
}

# unpacked TAR: its files in $place/root
unpacked() {
  mkdir "$place/root"
  tar -xf "$1" -C "$place/root" --exclude='./dev/*'
}

case $part in
  consumer)
    for component in runtime development; do
      cmake --install "$build" --prefix "$place/usr" --component $component >"$place/log" || { cat "$place/log"; exit 1; }
    done
    cmake -S "$root/tests/package/consumer" -B "$place/build" -G Ninja -DCMAKE_PREFIX_PATH="$place/usr" >"$place/log" &&
      cmake --build "$place/build" >>"$place/log" || { cat "$place/log"; exit 1; }
    mv "$place/build/consumer" "$place/usr/bin/"  # the data folder is found beside the program
    "$place/usr/bin/consumer" "$root/examples/$example" H100_80GB >"$place/found"
    [ "$(cat "$place/found")" -gt 0 ] || fail "no step time"
    [ -s "$place/usr/share/doc/hespas/licences/libfmt9/copyright" ] || fail "licences are missing"
    "$(dirname "$("$root/scripts/python_env.sh" spdx)")/pyspdxtools" -i "$place/usr/share/doc/hespas/hespas.spdx.json" || fail "no valid SPDX"
    ;;
  tarball)
    "$root/scripts/package.sh" tarball "$build"
    archive=$(ls "$build"/packages/hespas-*-linux-*.tar.gz)
    [ "$(stat -c %s "$archive")" -lt 20000000 ] || fail "$archive has 20 MB or more"
    mmdebstrap --quiet --variant=minbase bookworm "$place/bare.tar"
    unpacked "$place/bare.tar"
    mkdir "$place/root/opt/folder with ümlaut"
    tar -xf "$archive" -C "$place/root/opt/folder with ümlaut"
    predicts "$place/root" "/opt/folder with ümlaut/$(basename "$archive" .tar.gz)/bin/hespas"
    ;;
  wheel)
    wheel=$("$root/scripts/build_wheel.sh" "$place/wheel" "$build")
    mmdebstrap --quiet --variant=minbase --include=python3 bookworm "$place/bare.tar"
    unpacked "$place/bare.tar"
    python3 -m zipfile -e "$wheel" "$place/root/opt/hespas"
    chmod +x "$place"/root/opt/hespas/hespas/bin/*  # as pip does
    predicts "$place/root" /opt/hespas/hespas/bin/hespas
    chroot "$place/root" env PYTHONPATH=/opt/hespas python3 -c 'import hespas; print(hespas.__version__)' >/dev/null || fail "no module"
    ;;
  deb)
    "$root/scripts/package.sh" deb "$build"
    "$root/scripts/package.sh" rootfs "$build"
    unpacked "$build/packages/hespas-rootfs.tar"
    [ "$(chroot "$place/root" hespas --version)" = "$("$build/bin/hespas" --version)" ] || fail "another version"
    predicts "$place/root" hespas
    chroot "$place/root" hespas devices H100_80GB >/dev/null  # without /proc
    chroot "$place/root" hespas_mlir_analyzer "/tmp/$example" >/dev/null
    for file in man/man1/hespas-run.1 bash-completion/completions/hespas hespas/schemas hespas/devices doc/hespas/hespas.spdx.json; do
      [ -s "$place/root/usr/share/$file" ] || [ -d "$place/root/usr/share/$file" ] || fail "no share/$file in the package"
    done
    ;;
  *) fail "unknown part $part" ;;
esac
