#!/usr/bin/env bash
# usage: package.sh deb|tarball|rootfs [BUILD]   into BUILD/packages (BUILD: build/release, finished)
#   deb      hespas_VERSION_ARCH.deb, and libhespas-dev for programs of your own
#   tarball  hespas-VERSION-linux-ARCH.tar.gz: one folder that runs from anywhere, with its shared libraries
#   rootfs   hespas-rootfs.tar: a Debian root file system with the .deb installed, for `chroot`, `podman import` and the like
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${2:-$root/build/release}")
packages=$build/packages

# quiet COMMAND...: prints what it said only if it fails
quiet() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 1; }
  rm -f "$log"
}

case ${1:-} in
  deb | tarball)
    generator=DEB
    [ "$1" = tarball ] && generator=TGZ
    cd "$build"
    quiet cpack -G "$generator" -B "$packages"
    rm -rf "$packages/_CPack_Packages"
    ;;
  rootfs)
    # shellcheck disable=SC2016  # $1 is mmdebstrap's
    quiet mmdebstrap --variant=minbase --customize-hook="upload $(ls "$packages"/hespas_*.deb) /tmp/hespas.deb" \
      --customize-hook='chroot "$1" apt-get install -y --no-install-recommends /tmp/hespas.deb && rm "$1/tmp/hespas.deb"' \
      bookworm "$packages/hespas-rootfs.tar"
    ;;
  *)
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
    ;;
esac
