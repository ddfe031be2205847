#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own libcudart through the shims: a program gets the runtime of the toolkit that its project selects, and every
answer is the one that this runtime gives when it is loaded by itself."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import compile_c
from support.real_cudart import MACHINE, WHEEL_RELEASES, RealCudart, mapped, soname_of
from support.real_toolkits import LONG, runtime_number
from support.sandbox import PROGRAM

CALLING_GPU = """\
#include <cstdio>
#include <cuda_runtime.h>
__global__ void kernel(int* value) { *value = 1; }
int main() {
  int version = 0, count = 0;
  cudaRuntimeGetVersion(&version);
  const cudaError_t error = cudaGetDeviceCount(&count);
  kernel<<<1, 1>>>(nullptr);
  std::printf("%d %s %d\\n", version, cudaGetErrorName(error), cudaGetLastError() != cudaSuccess);
  char line[4096];
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  while (maps && std::fgets(line, sizeof line, maps))
    if (const char* path = __builtin_strchr(line, '/')) std::fputs(path, stderr);
}
"""


class Runtimes(RealCudart):
    def check(self, kind, key):
        """A program that was built for this release, in the project of each release of its SONAME."""
        built_for = self.need(key)
        for release in self.of_soname(built_for):
            with self.subTest(selected=release):
                self.assert_follows(self.report(kind, built_for, self.project(release)), release)

    def test_program_linked_with_the_headers_of_the_toolkit(self):
        self.check("headers", MACHINE)

    def test_errors_without_a_gpu_are_told_in_the_words_of_the_toolkit(self):
        # Each report was compared with that of the library itself; here is what it must say at least.
        for release in self.there():
            with self.subTest(selected=release):
                report = self.report("prototypes", release, self.project(release)).stdout.decode()
                (count,) = re.findall(r"^count: (.*)$", report, re.M)
                self.assertRegex(count, r"^(100 cudaErrorNoDevice: no CUDA-capable device is detected|"
                                        r"35 cudaErrorInsufficientDriver: CUDA driver version is insufficient .*)$")
                self.assertIn(f"peek: {count}\nlast: {count}\n", report)
                self.assertIn(f"allocate: {count}\n", report)
                self.assertIn("invalid: 1 cudaErrorInvalidValue: invalid argument\n", report)
                self.assertIn("unknown: 4711 unrecognized error code: unrecognized error code\n", report)

    def test_part_of_a_release_and_the_newest_of_a_major(self):
        for release in self.there():
            major, minor, _ = release.split(".")
            newest = self.of_soname(release)[-1]
            for text, meant in ((f"{major}.{minor}", release), (major, newest)):
                with self.subTest(selected=text):
                    self.assert_follows(self.report("prototypes", release, self.project(text)), meant)

    def test_variable_is_obeyed_before_the_file(self):
        for release in self.there():
            for other in self.of_soname(release):
                with self.subTest(file=release, variable=other):
                    result = self.report("prototypes", release, self.project(release), CUDAENV_VERSION=other)
                    self.assert_follows(result, other)

    def test_toolkit_of_another_major_is_refused(self):
        pairs = [(built_for, release) for built_for in self.there() for release in self.there()
                 if soname_of(built_for) != soname_of(release)]
        if not pairs:
            self.skipTest(f"runtimes of one major only: {self.reasons()}")
        for built_for, release in pairs:
            with self.subTest(built_for=built_for, selected=release):
                project, needed = self.project(release), soname_of(built_for)
                self.assert_refused(self.report("prototypes", built_for, project), needed, release, project)
                opened = self.report("opened", built_for, project)
                self.assertEqual((opened.returncode, opened.stderr), (1, b""), opened.stdout)
                self.assert_words(opened.stdout.decode(), needed, release, project)

    def test_which_names_the_library_that_the_program_gets(self):
        for release in self.there():
            with self.subTest(selected=release):
                result = self.box.run(PROGRAM, "which", soname_of(release), cwd=self.project(release))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(Path(result.stdout.decode().splitlines()[0]).resolve(), self.real_library(release))

    def functions_of(self, release):
        """What each runtime offers, with the version behind the name."""
        if not shutil.which("nm"):
            self.skipTest("no nm")
        listed = self.box.run("nm", "-D", "--defined-only", self.real_library(release)).stdout.decode()
        functions = dict(re.findall(r" T (\S+?)@@?(\S+)$", listed, re.M))
        self.assertGreater(len(functions), 200)
        return functions

    def test_names_that_can_be_looked_up_are_those_of_the_selected_runtime(self):
        script = ("import ctypes, sys\n"
                  "library = ctypes.CDLL(sys.argv[1])\n"
                  "print(' '.join(name for name in sys.argv[2:] if hasattr(library, name)))\n")
        for release in self.there():
            with self.subTest(selected=release):
                everything = {name for other in self.of_soname(release) for name in self.functions_of(other)}
                found = self.box.run(sys.executable, "-c", script, soname_of(release), *sorted(everything),
                                     cwd=self.project(release))
                self.assertEqual(set(found.stdout.decode().split()), set(self.functions_of(release)), found.stderr)

    def test_function_of_a_newer_release_is_told_as_missing_in_an_older(self):
        pairs = [(newer, older) for newer in self.there() for older in self.of_soname(newer)
                 if set(self.functions_of(newer)) - set(self.functions_of(older))]
        if not pairs:
            self.skipTest(f"no two runtimes of one major of which one has more: {self.reasons()}")
        for newer, older in pairs:
            name = min(set(self.functions_of(newer)) - set(self.functions_of(older)))
            with self.subTest(name, newer=newer, older=older):
                source = f"int {name}(void); int (*pointer)(void) = {name}; int main(void) {{ return !pointer; }}\n"
                program = compile_c(self.programs / f"calling-{name}", "-L", self.directory(newer) / "lib64", "-lcudart",
                                    source=source)
                self.assertEqual(self.box.run(program, cwd=self.project(newer)).returncode, 0)
                result = self.box.run(program, cwd=self.project(older))
                self.assertEqual((result.returncode, result.stdout), (127, b""))
                self.assertIn(f"undefined symbol: {name}, version {soname_of(newer)}", result.stderr.decode())


