#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Library shims of what else a toolkit holds: which libraries have one, that those of two toolkits never meet in one
process, and that each finds what it opens by name."""

import os
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import linked, program, standard_library
from support.elf import Elf
from support.libraries import BROUGHT, LEFT_OUT, LibrariesTest, libraries

# The entry points of three libraries in one program.
CALLING = """\
#include <stdio.h>
int cublasVersion(void), cublasLtOfIt(void), cufftVersion(void), cufftLinkerOfIt(void), nvrtcBuiltins(void);
int main(void) {
  printf("%d %d %d %d %d\\n", cublasVersion(), cublasLtOfIt(), cufftVersion(), cufftLinkerOfIt(), nvrtcBuiltins());
  return 0;
}
"""


class Libraries(LibrariesTest):
    def calling(self):
        names = ("libcublas.so.13", "libcufft.so.12", "libnvrtc.so.13")
        return program("calling", CALLING, *(libraries(13050) / name for name in names),
                       f"-Wl,-rpath-link,{libraries(13050)}")

    def test_program_gets_those_of_its_project(self):
        for minor in (5, 9):
            self.select(f"13.{minor}")
            self.assert_version(self.box.run(self.calling()), *[13000 + 10 * minor] * 5)

    def test_toolkit_without_them_is_refused(self):
        self.select("12.4")
        error = self.assert_refused(self.box.run(self.calling()), "this program needs lib", "but CUDA 12.4.1 (set by",
                                    "has no such library", "installed toolkits that have it: 13.5.0, 13.9.0",
                                    "try: cudaenv exec -v 13.9.0 -- PROGRAM")
        self.assertNotIn("cudaenv install", error)

    def test_every_library_of_a_toolkit_but_those_left_out_has_a_shim(self):
        wanted = {name for version in (13050, 13090) for name in os.listdir(libraries(version)) if ".map" not in name}
        wanted -= {*LEFT_OUT, "libnvrtc-builtins.so.13.5", "libnvrtc-builtins.so.13.9"}
        wanted |= {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}
        self.assertEqual({file.name for file in self.library_shims.iterdir()}, {name for name in wanted if name[0] != "."})
        self.assertEqual(self.rehash(), "")

    def test_is_gone_with_the_last_toolkit_that_has_it(self):
        for release in ("13.5.0", "13.9.0"):
            (self.directory(release) / "libcufft.so.12").unlink()
        self.rehash()
        self.assertFalse((self.library_shims / "libcufft.so.12").exists())
        self.assertTrue((self.library_shims / "libcublas.so.13").exists())

    def test_number_of_a_library_is_not_taken_for_that_of_a_release(self):
        self.select("13.5")
        self.assertNotIn("cudaenv install", self.assert_fails(self.cudaenv("which", "libcufft.so.11"), 3, "libcufft.so.11"))
        self.assertIn("cudaenv install 14", self.assert_fails(self.cudaenv("which", "libcudart.so.14"), 3))

    def test_which_tells_of_a_library_without_a_shim(self):
        self.select("13.5")
        for name, word in (("libcufft.so.12", ""), ("libcudnn.so.9", "cudaenv exec")):
            result = self.cudaenv("which", name)
            self.assertEqual(result.stdout.decode().strip().split("/")[-1], name)
            self.assertIn(word, result.stderr.decode())
            self.assertEqual("no library shim" in result.stderr.decode(), bool(word))


class OneToolkit(LibrariesTest):
    """In one process, whatever becomes of the selection meanwhile."""

    def test_other_directory(self):
        self.select("13.5")
        self.assert_answers(self.calls("libcublas.so.13", "cublasVersion", f"@{self.elsewhere('13.9')}", "libcufft.so.12",
                                      "cufftVersion", "cufftLinkerOfIt", "libnvrtc.so.13", "nvrtcBuiltins"), *[13050] * 4)

    def test_other_variable_after_libcudart(self):
        self.select("13.5")
        words = ("libcudart.so.13", "CUDAENV_VERSION=13.9", "libcublas.so.13", "cublasVersion", "cublasLtOfIt")
        self.assert_answers(self.calls(*words), 13050, 13050)

    def test_variable_that_could_not_be_obeyed(self):
        self.select("13.5")
        for spec in ("12.4", "13.7", "system", "../13"):
            words = ("libcublas.so.13", f"CUDAENV_VERSION={spec}", "libcufft.so.12", "cufftVersion")
            self.assert_answers(self.calls(*words), 13050)

    def test_toolkit_of_the_process_without_the_library_is_refused(self):
        self.select("12.4")
        result = self.calls("libcudart.so.12", "CUDAENV_VERSION=13.5", "libcublas.so.13", "cublasVersion")
        self.assertEqual((result.returncode, result.stderr), (1, b""))
        self.assertIn("this program needs libcublas.so.13, but CUDA 12.4.1 (which this process has libraries of already) "
                      "has no such library", result.stdout.decode())

    def test_library_that_was_opened_by_its_path(self):
        self.select("13.5")
        file = self.directory("13.9.0") / "libcublasLt.so.13"
        self.assert_answers(self.calls(file, "libcufft.so.12", "cufftVersion"), 13090)

    def test_library_that_was_opened_past_the_link_of_an_adopted_toolkit(self):
        opt = self.give("13.9.0", standard_library("13.9.0"), root=self.box.top / "opt")
        (self.box.root / "versions" / "mine").symlink_to(opt)
        shutil.rmtree(self.box.root / "versions" / "13.9.0")
        self.rehash()
        self.select("13.5")
        self.assert_answers(self.calls(opt / "lib" / "libcublasLt.so.13", "libcufft.so.12", "cufftVersion"), 13090)
        (opt / "lib" / "libcufft.so.12").unlink()
        result = self.calls(opt / "lib" / "libcublasLt.so.13", "libcufft.so.12", "cufftVersion")
        self.assertIn("but toolkit mine (which this process has libraries of already)", result.stdout.decode())

    def test_library_of_no_toolkit_counts_for_nothing(self):
        self.select("13.5")
        copy = shutil.copy2(libraries(13090) / "libcublasLt.so.13", self.box.top)
        self.assert_answers(self.calls(copy, "libcufft.so.12", "cufftVersion"), 13050)


class ByName(LibrariesTest):
    """What libraries open by name, and need without a run path."""

    def test_builtins_are_those_of_the_compiler(self):
        for minor in (5, 9):
            self.select(f"13.{minor}")
            answer = 13000 + 10 * minor
            self.assert_answers(self.calls("libnvrtc.so.13", "nvrtcVersion", "nvrtcBuiltins"), answer, answer)
            self.assert_answers(self.calls("libcufft.so.12", "cufftCompilerOfIt"), answer)

    def test_needs_without_a_run_path(self):
        # By its path, so that the loader finds the shims of the others nowhere.
        shim = self.library_shims / "libcusolverMg.so.12"
        for minor in (5, 9):
            self.select(f"13.{minor}")
            for env in ({"LD_LIBRARY_PATH": None}, {}):
                self.assert_answers(self.calls(shim, "cusolverMgVersion", "cusolverMgBlasOfIt", env=env),
                                    *[13000 + 10 * minor] * 2)

    def test_calls_of_its_own(self):
        source = "#include <stdio.h>\nint curandVersion(void), curandConstructed(void), curandOwn(void);\n" \
                 "int main(void) { printf(\"%d %d %d\\n\", curandVersion(), curandConstructed(), curandOwn()); }\n"
        built = program("random", source, libraries(13050) / "libcurand.so.10")
        for minor in (5, 9):
            self.select(f"13.{minor}")
            self.assert_version(self.box.run(built), *[13000 + 10 * minor] * 3)
            self.assert_answers(self.calls("libcurand.so.10", "curandConstructed", "curandOwn"), *[13000 + 10 * minor] * 2)


class Bundles(LibrariesTest):
    """Libraries that somebody brings along stay together."""

    def setUp(self):
        super().setUp()
        self.bundle = shutil.copytree(libraries(BROUGHT), self.box.top / "bundle")

    def specs(self):
        return ("13.5", "13.9", "12.4", "13.7", "system", "../13")

    def test_library_opened_by_name(self):
        for spec in self.specs():
            with self.subTest(spec):
                self.select(spec)
                result = self.calls(self.bundle / "libcufft.so.12", "cufftLinkerOfIt", "cufftCompilerOfIt", "cufftVersion")
                self.assert_answers(result, BROUGHT, BROUGHT, BROUGHT)

    def test_library_that_is_needed(self):
        for spec in self.specs():
            with self.subTest(spec):
                self.select(spec)
                self.assert_answers(self.calls(self.bundle / "libcublas.so.13", "cublasVersion", "cublasLtOfIt"), BROUGHT, BROUGHT)

    def test_after_libcudart_of_the_project(self):
        self.select("13.5")
        result = self.calls("libcudart.so.13", self.bundle / "libcufft.so.12", "cufftLinkerOfIt", "libcublas.so.13",
                           "cublasVersion")
        self.assert_answers(result, BROUGHT, BROUGHT)

    def test_program_of_the_project_beside_it(self):
        self.select("13.5")
        result = self.calls("libnvJitLink.so.13", "nvJitLinkVersion", self.bundle / "libcublas.so.13", "cublasLtOfIt")
        self.assert_answers(result, 13050, BROUGHT)


class Unanswered(LibrariesTest):
    """Calls that no library can answer end the process: nobody knows an error of theirs."""

    def test_refusal_that_the_loader_did_not_hear(self):
        for name, function in (("libcublas.so.13", "cublasVersion"), ("libcurand.so.10", "curandVersion")):
            shim = Elf(self.library_shims / name)
            shim.disable_sentinel()
            shim.save()
            self.select("12.4")
            result = self.calls(name, function)
            self.assertEqual((result.returncode, result.stdout), (127, b""))
            self.assertEqual(result.stderr.decode().count(f"this program needs {name}, but CUDA 12.4.1"), 2)
            self.assertEqual(self.calls(name).returncode, 0)  # and does no harm if it is not called

    def test_function_that_a_toolkit_put_there_by_hand_lacks(self):
        lacking = self.box.toolkit("13.10.0", ["nvcc"])
        shutil.copytree(libraries(13090), lacking / "lib")
        shutil.copy2(lacking / "lib" / "libnvJitLink.so.13", lacking / "lib" / "libcurand.so.10")
        self.select("13.10")
        result = self.calls("libcurand.so.10", "curandVersion")
        self.assertEqual((result.returncode, result.stdout), (127, b""))
        self.assertEqual(result.stderr.decode(), f"cudaenv: curandVersion is not in {lacking}/lib/libcurand.so.10\n"
                                                 "try: cudaenv rehash\n")

    def test_libcudart_answers_as_ever(self):
        shim = Elf(self.library_shims / "libcudart.so.13")
        shim.disable_sentinel()
        shim.save()
        self.select("12.4")
        self.assert_answers_with(self.calls("libcudart.so.13", "cudaNumbered10"), "303\n")
        self.assertEqual(self.box.run(linked("asking", "13.5.0")).returncode, 127)

    def assert_answers_with(self, result, answer):
        self.assertEqual((result.returncode, result.stdout.decode()), (0, answer), result.stderr)


if __name__ == "__main__":
    unittest.main()
