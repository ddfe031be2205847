# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for libcudart: small libraries of the same file name, SONAME and version node, made by the compiler of the
machine, each of which can be asked which one it is. And programs that are linked with them."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.program import ProgramTest
from support.sandbox import BUILD

TEMPLATE = BUILD / "libexec" / "cudaenv" / "cudaenv-library-shim.so"

# Release of a toolkit: SONAME of its libcudart, and what cudaRuntimeGetVersion answers.
RELEASES = {"11.8.0": ("libcudart.so.11.0", 11080), "12.4.1": ("libcudart.so.12", 12040),
            "12.8.1": ("libcudart.so.12", 12080), "13.5.0": ("libcudart.so.13", 13050),
            "13.9.0": ("libcudart.so.13", 13090)}
SONAMES = ("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13")
BUNDLED = 13099  # a copy that somebody brings along

STAND_IN = r"""
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
struct channel { int x, y, z, w, kind; };
struct large { char bytes[40]; };
int cudaRuntimeGetVersion(int *version) { *version = VERSION; return 0; }
const char *cudaGetErrorString(int error) { return error ? "an error" : "no error"; }
const char *cudaGetErrorName(int error) { return error ? "cudaError" : "cudaSuccess"; }
void *__cudaRegisterFatBinary(void *image) { return image; }
struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  struct channel made = {x, y, z, w, kind};
  return made;
}
int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) { (void)stream; function(data); return 0; }
double cudaSumOfAll(int a, int b, int c, int d, int e, int f, int g, int h, int i, double x, float y, struct large l,
                    double z) {
  return a + b + c + d + e + f + g + h + i + x + y + l.bytes[0] + l.bytes[39] + z;
}
#define NUMBERED(n) int cudaNumbered##n(void) { return n; }
#define TEN(n) NUMBERED(n##0) NUMBERED(n##1) NUMBERED(n##2) NUMBERED(n##3) NUMBERED(n##4) \
               NUMBERED(n##5) NUMBERED(n##6) NUMBERED(n##7) NUMBERED(n##8) NUMBERED(n##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6)
#if VERSION >= 13090
int cudaNewIn13_9(void) { return 139; }
#elif VERSION >= 13000
int cudaOnlyIn13_5(void) { return 135; }
#endif
/* What a constructor of a library may do: use libc, and call a function of its own. */
int standInsOwnVersion;
__attribute__((visibility("hidden"))) void *nothing(void *data) { return data; }
__attribute__((constructor)) static void construct(void) {
  pthread_t thread;
  if (!isdigit('7') || strtod("1.5", 0) != 1.5) abort();
  if (pthread_create(&thread, 0, nothing, 0) == 0) pthread_join(thread, 0);
  int version = 0;
  int (*volatile self)(int *) = cudaRuntimeGetVersion;
  self(&version);
  if (version < VERSION) abort();
}
"""
EXPORTS = "cuda*; __cuda*;"


class Missing(unittest.SkipTest):
    """What the test needs is not on this machine: it is skipped, with this text."""


def compiler(name="gcc"):
    found = shutil.which(name) or (shutil.which("cc") if name == "gcc" else None)
    if not found:
        raise Missing(f"no {name}")
    return found


