#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows cudaenv at work in a scratch directory: two CUDA releases side by side, each project compiling with its own.
# Nothing outside the scratch directory is changed but for the packages that the build needs.
set -euo pipefail
cd "$(dirname "$0")"

scripts/dependencies.sh demo
cmake --preset release -DBUILD_TESTING=OFF >/dev/null
cmake --build --preset release

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDAENV_VERSION CUDAENV_MIRROR CUDA_HOME CUDA_PATH CUDAToolkit_ROOT CUDACXX
export CUDAENV_ROOT=$scratch/cudaenv CUDAENV_SHARED_ROOT=
cudaenv=$PWD/build/bin/cudaenv
make_mirror="python3 tests/support/make_mirror.py"
cache=${CUDAENV_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cudaenv-tests}

# Where the two releases come from: NVIDIA's server; else a mirror in its format made of the toolkit on this machine and
# of NVIDIA's wheels; else small samples that only know how to answer --version.
first=13.0.2 second=12.8.1 profile=minimal
if "$cudaenv" install --list >/dev/null 2>&1; then
  echo "# from NVIDIA's server, profile minimal"
else
  mirror=$scratch/mirror
  wheels=13.1.1
  if $make_mirror "$mirror" --from-toolkit >"$scratch/made" 2>&1 &&
     $make_mirror "$mirror" --from-wheels $wheels --components minimal >>"$scratch/made" 2>&1; then
    first=$(sed -n 's/^[^:]*: \([0-9.]*\),.*/\1/p' "$scratch/made" | head -n 1) second=$wheels profile=default
    echo "# NVIDIA's server cannot be reached: from a mirror made of this machine's CUDA $first and NVIDIA's wheels of $second"
  else
    cat "$scratch/made" >&2
    rm -rf "$mirror"
    $make_mirror "$mirror" --samples $first $second >/dev/null
    profile=samples
    echo "# neither NVIDIA's server nor real toolkits can be had: from sample toolkits, which do not compile"
  fi
  export CUDAENV_MIRROR=$mirror
  # These manifests are not the ones that NVIDIA published, and the registry knows that.
  export CUDAENV_ACCEPT_MANIFEST=any
fi
options=()
[ $profile = minimal ] && options=(--profile minimal)

mkdir "$scratch/bin" "$scratch/old" "$scratch/new"
ln -s "$cudaenv" "$scratch/bin/cudaenv"
export PATH=$CUDAENV_ROOT/shims:$scratch/bin:/usr/bin:/bin

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}

cat >"$scratch/hello.cu" <<'CU'
#include <cstdio>
#include <cuda_runtime.h>
__global__ void add(int* sum, int a, int b) { *sum = a + b; }
int main() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("built with CUDA %d.%d, running with runtime %d.%d\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
              version / 1000, version % 1000 / 10);
}
CU

run cudaenv install --list | tail -n 5
run cudaenv install $first "${options[@]}"
run cudaenv install $second "${options[@]}"
for project in old new; do
  cp "$scratch/hello.cu" "$scratch/$project/"
  run cd "$scratch/$project"
  [ $project = old ] && release=$first || release=$second
  run cudaenv local $release
  run cat .cuda-version
  run nvcc --version
  if [ $profile != samples ]; then
    run nvcc -o hello hello.cu
    run ./hello
  fi
done
run cudaenv version
run cudaenv versions
run cudaenv uninstall $first
run cudaenv versions
echo
echo "# done: two projects, two toolkits, nothing re-linked"
