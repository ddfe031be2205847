#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library shims under the loaders of other glibc versions, which relocate in other orders. CUDAENV_TEST_LOADERS lists
directories, each with the files of a glibc's package: its loader, libc.so.6 and the rest."""

import os
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import ASKING, CudartTest, OPENING, RELEASES, SONAMES, compile_c, stand_in, workshop

LOADERS = [Path(path).resolve() for path in os.environ.get("CUDAENV_TEST_LOADERS", "").split(":") if path]
LOADER = "ld-linux-x86-64.so.2"
# How a program may be bound, besides the usual way.
BINDINGS = {"lazy": ["-Wl,-z,lazy"], "now": ["-Wl,-z,now"], "no-plt": ["-fno-plt"]}
NEW = r"""
#include <stdio.h>
int cudaNewIn13_9(void);
int main(void) { printf("%d\n", cudaNewIn13_9()); return 0; }
"""
WEAK = r"""
#include <stdio.h>
__attribute__((weak)) int cudaNewIn13_9(void);
int main(void) { printf("%d\n", cudaNewIn13_9 != 0); return 0; }
"""


@unittest.skipUnless(LOADERS, "CUDAENV_TEST_LOADERS names no directory with another glibc")
class Loaders(CudartTest):
    releases = ()  # those of this test are linked with the other glibc

    def build(self, glibc, name, make, *arguments):
        """Against the other glibc, so that nothing newer is needed."""
        place = workshop() / glibc.as_posix().strip("/").replace("/", "-") / name
        libraries = [glibc / file for file in ("libc.so.6", "libpthread.so.0", "libdl.so.2")]
        return place if place.exists() else make(place, *arguments, "-nodefaultlibs", "-Wl,--allow-shlib-undefined", *libraries, "-lgcc")

    def library(self, glibc, release):
        soname, version = RELEASES[release]
        return self.build(glibc, f"{release}/{soname}",
                          lambda place, *arguments: stand_in(place, soname, version, *arguments))

    def program(self, glibc, name, source, *arguments):
        return self.build(glibc, name, lambda place, *rest: compile_c(place, *rest, source=source), *arguments)

    def start(self, glibc, *command, **options):
        return self.box.run(glibc / LOADER, "--library-path", f"{glibc}:{self.library_shims}", *command, **options)

    def each(self):
        for glibc in LOADERS:
            with self.subTest(glibc=str(glibc)):
                for release in RELEASES:
                    directory = self.box.root / "versions" / release
                    if directory.exists():
                        shutil.rmtree(directory)
                    self.give(release, self.library(glibc, release))
                self.rehash()
                yield glibc

    def test_linked_program_follows_the_project(self):
        for glibc in self.each():
            for release, (_, version) in RELEASES.items():
                for binding, flags in BINDINGS.items():
                    with self.subTest(release=release, binding=binding):
                        asking = self.program(glibc, f"asking-{release}-{binding}", ASKING, self.library(glibc, release), *flags)
                        self.select(release)
                        self.assert_version(self.start(glibc, asking), version, version)

    def test_opened_library_follows_the_project(self):
        for glibc in self.each():
            opening = self.program(glibc, "opening", OPENING)
            for release, (soname, version) in RELEASES.items():
                self.select(release)
                self.assert_version(self.start(glibc, opening, soname), 0, version)

    def test_other_toolkits_are_refused(self):
        for glibc in self.each():
            opening = self.program(glibc, "opening", OPENING)
            for binding, flags in BINDINGS.items():
                asking = self.program(glibc, f"asking-13.5.0-{binding}", ASKING, self.library(glibc, "13.5.0"), *flags)
                self.select("12.4")
                self.assert_refused(self.start(glibc, asking), "this program needs libcudart.so.13, but CUDA 12.4.1")
                self.select("13.7")
                self.assert_refused(self.start(glibc, asking), "CUDA 13.7 is not installed")
            for soname in SONAMES:
                result = self.start(glibc, opening, soname)
                self.assertEqual((result.returncode, result.stderr), (1, b""), result.stdout)
                self.assertIn("CUDA 13.7 is not installed", result.stdout.decode())

    def test_after_a_refusal_another_selection_may_be_tried(self):
        for glibc in self.each():
            self.select("12.4")
            result = self.start(glibc, self.program(glibc, "opening", OPENING), "libcudart.so.13", "13.5")
            self.assertEqual((result.returncode, result.stdout.decode().splitlines()[-1]), (0, "0 13050"), result.stdout)

    def test_functions_of_other_toolkits_are_hidden(self):
        for glibc in self.each():
            library = self.library(glibc, "13.9.0")
            weak = self.program(glibc, "weak", WEAK, "-Wl,--no-as-needed", library)
            new = self.program(glibc, "new", NEW, library, "-Wl,-z,now")
            self.select("13.9")
            self.assertEqual((self.start(glibc, new).stdout, self.start(glibc, weak).stdout), (b"139\n", b"1\n"))
            self.select("13.5")
            self.assertEqual(self.start(glibc, weak).stdout, b"0\n")
            self.assert_refused(self.start(glibc, new), "undefined symbol: cudaNewIn13_9, version libcudart.so.13")


if __name__ == "__main__":
    unittest.main()