def compile_c(output, *arguments, source=None, language="c", with_compiler="gcc"):
    """Runs a compiler; `source` is the text of a file."""
    output = Path(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler(with_compiler), "-o", output]
    if source is not None:
        file = output.parent / f".{output.name}.{'cpp' if language == 'c++' else 'c'}"
        file.write_text(source)
        command.append(file)
    result = subprocess.run([*map(str, command), *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stderr}")
    return output


def stand_in(output, soname, version, *arguments, source=STAND_IN, exports=EXPORTS, **options):
    """A library that answers with that version."""
    node = Path(f"{output}.map")
    node.parent.mkdir(parents=True, exist_ok=True)
    node.write_text(f"{soname} {{ global: {exports} local: *; }};\n" if soname else f"{{ global: {exports} local: *; }};\n")
    return compile_c(output, "-shared", "-fPIC", "-O1", f"-DVERSION={version}", f"-Wl,-soname,{soname or Path(output).name}",
                     f"-Wl,--version-script={node}", *arguments, source=source, **options)


@functools.lru_cache(maxsize=None)
def workshop():
    """A directory for what is compiled once and used by many tests."""
    directory = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-cudart-")))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    directory.chmod(0o755)
    return directory


@functools.lru_cache(maxsize=None)
def standard_library(release):
    soname, version = RELEASES[release]
    return stand_in(workshop() / release / soname, soname, version)


@functools.lru_cache(maxsize=None)
def bundled_library(soname="libcudart.so.13"):
    return stand_in(workshop() / "bundled" / soname, soname, BUNDLED)


@functools.lru_cache(maxsize=None)
def program(name, source, *arguments, language="c", with_compiler="gcc"):
    return compile_c(workshop() / "programs" / name, *arguments, source=source, language=language,
                     with_compiler=with_compiler)


# Prints the version by a call and by a pointer that the loader has put into its data.
ASKING = r"""
#include <stdio.h>
int cudaRuntimeGetVersion(int *);
int (*pointer)(int *) = cudaRuntimeGetVersion;
int main(void) {
  int called = 0, pointed = 0;
  cudaRuntimeGetVersion(&called);
  pointer(&pointed);
  printf("%d %d\n", called, pointed);
  return 0;
}
"""

# The same by dlopen of its argument; prints what dlerror says. With a second argument it sets CUDAENV_VERSION to that
# and tries once more.
OPENING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (library) {
      int (*ask)(int *) = (int (*)(int *))dlsym(library, "cudaRuntimeGetVersion"), version = 0;
      int result = ask(&version);
      printf("%d %d\n", result, version);
      return 0;
    }
    printf("%s\n", dlerror());
    if (count < 3) return 1;
    setenv("CUDAENV_VERSION", arguments[2], 1);
  }
  return 1;
}
"""


def linked(name, soname_of, *arguments, source=ASKING, **options):
    """A program that was linked with the stand-in of a release."""
    return program(name, source, standard_library(soname_of), *arguments, **options)


def opening():
    return program("opening", OPENING, "-ldl")


class CudartTest(ProgramTest):
    """Toolkits with stand-ins, and the shims that `rehash` makes for them."""

    releases = tuple(RELEASES)

    def setUp(self):
        super().setUp()
        if not TEMPLATE.exists():
            self.skipTest(f"{TEMPLATE} is not built")
        self.library_shims = self.box.shims / "lib"
        host = self.box.top / "host"  # a system without any libcudart
        host.mkdir()
        self.box.environment["CUDAENV_HOST_ROOT"] = str(host)
        self.host = host
        for release in self.releases:
            self.give(release, standard_library(release))
        self.rehash()
        self.box.environment["LD_LIBRARY_PATH"] = str(self.library_shims)

    def need(self, *tools):
        for tool in tools:
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")

    def give(self, name, library, root=None):
        """A toolkit with that libcudart."""
        directory = self.box.toolkit(name, ["nvcc"], root=root)
        (directory / "lib").mkdir(exist_ok=True)
        if not (directory / "lib64").is_symlink():
            (directory / "lib64").symlink_to("lib")
        shutil.copy2(library, directory / "lib" / library.name)
        (directory / "lib" / "libcudart.so").symlink_to(library.name)
        return directory

    def rehash(self, *arguments, **options):
        result = self.cudaenv("rehash", *arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stderr.decode()

    def assert_version(self, result, *versions):
        self.assertEqual((result.returncode, result.stdout.decode(), result.stderr.decode()),
                         (0, " ".join(map(str, versions)) + "\n", ""))

    def assert_refused(self, result, *patterns):
        """A linked program that the loader has ended, before anything of it ran."""
        error = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (127, b""), error)
        for pattern in patterns:
            self.assertIn(str(pattern), error)
        return error