def add_tests():
    for key in (MACHINE, *WHEEL_RELEASES):
        name = "the_machine" if key == MACHINE else key.replace(".", "_")
        for kind, words in (("prototypes", "linked_with"), ("opened", "that_opens")):
            def test(self, kind=kind, key=key):
                self.check(kind, key)
            setattr(Runtimes, f"test_program_{words}_the_libcudart_of_{name}", test)


add_tests()


class Compiled(RealCudart):
    """What the machine's own nvcc builds."""

    def setUp(self):
        self.release = self.need(MACHINE)
        if not shutil.which("g++"):
            self.skipTest("no g++")

    def compiled(self, runtime):
        output = self.programs / f"compiled-{runtime}"
        source = self.box.write("programs/calling.cu", CALLING_GPU)
        if not output.exists():
            made = subprocess.run(["nvcc", "-cudart", runtime, source, "-o", output], cwd=self.project(self.release),
                                  env=self.box.environment, capture_output=True, text=True, timeout=LONG)
            self.assertEqual(made.returncode, 0, made.stderr)
        return output

    def assert_answers(self, result, release):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        errors = "cudaErrorNoDevice|cudaErrorInsufficientDriver"
        self.assertRegex(result.stdout.decode(), rf"^{runtime_number(release)} ({errors}) 1\n$")

    def test_with_a_shared_runtime_follows_the_project(self):
        program = self.compiled("shared")
        for release in self.there():
            with self.subTest(selected=release):
                project = self.project(release)
                result = self.box.run(program, cwd=project)
                if soname_of(release) == soname_of(self.release):
                    self.assert_answers(result, release)
                    self.assertEqual(mapped(result), {self.real_library(release), self.library_shims / soname_of(release)})
                else:
                    self.assert_refused(result, soname_of(self.release), release, project)

    def test_with_a_static_runtime_is_left_alone(self):
        program = self.compiled("static")
        for text in (*self.there(), "13.99"):
            with self.subTest(selected=text):
                result = self.box.run(program, cwd=self.project(text))
                self.assert_answers(result, self.release)
                self.assertEqual(mapped(result), set())


if __name__ == "__main__":
    unittest.main()
