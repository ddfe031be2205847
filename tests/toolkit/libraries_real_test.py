#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cuBLAS, cuFFT, cuSPARSE, nvJitLink and NVRTC through the shims: a program gets all of them of the toolkit that
its project selects, each finds what it opens, and an environment that brings its own keeps them."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import Missing, compile_c
from support.real_cudart import MACHINE, mapped
from support.real_libraries import ASKING, RealLibraries, libraries_of, site
from support.real_toolkits import LONG

CALLING_CUBLAS = """\
#include <cstdio>
#include <cublas_v2.h>
int main() {
  int major = 0, minor = 0;
  cublasGetProperty(MAJOR_VERSION, &major);
  cublasGetProperty(MINOR_VERSION, &minor);
  cublasHandle_t handle = nullptr;
  std::printf("%d.%d %s\\n", major, minor, cublasGetStatusString(cublasCreate(&handle)));
  char line[4096];
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  while (maps && std::fgets(line, sizeof line, maps))
    if (const char* path = __builtin_strchr(line, '/')) std::fputs(path, stderr);
}
"""
# As bindings do: each by its path, in no order that helps.
OPENING = """\
import ctypes, sys
for file in sys.argv[1:-1]: ctypes.CDLL(file)
framework = ctypes.CDLL(sys.argv[-1])
framework.ask()
framework.tell_maps()
"""
# A framework that knows its libraries by name alone, and has a run path to them.
BY_NAME = """
#include <dlfcn.h>
int by_name(void) {
  void *linker = dlopen(LINKER, RTLD_NOW), *compiler = dlopen(COMPILER, RTLD_NOW);
  int (*version)(unsigned *, unsigned *) = linker ? (int (*)(unsigned *, unsigned *))dlsym(linker, "nvJitLinkVersion") : 0;
  unsigned major = 0, minor = 0;
  return version && compiler && version(&major, &minor) == 0 ? (int)(major * 100 + minor) : -1;
}
"""


class Programs(RealLibraries):
    def releases(self):
        """Of CUDA 13, whose libraries have the same SONAMEs."""
        found = [self.need(MACHINE), self.need("13.1.1")]
        if len(set(found)) < 2 or not found[0].startswith("13."):
            self.skipTest("the toolkit of this machine is not of another minor release of CUDA 13")
        return found

    def test_program_follows_the_project(self):
        for built_for in self.releases():
            for release in self.releases():
                with self.subTest(built_for=built_for, selected=release):
                    result = self.box.run(self.asking(built_for), cwd=self.project(release))
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertEqual(result.stdout.decode(), self.direct(release))
                    self.assert_served_by(result, self.libraries(release))

    def test_compiler_has_its_builtins(self):
        for release in self.there():
            with self.subTest(selected=release):
                result = self.box.run(self.asking(release), cwd=self.project(release))
                self.assertRegex(result.stdout.decode(), r"\nnvrtc: 0 0 \.version \d\.\d", result.stderr)
                self.assertEqual(len(mapped(result, "libnvrtc-builtins")), 1)

    def test_toolkit_of_another_major_is_refused(self):
        older, newer = self.need("12.8.1"), self.need("13.1.1")
        for built_for, selected in ((older, newer), (newer, older)):
            with self.subTest(built_for=built_for, selected=selected):
                result = self.box.run(self.asking(built_for), cwd=self.project(selected))
                self.assertEqual((result.returncode, result.stdout), (127, b""))
                self.assertIn(f", but CUDA {selected} (set by", result.stderr.decode())

    def test_what_nvcc_links(self):
        release = self.need(MACHINE)
        if not shutil.which("g++"):
            self.skipTest("no g++")
        self.libraries(release)
        source, project = self.box.write("programs/app.cu", CALLING_CUBLAS), self.project(release)
        program = self.programs / "app"
        made = subprocess.run(["nvcc", source, "-lcublas", "-o", program], cwd=project, env=self.box.environment,
                              capture_output=True, text=True, timeout=LONG)
        self.assertEqual(made.returncode, 0, made.stderr)
        loader = Path("/lib64/ld-linux-x86-64.so.2")
        commands = [(program,)] + ([(loader, "--inhibit-cache", program)] if loader.exists() else [])
        for command in commands:
            for selected in [release] + ([] if "13.1.1" in self.missing else ["13.1.1"]):
                with self.subTest(command=len(command), selected=selected):
                    result = self.box.run(*command, cwd=self.project(selected))
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn(f"cublas: {result.stdout.decode().split()[0]} ", self.direct(selected))
                    self.assertEqual(mapped(result, "libcublas.so") - {self.library_shims / "libcublas.so.13"},
                                     {self.libraries(selected)[0].resolve()})


