#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds cudaenv and installs it for this user.
# usage: ./install.sh [PREFIX]      default: ~/.cudaenv, which is also where toolkits go
set -eu
cd "$(dirname "$0")"

prefix=${1:-${CUDAENV_ROOT:-$HOME/.cudaenv}}
scripts/dependencies.sh build
cmake --preset release -DBUILD_TESTING=OFF
cmake --build --preset release
cmake --install build --prefix "$prefix" --strip

root=${CUDAENV_ROOT:-$HOME/.cudaenv}
cat <<END

cudaenv is in $prefix/bin. To have it and the shims in every shell, add this line to ~/.profile or ~/.bashrc:

  export PATH="$root/shims:$prefix/bin:\$PATH"

then: cudaenv install 12.8 && cudaenv global 12.8
END
