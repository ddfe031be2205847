#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the distribution's packages that cudaenv needs, those that are missing only.
# usage: scripts/dependencies.sh build|demo|test
set -eu

purpose=${1:-build}

if command -v apt-get >/dev/null 2>&1; then
  packages="g++ cmake ninja-build libcurl4-openssl-dev libarchive-dev liblzma-dev libssl-dev libtomlplusplus-dev libcli11-dev
    nlohmann-json3-dev libexpected-dev libfmt-dev ca-certificates python3"
  # For a mirror of real toolkits.
  [ "$purpose" = build ] || packages="$packages python3-pip xz-utils"
  [ "$purpose" != test ] ||
    packages="$packages libgtest-dev curl ccache strace zsh fish pkg-config binutils util-linux procps make tmux sudo
      direnv environment-modules gdb valgrind lld openssl"
  # To build the library shims for the other machine, and to run them.
  [ "$purpose" != test ] || [ "$(uname -m)" != x86_64 ] ||
    packages="$packages g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
  is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
  install_packages() { DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends "$@"; }
  refresh() { $as_root apt-get update -q; }
elif command -v dnf >/dev/null 2>&1; then
  packages="gcc-c++ cmake ninja-build libcurl-devel libarchive-devel xz-devel openssl-devel tomlplusplus-devel cli11-devel
    json-devel expected-devel fmt-devel libstdc++-static glibc-static ca-certificates python3"
  [ "$purpose" = build ] || packages="$packages python3-pip xz"
  [ "$purpose" != test ] ||
    packages="$packages gtest-devel curl ccache strace zsh fish pkgconf binutils util-linux procps-ng make tmux sudo
      environment-modules gdb valgrind lld openssl"
  is_installed() { rpm -q "$1" >/dev/null 2>&1; }
  install_packages() { $as_root dnf install -y -q "$@"; }
  refresh() { :; }
else
  echo "dependencies.sh: neither apt-get nor dnf is here; see the lists in this file for what to install" >&2
  exit 1
fi

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo

missing=
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing" >&2
refresh >&2
# shellcheck disable=SC2086  # a list of package names
install_packages $missing >&2
