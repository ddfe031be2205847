#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A copy of libcudart that a program or a plugin brings along is never replaced by the project's."""

import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import ASKING, BUNDLED, CudartTest, bundled_library, compile_c, program, standard_library

# Calls libcudart for whoever opened it.
PLUGIN = r"""
int cudaRuntimeGetVersion(int *);
int plugin(void) { int version = 0; cudaRuntimeGetVersion(&version); return version; }
"""
# Opens its arguments in order and prints what the plugins among them see.
HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **files) {
  for (int i = 1; i < count; ++i) {
    void *library = dlopen(files[i], RTLD_NOW | RTLD_GLOBAL);
    if (!library) { printf("%s\n", dlerror()); return 1; }
    int (*plugin)(void) = (int (*)(void))dlsym(library, "plugin");
    if (plugin) printf("%s%d", i > 1 ? " " : "", plugin());
  }
  printf("\n");
  return 0;
}
"""
RUN_PATHS = {"rpath": "-Wl,--disable-new-dtags", "runpath": "-Wl,--enable-new-dtags"}


class Bundles(CudartTest):
    def setUp(self):
        super().setUp()
        self.select("13.5")
        self.bundle = self.box.top / "bundle"
        self.bundle.mkdir()

    def bring(self, directory="."):
        place = self.bundle / directory
        place.mkdir(exist_ok=True)
        shutil.copy2(bundled_library(), place)

    def plugin(self, *flags, name="plugin.so"):
        return compile_c(self.bundle / name, "-shared", "-fPIC", standard_library("13.5.0"), *flags, source=PLUGIN)

    def load(self, *files, **options):
        return self.box.run(program("host", HOST, "-ldl"), *files, **options)

    def asking(self, *flags):
        return compile_c(self.bundle / "asking", standard_library("13.5.0"), *flags, source=ASKING)

    def test_plugin_with_a_run_path_beside_it(self):
        self.bring()
        self.bring("lib")
        for kind, flag in RUN_PATHS.items():
            for origin in ("$ORIGIN", "${ORIGIN}", "$ORIGIN/lib", "/nowhere:$ORIGIN/../bundle/lib"):
                with self.subTest(kind=kind, origin=origin):
                    plugin = self.plugin(flag, f"-Wl,-rpath,{origin}")
                    self.assert_version(self.load(plugin), BUNDLED)

    def test_program_with_a_run_path_beside_it(self):
        self.bring("lib")
        for kind, flag in RUN_PATHS.items():
            with self.subTest(kind=kind):
                asking = self.asking(flag, "-Wl,-rpath,$ORIGIN/lib")
                self.assert_version(self.box.run(asking), BUNDLED, BUNDLED)

    def test_even_where_the_selection_could_not_be_obeyed(self):
        self.bring()
        self.select("13.7")
        self.assert_version(self.load(self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"])), BUNDLED)

    def test_run_path_beside_it_without_a_copy_follows_the_project(self):
        self.assert_version(self.load(self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"])), 13050)

    def test_no_run_path_follows_the_project(self):
        self.bring()
        self.assert_version(self.load(self.plugin()), 13050)
        self.assert_version(self.box.run(self.asking()), 13050, 13050)

    def test_run_path_that_names_a_toolkit_in_full_follows_the_project(self):
        toolkit = self.box.root / "versions" / "13.9.0" / "lib"
        self.assert_version(self.load(self.plugin(f"-Wl,-rpath,{toolkit}", RUN_PATHS["runpath"])), 13050)
        self.assert_version(self.box.run(self.asking(f"-Wl,-rpath,{toolkit}", RUN_PATHS["runpath"])), 13050, 13050)

    def test_plugin_of_a_relative_path(self):
        self.bring()
        self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"])
        for file in ("./plugin.so", "../bundle/plugin.so"):
            self.select("13.5", self.bundle)
            self.assert_version(self.load(file, cwd=self.bundle), BUNDLED)

    def test_copy_that_is_a_shim_is_none(self):
        shutil.copy2(self.library_shims / "libcudart.so.13", self.bundle)
        self.assert_version(self.load(self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"])), 13050)

    def test_first_that_is_loaded_serves_all(self):
        # As without cudaenv: one library of a SONAME in a process.
        self.bring()
        bundled = self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"], name="bundled.so")
        free = self.plugin(name="free.so")
        self.assert_version(self.load(bundled, free), BUNDLED, BUNDLED)
        self.assert_version(self.load(free, bundled), 13050, 13050)
        bundled = self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["rpath"], name="bundled.so")
        self.assert_version(self.load(bundled, free), BUNDLED, BUNDLED)

    def test_libraries_of_two_sonames_side_by_side(self):
        self.select("12.4")
        twelve = compile_c(self.bundle / "twelve.so", "-shared", "-fPIC", standard_library("12.4.1"), source=PLUGIN)
        self.bring()
        bundled = self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"])
        self.assert_version(self.load(twelve, bundled), 12040, BUNDLED)

    def test_opened_by_name_alone_follows_the_project(self):
        self.bring()
        result = self.load("libcudart.so.13", self.plugin("-Wl,-rpath,$ORIGIN", RUN_PATHS["runpath"]))
        self.assertEqual(result.stdout.split(), [b"13050"])


if __name__ == "__main__":
    unittest.main()
