#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python environment that brings NVIDIA's libraries along, as deep learning frameworks do, keeps them in the shell in which
other programs follow the project. And what Python does by name alone follows the project as well."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import Missing, compile_c
from support.real_cudart import RealCudart, mapped, runtime_wheel, soname_of, wheels
from support.real_toolkits import LONG, runtime_number

# The library of a framework: it needs two of NVIDIA's, and tells which it has got.
NATIVE = """\
int cudaRuntimeGetVersion(int *);
int nvJitLinkVersion(unsigned *, unsigned *);
int runtime(void) { int version = -1; cudaRuntimeGetVersion(&version); return version; }
int linker(void) { unsigned major = 0, minor = 0; nvJitLinkVersion(&major, &minor); return major * 1000 + minor * 10; }
"""
TELL = """
import sys
for line in open("/proc/self/maps"):
    if "/" in line: print(line[line.index("/"):].strip(), file=sys.stderr)
"""
IMPORTING = """\
import ctypes, sys
site = sys.argv[1]
native = ctypes.CDLL(site + "/framework/lib/_native.so", mode=ctypes.RTLD_GLOBAL)
print(native.runtime(), native.linker())
""" + TELL
# What frameworks do where a run path is not enough.
PRELOADING = """\
import ctypes, glob, sys
site = sys.argv[1]
for pattern in ("libcudart.so.*", "libnvJitLink.so.*"):
    (file,) = glob.glob(site + "/nvidia/*/lib/" + pattern)
    ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
native = ctypes.CDLL(site + "/framework/lib/_plain.so")
print(native.runtime(), native.linker())
""" + TELL
# By name alone, as bindings do that bring nothing along.
BY_NAME = """\
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.cudaGetErrorString.restype = ctypes.c_char_p
version = ctypes.c_int(-1)
error = library.cudaRuntimeGetVersion(ctypes.byref(version))
print(error, version.value, library.cudaGetErrorString(1).decode())
""" + TELL
# And once more by each path under which the library is found to be loaded, as some look for it.
BY_MAP = """\
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
answers = set()
paths = sorted({line[line.index("/"):].strip() for line in open("/proc/self/maps") if "/libcudart" in line})
for path in paths:
    version = ctypes.c_int(-1)
    error = ctypes.CDLL(path).cudaRuntimeGetVersion(ctypes.byref(version))
    answers.add((error, version.value))
print(len(paths), *answers)
"""
RUN_PATHS = {"rpath": "--disable-new-dtags", "runpath": "--enable-new-dtags"}


