#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds cudaenv and installs it for this user.
# usage: ./install.sh [PREFIX]      default: ~/.cudaenv, which is also where toolkits go
set -eu

root=${CUDAENV_ROOT:-$HOME/.cudaenv}
prefix=${1:-$root}
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
cd "$(dirname "$0")"

scripts/dependencies.sh build
cmake --preset release -DBUILD_TESTING=OFF
cmake --build --preset release
cmake --install build --prefix "$prefix" --strip
# Shims of an older version become those of this one.
"$prefix/bin/cudaenv" rehash

cat <<END

cudaenv is in $prefix/bin. To have it and the shims in every shell, add this line to ~/.profile or ~/.bashrc:

  export PATH="$root/shims:$prefix/bin:\$PATH"

then: cudaenv install 12.8 && cudaenv global 12.8
END
