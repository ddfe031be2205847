#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing need, builds, and runs all tests.
# usage: ./test.sh [CTEST ARGUMENTS]      for example ./test.sh -R unit
set -eu
cd "$(dirname "$0")"

scripts/dependencies.sh test
cmake --preset release -DBUILD_TESTING=ON
cmake --build --preset release
# The tests measure nothing and share no files, so they run side by side.
ctest --preset release -j "$(nproc)" "$@"
