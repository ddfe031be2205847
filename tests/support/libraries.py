# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for what else a toolkit holds: libraries that need each other, or open each other by name, in the ways of
NVIDIA's. Each can be asked of which release it is."""

import functools
import shutil

from support.cudart import CudartTest, program, stand_in, workshop

LT = "int cublasLtVersion(void) { return VERSION; }\n"
BLAS = """\
int cublasLtVersion(void);
int cublasVersion(void) { return VERSION; }
int cublasLtOfIt(void) { return cublasLtVersion(); }
"""
LINKER = "int nvJitLinkVersion(void) { return VERSION; }\n"
OPENING = """\
#include <dlfcn.h>
static int ask(const char *file, const char *function) {
  void *library = dlopen(file, RTLD_NOW);
  int (*found)(void) = library ? (int (*)(void))dlsym(library, function) : 0;
  return found ? found() : -1;
}
"""
FFT = OPENING + """\
int cufftVersion(void) { return VERSION; }
int cufftLinkerOfIt(void) { return ask("libnvJitLink.so.13", "nvJitLinkVersion"); }
int cufftCompilerOfIt(void) { return ask("libnvrtc.so.13", "nvrtcBuiltins"); }
"""
BUILTINS = "int nvrtcBuiltinsVersion(void) { return VERSION; }\n"
COMPILER = OPENING + """\
int nvrtcVersion(void) { return VERSION; }
int nvrtcBuiltins(void) { return ask(BUILTINS, "nvrtcBuiltinsVersion"); }
"""
SOLVER = "int cublasVersion(void);\nint cusolverMgVersion(void) { return VERSION; }\n" \
         "int cusolverMgBlasOfIt(void) { return cublasVersion(); }\n"
# Not linked with -Bsymbolic: what it calls of its own may be answered by whoever is first in the process.
RANDOM = """\
int curandVersion(void) { return VERSION; }
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = curandVersion(); }
int curandConstructed(void) { return constructed; }
int curandOwn(void) { return curandVersion(); }
"""
BROUGHT = 13077  # by somebody; only their NVRTC has a run path
BESIDE = ("-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN")
LEFT_OUT = ("libcudnn.so.9", "libcufile.so.0", "libnvblas.so.13", "libOpenCL.so.1", "libstdc++.so.6")

# Does what its arguments say, in order: `@DIRECTORY` goes there, `NAME=VALUE` sets a variable, a file is opened, and a
# function of the file opened last is called, its answer printed.
HOST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  void *library = NULL;
  for (int i = 1; i < count; ++i) {
    if (words[i][0] == '@') {
      if (chdir(words[i] + 1) != 0) return 2;
      unsetenv("PWD");
    } else if (strchr(words[i], '=')) {
      putenv(words[i]);
    } else if (strstr(words[i], ".so")) {
      if (!(library = dlopen(words[i], RTLD_NOW))) { printf("%s\n", dlerror()); return 1; }
    } else {
      int (*function)(void) = (int (*)(void))dlsym(library, words[i]);
      if (!function) { printf("%s\n", dlerror()); return 1; }
      printf("%d\n", function());
      fflush(stdout);
    }
  }
  return 0;
}
"""


@functools.lru_cache(maxsize=None)
def libraries(version):
    """All of them, in one directory."""
    directory = workshop() / f"libraries-{version}"

    def make(soname, source, *flags):
        node = None if {*"-+"} & {*soname} else soname  # a linker's script has no such names
        return stand_in(directory / soname, node, version, *flags, source=source, exports="cu*; nv*;")

    minor = f"libnvrtc-builtins.so.13.{version % 1000 // 10}"
    lt = make("libcublasLt.so.13", LT)
    blas = make("libcublas.so.13", BLAS, lt, *BESIDE)
    make("libnvJitLink.so.13", LINKER)
    make("libcufft.so.12", FFT, "-ldl", *BESIDE)
    make(minor, BUILTINS)
    make("libnvrtc.so.13", COMPILER, f"-DBUILTINS=\"{minor}\"", "-ldl", *(BESIDE if version == BROUGHT else ()))
    make("libcusolverMg.so.12", SOLVER, "-Wl,--no-as-needed", lt, blas)
    make("libcurand.so.10", RANDOM)
    for soname in LEFT_OUT:
        make(soname, LINKER)
    return directory


class LibrariesTest(CudartTest):
    """Toolkits 13.5.0 and 13.9.0 with all of these and a libcudart, and 12.4.1 with a libcudart alone."""

    releases = ("12.4.1", "13.5.0", "13.9.0")

    def give(self, name, library, root=None):
        directory = super().give(name, library, root)
        if name.startswith("13."):
            shutil.copytree(libraries(13000 + 10 * int(name.split(".")[1])), directory / "lib", dirs_exist_ok=True)
        return directory

    def directory(self, release):
        return self.box.root / "versions" / release / "lib"

    def elsewhere(self, spec):
        return self.select(spec, self.box.home / f"project-{spec}").parent

    def calls(self, *words, **options):
        return self.box.run(program("libraries_host", HOST, "-ldl"), *words, **options)

    def assert_answers(self, result, *answers):
        found = (result.returncode, result.stdout.decode(), result.stderr.decode())
        self.assertEqual(found, (0, "".join(f"{answer}\n" for answer in answers), ""))