class Environments(RealLibraries):
    """What pip has installed of 12.8.1, of another major release than some of the projects."""

    bundled = "12.8.1"

    def setUp(self):
        try:
            self.files = libraries_of(site(self.bundled))
        except Missing as reason:
            self.skipTest(str(reason))

    def framework(self, name, *flags, source=ASKING):
        directory = self.programs / f"site-{self.bundled}" / "framework"
        directory.mkdir(parents=True, exist_ok=True)
        nvidia = directory.parent / "nvidia"
        if not nvidia.is_symlink():
            nvidia.symlink_to(site(self.bundled) / "nvidia")
        return compile_c(directory / name, "-shared", "-fPIC", "-Wl,--allow-shlib-undefined", *flags, source=source)

    def run_path(self, tags):
        base = site(self.bundled)
        folders = sorted({str(file.parent.relative_to(base)) for file in self.files})
        places = ":".join(f"$ORIGIN/../{folder}" for folder in folders)
        return (f"-Wl,--{tags}-new-dtags,-rpath,{places}",)

    def python(self, *arguments, **options):
        return self.box.run(sys.executable, "-c", OPENING, *arguments, **options)

    def projects(self):
        return [*map(self.project, self.there()), self.project("13.99"), self.box.home]

    def assert_bundled(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        major, minor, _ = self.bundled.split(".")
        self.assertIn(f"nvrtc: {major}.{minor}\nnvrtc: 0 0 .version ", result.stdout.decode(), result.stderr)
        self.assertIn(f"nvJitLink: {major}.{minor}\n", result.stdout.decode())
        self.assert_served_by(result, self.files)

    def test_libraries_that_are_opened_by_their_paths(self):
        framework = self.framework("plain.so")
        for project in self.projects():
            with self.subTest(project=project.name):
                self.assert_bundled(self.python_global(framework, project))

    def python_global(self, framework, project):
        script = OPENING.replace("CDLL(file)", "CDLL(file, mode=ctypes.RTLD_GLOBAL)")
        return self.box.run(sys.executable, "-c", script, *self.files, framework, cwd=project)

    def test_framework_with_a_run_path(self):
        for tags in ("enable", "disable"):
            framework = self.framework(f"{tags}.so", *self.files, *self.run_path(tags))
            for project in self.projects():
                with self.subTest(tags=tags, project=project.name):
                    self.assert_bundled(self.python(framework, cwd=project))

    def test_framework_that_opens_them_by_name(self):
        linker, compiler = (next(file.name for file in self.files if stem in file.name) for stem in ("nvJitLink", "libnvrtc"))
        framework = self.framework("by_name.so", *self.run_path("enable"), f"-DLINKER=\"{linker}\"", f"-DCOMPILER=\"{compiler}\"",
                                   "-ldl", source=ASKING.split("size_t cublas")[0] + BY_NAME + "int tell_maps" +
                                   ASKING.split("int tell_maps")[1])
        script = OPENING.replace("framework.ask()", "print(framework.by_name())")
        major, minor, _ = self.bundled.split(".")
        for project in self.projects():
            with self.subTest(project=project.name):
                result = self.box.run(sys.executable, "-c", script, framework, cwd=project)
                self.assertEqual(result.stdout.decode(), f"{int(major) * 100 + int(minor)}\n", result.stderr)
                for name in (linker, compiler):
                    found = {path.parent for path in mapped(result, name)} - {self.library_shims}
                    self.assertEqual(found, {file.resolve().parent for file in self.files if file.name == name})


class OneDirectory(Environments):
    """What pip has installed of 13.1.1, of the same major release as the machine's toolkit."""

    bundled = "13.1.1"


if __name__ == "__main__":
    unittest.main()
