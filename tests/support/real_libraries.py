# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's libraries in toolkits of a root, as far as they can be asked without a GPU, and in directories where pip
would put them. What was unpacked of a wheel is kept beside it."""

import functools
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from support.cudart import Missing, compile_c
from support.real_cudart import RealCudart, mapped, runtime_wheel
from support.real_toolkits import cache

RELEASES = ("12.8.1", "13.1.1")
STEMS = ("libcublas", "libcublasLt", "libcufft", "libcusparse", "libnvJitLink", "libnvrtc")
COMPONENTS = ("nvidia-cublas", "nvidia-cufft", "nvidia-cusparse", "nvidia-cuda-nvrtc", "nvidia-nvjitlink")

# Asks each library something that it knows without a GPU, and NVRTC to compile.
ASKING = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
size_t cublasLtGetVersion(void);
int cublasGetProperty(int, int *), cufftGetVersion(int *), cufftPlan1d(int *, int, int, int), cusparseGetProperty(int, int *);
int nvJitLinkVersion(unsigned *, unsigned *), nvrtcVersion(int *, int *), nvrtcCompileProgram(void *, int, const char **);
const char *cublasGetStatusString(int), *cusparseGetErrorString(int);
int nvrtcCreateProgram(void **, const char *, const char *, int, const char **, const char **);
int nvrtcGetPTXSize(void *, size_t *), nvrtcGetPTX(void *, char *);
static void compile(void) {
  void *program = NULL;
  size_t size = 0;
  int created = nvrtcCreateProgram(&program, "__global__ void k(int *p) { *p = 1; }", "k.cu", 0, NULL, NULL);
  int compiled = nvrtcCompileProgram(program, 0, NULL);
  nvrtcGetPTXSize(program, &size);
  char *text = calloc(1, size + 1);
  nvrtcGetPTX(program, text);
  char *version = strstr(text, ".version");
  printf("nvrtc: %d %d %.13s\n", created, compiled, version ? version : "");
}
int ask(void) {
  int a = -1, b = -1, plan = 0;
  unsigned c = 0, d = 0;
  cublasGetProperty(0, &a), cublasGetProperty(1, &b);
  printf("cublas: %d.%d %zu %s\n", a, b, cublasLtGetVersion(), cublasGetStatusString(1));
  cufftGetVersion(&a);
  printf("cufft: %d, plan: %d\n", a, cufftPlan1d(&plan, 256, 0x29, 1));
  cusparseGetProperty(0, &a), cusparseGetProperty(1, &b);
  printf("cusparse: %d.%d %s\n", a, b, cusparseGetErrorString(1));
  nvJitLinkVersion(&c, &d);
  printf("nvJitLink: %u.%u\n", c, d);
  nvrtcVersion(&a, &b);
  printf("nvrtc: %d.%d\n", a, b);
  compile();
  fflush(stdout);
  return 0;
}
int tell_maps(void) {
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (strchr(line, '/')) fputs(strchr(line, '/'), stderr);
  return 0;
}
"""
MAIN = ASKING + "int main(void) { return ask() + tell_maps(); }\n"


@functools.lru_cache(maxsize=None)
def site(release):
    """What pip makes of the wheels of a release; Missing, with the reason, where they cannot be had."""
    files = [runtime_wheel(release, component) for component in (*COMPONENTS, "nvidia-cuda-runtime")]
    place = cache() / f"site-{release}-libraries"
    if not place.is_dir():
        with tempfile.TemporaryDirectory(dir=cache()) as partial:
            for file in files:
                with zipfile.ZipFile(file) as wheel:
                    wheel.extractall(Path(partial, "site"))
            Path(partial, "site").rename(place)
    return place


def libraries_of(directory, stems=STEMS):
    """Of each stem the file under its SONAME, in a directory of any depth."""
    return [min(directory.glob(f"**/{stem}.so.*"), key=lambda path: len(path.name)) for stem in stems]


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class RealLibraries(RealCudart):
    """The toolkit of the machine, and the releases with their libraries."""

    @classmethod
    def give(cls, release):
        if release not in RELEASES:
            raise Missing(f"no libraries of {release}")
        place = site(release)
        directory = cls.box.toolkit(release) / "lib"
        directory.mkdir()
        for file in place.glob("nvidia/*/lib/*.so*"):
            link_or_copy(file, directory / file.name)
        (directory.parent / "lib64").symlink_to("lib")

    def libraries(self, release):
        try:
            return libraries_of(self.directory(release) / "lib64")
        except ValueError:
            self.skipTest(f"the toolkit {release} does not have all of {', '.join(STEMS)}")

    def asking(self, release):
        """A program linked with the libraries of a release."""
        output = self.programs / f"asking-libraries-{release}"
        flags = (*self.libraries(release), f"-Wl,-rpath-link,{self.directory(release) / 'lib64'}", "-Wl,--no-as-needed")
        return output if output.exists() else compile_c(output, *flags, source=MAIN)

    def direct(self, release):
        """What the libraries themselves say."""
        result = self.box.run(self.asking(release), env={"LD_LIBRARY_PATH": str(self.directory(release) / "lib64")})
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode()

    def assert_served_by(self, result, files, shims=True):
        """Every library is one of the files, and nothing but the shims is beside them."""
        for stem, file in zip(STEMS, files):
            found = {path for path in mapped(result, f"{stem}.so")}
            found -= {self.library_shims / file.name} if shims else set()
            self.assertEqual(found, {file.resolve()}, result.stderr)
        for path in mapped(result, "libnvrtc-builtins"):
            self.assertEqual(path.parent, files[-1].resolve().parent)
