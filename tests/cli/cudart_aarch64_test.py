#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shims of an Arm machine, made with a compiler for it and run by an emulator of it."""

import platform
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import ASKING, BUILD, compile_c, stand_in, workshop
from support.elf import Elf
from support.sandbox import Sandbox

COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
SYSTEM = Path("/usr/aarch64-linux-gnu")
MAKE_SHIM = BUILD / "bin" / "make_library_shim"
SOURCES = Path(__file__).resolve().parents[1] / "cross"
SONAME = "libcudart.so.13"
RELEASES = {"13.5.0": 13050, "13.9.0": 13090}

PASSING = r"""
#include <stdio.h>
struct channel { int x, y, z, w, kind; };
struct large { char bytes[40]; };
struct channel cudaCreateChannelDesc(int, int, int, int, int);
double cudaSumOfAll(int, int, int, int, int, int, int, int, int, double, float, struct large, double);
__attribute__((weak)) int cudaNewIn13_9(void);
int main(void) {
  struct large large = {{0}};
  large.bytes[0] = 10;
  large.bytes[39] = 20;
  for (int i = 0; i < 2; ++i) {
    struct channel made = cudaCreateChannelDesc(1, 2, 3, 4, 5);
    double sum = cudaSumOfAll(1, 2, 3, 4, 5, 6, 7, 8, 9, 0.5, 0.25f, large, 1000.0);
    printf("%d%d%d%d%d %.2f ", made.x, made.y, made.z, made.w, made.kind, sum);
  }
  printf("%d\n", cudaNewIn13_9 ? cudaNewIn13_9() : 0);
  return 0;
}
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


def made_template():
    """Cross-compiled as everything else is built."""
    directory = workshop() / "aarch64"
    made = run("cmake", "-S", SOURCES, "-B", directory, "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
               f"-DCMAKE_C_COMPILER={COMPILER}", f"-DCMAKE_CXX_COMPILER={COMPILER.replace('gcc', 'g++')}",
               "-DCMAKE_BUILD_TYPE=Release")
    if made.returncode == 0:
        made = run("cmake", "--build", directory)
    if made.returncode:
        raise AssertionError(made.stdout + made.stderr)
    return directory / "cudaenv-library-shim.so"


class OnArm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if platform.machine() == "aarch64":
            raise unittest.SkipTest("all tests are of this machine here")
        for tool in (COMPILER, COMPILER.replace("gcc", "g++"), EMULATOR, "cmake"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"no {tool}")
        if not SYSTEM.is_dir() or not MAKE_SHIM.exists():
            raise unittest.SkipTest(f"no {SYSTEM if MAKE_SHIM.exists() else MAKE_SHIM}")
        cls.template = made_template()
        cls.libraries = {release: stand_in(workshop() / "arm" / release / SONAME, SONAME, version, with_compiler=COMPILER)
                         for release, version in RELEASES.items()}

    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.shim = self.box.shims / "lib" / SONAME
        self.shim.parent.mkdir()
        for release, library in self.libraries.items():
            place = self.box.toolkit(release) / "lib64"
            place.mkdir()
            shutil.copy2(library, place)
        made = run(MAKE_SHIM, self.template, self.shim, self.box.root, *self.libraries.values())
        self.assertEqual(made.returncode, 0, made.stderr)

    def emulate(self, program, version):
        return self.box.run(shutil.which(EMULATOR), "-L", SYSTEM, "-E", f"LD_LIBRARY_PATH={self.shim.parent}",
                            "-E", f"CUDAENV_VERSION={version}", program)

    def build(self, name, source, *flags):
        return compile_c(workshop() / "arm" / name, *flags, self.libraries["13.9.0"], source=source, with_compiler=COMPILER)

    def assert_prints(self, result, text):
        self.assertEqual((result.returncode, result.stdout.decode(), result.stderr.decode()), (0, text, ""))

    def test_right_library_however_a_program_is_linked(self):
        for flags in (("-fPIE", "-pie", "-Wl,-z,lazy"), ("-fno-pie", "-no-pie", "-Wl,-z,lazy"), ("-Wl,-z,now",), ("-fno-plt",)):
            asking = self.build("asking" + "".join(flags).replace(",", ""), ASKING, *flags)
            for release, version in RELEASES.items():
                with self.subTest(flags=flags, release=release):
                    self.assert_prints(self.emulate(asking, release), f"{version} {version}\n")

    def test_arguments_and_results_of_every_kind_and_functions_that_are_absent(self):
        passing = self.build("passing", PASSING)
        for release, new in (("13.5", 0), ("13.9", 139)):
            self.assert_prints(self.emulate(passing, release), f"12345 1075.75 12345 1075.75 {new}\n")

    def test_refusal(self):
        asking = self.build("asking", ASKING)
        for disabled in (None, "sentinel", "resolver"):
            if disabled:
                shim = Elf(self.shim)
                getattr(shim, f"disable_{disabled}")()
                shim.save()
            result = self.emulate(asking, "13.7")
            self.assertEqual((result.returncode, result.stdout), (127, b""))
            self.assertIn(b"CUDA 13.7 is not installed (set by the variable CUDAENV_VERSION)", result.stderr)


if __name__ == "__main__":
    unittest.main()