class Environments(RealCudart):
    """One directory with two of NVIDIA's wheels, installed by pip, and a framework built against them."""

    bundled = "12.8.1"

    def setUp(self):
        self.site = self.box.top / f"site-{self.bundled}"
        if not self.site.exists():
            try:
                files = [runtime_wheel(self.bundled), runtime_wheel(self.bundled, "nvidia-nvjitlink")]
                pip = wheels.pip_command()
            except (Missing, wheels.Unavailable) as reason:
                self.skipTest(str(reason))
            options = ("--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check")
            made = subprocess.run([*pip, "install", *options, "--target", self.site, *files], capture_output=True, text=True,
                                  timeout=LONG)
            self.assertEqual(made.returncode, 0, made.stderr)
        self.libraries = [file for name in ("libcudart", "libnvJitLink") for file in self.site.glob(f"nvidia/*/lib/{name}.so.*")]
        self.assertEqual(len(self.libraries), 2)
        self.runtime, self.linker = self.libraries
        self.answer = "{0} {0}\n".format(runtime_number(self.bundled))

    def framework(self, name, *flags, libraries=None, source=NATIVE):
        directory = self.site / "framework" / "lib"
        return compile_c(directory / name, "-shared", "-fPIC", *(libraries or self.libraries), *flags, source=source)

    def run_path(self, kind):
        places = ":".join(f"$ORIGIN/../../{file.parent.relative_to(self.site)}" for file in self.libraries)
        return (f"-Wl,{RUN_PATHS[kind]},-rpath,{places}",)

    def python(self, script, *arguments, **options):
        return self.box.run(sys.executable, "-c", script, *arguments, **options)

    def projects(self):
        """That select another minor, another major, one that is not installed, one that cannot be, and nothing."""
        there = [release for release in self.there() if release != self.bundled]
        return [*map(self.project, there), self.project("13.99"), self.project("../13"), self.box.home]

    def assert_bundled(self, result, beside=()):
        self.assertEqual((result.returncode, result.stdout.decode()), (0, self.answer), result.stderr)
        self.assertEqual(mapped(result), {self.runtime.resolve(), *beside})
        self.assertLessEqual({self.linker.resolve()}, mapped(result, "libnvJitLink"))
        shim = {self.library_shims / self.linker.name}  # only where a toolkit has this library too
        self.assertLessEqual(mapped(result, "libnvJitLink"), {self.linker.resolve()} | (shim if beside else set()))

    def test_framework_with_a_run_path_keeps_its_libraries(self):
        for kind in RUN_PATHS:
            self.framework("_native.so", *self.run_path(kind))
            # DT_RPATH comes before the library path, so that the loader does not see the shim at all.
            beside = {self.library_shims / self.runtime.name} if kind == "runpath" else ()
            for project in self.projects():
                with self.subTest(kind=kind, project=project.name):
                    self.assert_bundled(self.python(IMPORTING, self.site, cwd=project), beside)

    def test_framework_that_preloads_keeps_its_libraries(self):
        self.framework("_plain.so")
        for project in self.projects():
            with self.subTest(project=project.name):
                self.assert_bundled(self.python(PRELOADING, self.site, cwd=project))

    def test_program_of_the_project_in_the_same_shell(self):
        self.framework("_native.so", *self.run_path("runpath"))
        for release in self.of_soname(self.bundled):
            with self.subTest(selected=release):
                project = self.project(release)
                self.assert_follows(self.report("prototypes", release, project), release)
                self.assert_bundled(self.python(IMPORTING, self.site, cwd=project), {self.library_shims / self.runtime.name})

    def test_nothing_of_the_environment_serves_a_library_without_a_run_path(self):
        # There is nothing that says so, and the project decides.
        source = "".join(line for line in NATIVE.splitlines(True) if "nvJitLink" not in line)
        self.framework("_runtime.so", libraries=[self.runtime], source=source)
        script = IMPORTING.replace("_native", "_runtime").replace(", native.linker()", "")
        for release in self.of_soname(self.bundled):
            with self.subTest(selected=release):
                result = self.python(script, self.site, cwd=self.project(release),
                                     env={"LD_LIBRARY_PATH": f"{self.library_shims}:{self.linker.parent}"})
                self.assertEqual(result.stdout.decode(), f"{runtime_number(release)}\n", result.stderr)
                self.assertEqual(mapped(result), {self.real_library(release), self.library_shims / self.runtime.name})


class OneDirectory(Environments):
    """The same with the wheels of 13.x, which put everything into one directory."""

    bundled = "13.1.1"


class ByName(RealCudart):
    def of_python(self, script, release):
        return self.box.run(sys.executable, "-c", script, soname_of(release), cwd=self.project(release))

    def test_library_opened_by_its_name(self):
        for release in self.there():
            with self.subTest(selected=release):
                result = self.of_python(BY_NAME, release)
                self.assertEqual(result.returncode, 0, result.stderr)
                error, number, words = result.stdout.decode().strip().split(" ", 2)
                if not release.startswith("11.") or error == "0":  # 11.x tells its version only with a driver
                    self.assertEqual((error, number), ("0", str(runtime_number(release))))
                self.assertEqual(words, "invalid argument")
                self.assertEqual(mapped(result), {self.real_library(release), self.library_shims / soname_of(release)})

    def test_every_path_that_the_maps_of_the_process_show_answers_alike(self):
        for release in self.there():
            with self.subTest(selected=release):
                result = self.of_python(BY_MAP, release)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stdout.decode(), rf"^2 \((0, {runtime_number(release)}|[1-9]\d*, -1)\)\n$")

    def test_another_major_is_an_error_that_can_be_caught(self):
        release = self.need("12.8.1")
        for other in self.there():
            if soname_of(other) == soname_of(release):
                continue
            with self.subTest(selected=other):
                project = self.project(other)
                result = self.box.run(sys.executable, "-c", BY_NAME, soname_of(release), cwd=project)
                self.assertEqual((result.returncode, result.stdout), (1, b""))
                self.assertIn("OSError: ", result.stderr.decode())
                self.assert_words(result.stderr.decode(), soname_of(release), other, project)


if __name__ == "__main__":
    unittest.main()
