# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own libcudart in toolkits of a root: the toolkit of this machine, adopted, and runtimes of NVIDIA's wheels.

A toolkit of a wheel holds what the wheel does, with the links that NVIDIA's archives bring, and of the compiler no more
than the name. A runtime that cannot be had here skips the tests that need it, with the reason."""

import functools
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import toolkit as machines
import wheels
from support.cudart import Missing, TEMPLATE, compile_c
from support.real_toolkits import runtime_number
from support.sandbox import PROGRAM, Sandbox

MACHINE = "the machine's"
SONAME_OF_MAJOR = {"11": "libcudart.so.11.0", "12": "libcudart.so.12", "13": "libcudart.so.13"}
WHEEL_RELEASES = ("11.8.0", "12.4.1", "12.8.1", "13.1.1")


def numbers(release):
    return tuple(map(int, release.split(".")))


def soname_of(release):
    return SONAME_OF_MAJOR[release.split(".")[0]]


@functools.lru_cache(maxsize=None)
def runtime_wheel(release, component="nvidia-cuda-runtime"):
    """The wheel that has a component of a release; Missing, with the reason, where it cannot be had."""
    major = release.split(".")[0]
    try:
        return wheels.fetch(component + ("" if int(major) >= 13 else f"-cu{major}"), wheels.pinned(release)[component])
    except machines.Unavailable as reason:
        raise Missing(str(reason)) from reason


def add_wheel(toolkit, wheel):
    """Puts the files of a wheel where those of an archive would be."""
    with tempfile.TemporaryDirectory(prefix="cudaenv-wheel-") as scratch:
        for name, entry in wheels.tree_of(wheel, Path(scratch)).items():
            file = toolkit / name
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(entry.data, file)


# The answer to every question that needs no GPU, one a line. A machine that has one hides it.
REPORTING = r"""
#include <stdio.h>
#ifdef WITH_HEADERS
#include <cuda_runtime_api.h>
#define ASK(function) function
#else
typedef int cudaError_t;
#ifdef OPENED
#include <dlfcn.h>
static void *library;
#define ASK(function) ((__typeof__(&function))dlsym(library, #function))
#else
#define ASK(function) function
#endif
cudaError_t cudaRuntimeGetVersion(int *);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaDriverGetVersion(int *);
const char *cudaGetErrorName(cudaError_t);
const char *cudaGetErrorString(cudaError_t);
#endif
static void tell(const char *what, cudaError_t error) {
  printf("%s: %d %s: %s\n", what, (int)error, ASK(cudaGetErrorName)(error), ASK(cudaGetErrorString)(error));
}
int main(int count, char **arguments) {
#ifdef OPENED
  if (!(library = dlopen(arguments[1], RTLD_NOW))) { printf("%s\n", dlerror()); return 1; }
#endif
  int number = 0;
  void *memory = NULL;
  cudaError_t error = ASK(cudaRuntimeGetVersion)(&number);
  printf("%d %d\n", (int)error, number);
  tell("count", ASK(cudaGetDeviceCount)(&number));
  tell("peek", ASK(cudaPeekAtLastError)());
  tell("last", ASK(cudaGetLastError)());
  tell("forgotten", ASK(cudaGetLastError)());
  tell("allocate", ASK(cudaMalloc)(&memory, 16));
  tell("free", ASK(cudaFree)(NULL));
  tell("nowhere", ASK(cudaRuntimeGetVersion)(NULL));
  tell("invalid", (cudaError_t)1);
  tell("unknown", (cudaError_t)4711);
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char *path = line;
    while (*path && *path != '/') ++path;
    if (*path) fprintf(stderr, "%s", path);
  }
  (void)count, (void)arguments;
  return 0;
}
"""


def mapped(result, name="libcudart"):
    """The files of that name which a program has told it has mapped, links resolved."""
    paths = {os.path.realpath(line) for line in result.stderr.decode().splitlines() if f"/{name}" in line}
    return {Path(path) for path in paths}


class RealCudart(unittest.TestCase):
    """A root with every runtime that can be had, and a project for each."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        for file in (PROGRAM, TEMPLATE):
            if not file.exists():
                raise unittest.SkipTest(f"{file} is not built")
        if not (shutil.which("gcc") or shutil.which("cc")):
            raise unittest.SkipTest("no C compiler")
        cls.box = Sandbox()
        cls.addClassCleanup(cls.box.close)
        cls.library_shims = cls.box.shims / "lib"
        cls.programs = cls.box.top / "programs"
        host = cls.box.top / "host"  # a system without any libcudart
        host.mkdir()
        cls.box.environment.update(CUDAENV_HOST_ROOT=str(host), LD_LIBRARY_PATH=str(cls.library_shims), CUDA_VISIBLE_DEVICES="")
        cls.missing, cls.machine = {}, None
        cls.bring(MACHINE, cls.adopt)
        for release in WHEEL_RELEASES:
            if release != cls.machine:
                cls.bring(release, functools.partial(cls.give, release))
        rehashed = cls.box.run(PROGRAM, "rehash")
        if rehashed.returncode != 0:
            raise RuntimeError(f"rehash: {rehashed.stderr.decode()}")

    @classmethod
    def bring(cls, key, maker):
        try:
            maker()
        except Missing as reason:
            cls.missing[key] = str(reason)

    @classmethod
    def adopt(cls):
        try:
            directory = machines.find()
        except machines.Unavailable as reason:
            raise Missing(str(reason)) from reason
        adopted = cls.box.run(PROGRAM, "adopt", directory)
        if adopted.returncode != 0:
            raise Missing(adopted.stderr.decode().strip())
        (link,) = (path for path in (cls.box.root / "versions").iterdir() if path.is_symlink())
        if not re.fullmatch(r"\d+\.\d+\.\d+", link.name) or not (link / "lib64" / soname_of(link.name)).exists():
            raise Missing(f"{directory} has no libcudart of its release")
        cls.machine = link.name

    @classmethod
    def give(cls, release):
        wheel = runtime_wheel(release)
        directory = cls.box.toolkit(release)
        add_wheel(directory, wheel)
        (directory / "lib64").symlink_to("lib")
        (directory / "lib" / "libcudart.so").symlink_to(soname_of(release))

    def need(self, key):
        """The release of MACHINE, or of a wheel."""
        if key in self.missing:
            self.skipTest(self.missing[key])
        return self.machine if key == MACHINE else key

    def there(self):
        """All releases that could be had."""
        found = {self.machine, *WHEEL_RELEASES} - {None, *self.missing}
        if not found:
            self.skipTest(self.reasons())
        return sorted(found, key=numbers)

    def of_soname(self, release):
        return [other for other in self.there() if soname_of(other) == soname_of(release)]

    def reasons(self):
        return "; ".join(self.missing.values())

    def directory(self, release):
        return self.box.root / "versions" / release

    def real_library(self, release):
        return (self.directory(release) / "lib64" / soname_of(release)).resolve()

    def project(self, text):
        """A directory that selects this."""
        return self.box.write(f"home/project-{text}/.cuda-version", f"{text}\n").parent

    def reporting(self, kind, release):
        """The program of that kind for the libcudart of a release."""
        output = self.programs / f"{kind}-{release}"
        toolkit = self.directory(release)
        flags = {"prototypes": ("-L", toolkit / "lib64", "-lcudart"),
                 "headers": ("-DWITH_HEADERS", "-I", toolkit / "include", "-L", toolkit / "lib64", "-lcudart"),
                 "opened": ("-DOPENED", "-ldl")}[kind]
        return output if output.exists() else compile_c(output, *flags, source=REPORTING)

    def report(self, kind, built_for, project, **env):
        """Runs it; only ROOT/shims/lib is on the library path."""
        program = self.reporting(kind, built_for)
        return self.box.run(program, soname_of(built_for), cwd=project, env=env)

    def report_of_direct_load(self, release):
        """What the same program says of the library itself, without a shim."""
        result = self.report("opened", release, self.box.home, LD_LIBRARY_PATH=str(self.directory(release) / "lib64"))
        self.assertEqual((result.returncode, mapped(result)), (0, {self.real_library(release)}), result.stdout)
        return result.stdout.decode()

    def assert_follows(self, result, release):
        """The program has been served by that toolkit and no other, in every answer."""
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.decode(), self.report_of_direct_load(release))
        error, number = map(int, result.stdout.decode().splitlines()[0].split())
        # Without a driver, 11.x does not even tell its version; then the rest has to do.
        if error == 0 or not release.startswith("11."):
            self.assertEqual((error, number), (0, runtime_number(release)))
        self.assertEqual(mapped(result), {self.real_library(release), self.library_shims / soname_of(release)})

    def assert_refused(self, result, needed, release, project):
        """A linked program that has not begun, and why."""
        error = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (127, b""), error)
        self.assert_words(error, needed, release, project)

    def assert_words(self, text, needed, release, project):
        self.assertIn(f"this program needs {needed}, but CUDA {release} (set by {project}/.cuda-version:1) "
                      f"provides {soname_of(release)}", text)
        newest = [other for other in self.there() if soname_of(other) == needed][-1]
        self.assertIn(f"try: cudaenv exec -v {newest} -- PROGRAM", text)
