#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that needs libcudart gets that of the toolkit which its project selects, however it was linked."""

import itertools
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import (ASKING, BUNDLED, CudartTest, RELEASES, SONAMES, STAND_IN, bundled_library, compile_c, linked,
                            opening, program, stand_in, standard_library, workshop)

POSITIONS = {"pie": ("-fPIE", "-pie"), "non_pie": ("-fno-pie", "-no-pie")}
BINDINGS = {"lazy": ("-Wl,-z,lazy",), "now": ("-Wl,-z,now",), "bind_now": ("-Wl,-z,lazy",),
            "no_plt": ("-fno-plt", "-Wl,-z,now")}
BY_SONAME = {soname: [release for release, (name, _) in RELEASES.items() if name == soname] for soname in SONAMES}


class Starting(CudartTest):
    def check(self, position, binding, soname):
        env = {"LD_BIND_NOW": "1"} if binding == "bind_now" else {}
        flags = POSITIONS[position] + BINDINGS[binding]
        built = linked(f"asking-{position}-{binding}-{soname}", BY_SONAME[soname][0], *flags)
        for release in BY_SONAME[soname]:
            version = RELEASES[release][1]
            self.select(release)
            self.assert_version(self.box.run(built, env=env), version, version)
            self.assert_version(self.box.run(opening(), soname, env=env), 0, version)


def add_tests():
    for position, binding, soname in itertools.product(POSITIONS, BINDINGS, SONAMES):
        def test(self, position=position, binding=binding, soname=soname):
            self.check(position, binding, soname)
        setattr(Starting, f"test_{position}_{binding}_{soname.replace('.', '_')}", test)


add_tests()


class Selecting(CudartTest):
    def ask(self, **options):
        return self.box.run(linked("asking", "13.5.0"), **options)

    def test_variable_before_file_before_global(self):
        self.box.write(self.box.root / "version", "13.5")
        self.assert_version(self.ask(), 13050, 13050)
        self.select("13.9")
        self.assert_version(self.ask(), 13090, 13090)
        self.assert_version(self.ask(env={"CUDAENV_VERSION": "13.5"}), 13050, 13050)

    def test_nearest_file_upward(self):
        self.select("13.5")
        inner = self.box.project / "a" / "b"
        inner.mkdir(parents=True)
        self.assert_version(self.ask(cwd=inner), 13050, 13050)
        self.select("13.9", inner)
        self.assert_version(self.ask(cwd=inner), 13090, 13090)

    def test_project_behind_a_link_answers_for_the_path_that_the_user_sees(self):
        self.select("13.5", self.box.home / "seen")
        (self.box.top / "stored").mkdir()
        self.select("13.9", self.box.top)
        (self.box.home / "seen" / "code").symlink_to(self.box.top / "stored")
        self.assert_version(self.ask(cwd=self.box.home / "seen" / "code"), 13050, 13050)

    def test_major_and_latest_are_the_newest_installed(self):
        for spec in ("13", "latest", "auto"):
            self.select(spec)
            self.assert_version(self.ask(), 13090, 13090)

    def test_auto_is_what_the_gate_has_found_for_this_machine(self):
        env = {"CUDAENV_OVERRIDE_DRIVER": "550.54.15"}  # of CUDA 12.4
        self.select("auto")
        self.assertEqual(self.cudaenv("version", env=env).returncode, 0)  # keeps its answer
        result = self.box.run(linked("asking12", "12.4.1"), env=env)
        self.assert_version(result, 12040, 12040)

    def test_empty_environment(self):
        # The shim knows its root by the place it lies in.
        self.select("13.5")
        built = linked("asking_by_run_path", "13.5.0", f"-Wl,-rpath,{self.library_shims}", "-Wl,--disable-new-dtags")
        env = {name: None for name in self.box.environment} | {"PWD": None}
        self.assert_version(self.box.run(built, env=env), 13050, 13050)

    def test_toolkit_of_the_shared_root(self):
        shared = self.box.top / "sw"
        library = self.box.root / "versions" / "13.9.0" / "lib" / "libcudart.so.13"
        self.give("13.7.0", library, root=shared)
        env = {"CUDAENV_SHARED_ROOT": str(shared), "CUDAENV_VERSION": "13.7"}
        self.assert_version(self.ask(env=env), 13090, 13090)

    def test_adopted_toolkit(self):
        opt = self.box.top / "opt"
        self.give("cuda", self.box.root / "versions" / "13.9.0" / "lib" / "libcudart.so.13", root=opt)
        (self.box.root / "versions" / "mine").symlink_to(opt / "versions" / "cuda")
        self.select("mine")
        self.assert_version(self.ask(), 13090, 13090)

    def test_root_that_was_moved(self):
        self.select("13.5")
        moved = self.box.top / "moved"
        self.box.root.rename(moved)
        env = {"LD_LIBRARY_PATH": str(moved / "shims" / "lib")}
        self.assert_version(self.ask(env=env), 13050, 13050)

    def test_shims_elsewhere_belong_to_the_root_they_were_made_for(self):
        self.select("13.5")
        copies = self.box.top / "copies"
        self.library_shims.rename(copies)
        self.assert_version(self.ask(env={"LD_LIBRARY_PATH": str(copies), "HOME": "/"}), 13050, 13050)


class System(CudartTest):
    """`system`, or nothing at all, is as if cudaenv were not there."""

    def setUp(self):
        super().setUp()
        self.other = self.box.top / "other" / "libcudart.so.13"
        self.other.parent.mkdir()
        self.other.write_bytes(bundled_library().read_bytes())
        self.asking = linked("asking", "13.5.0")

    def test_next_on_the_library_path(self):
        for spec in ("system", ""):
            self.select(spec)
            result = self.box.run(self.asking, env={"LD_LIBRARY_PATH": f"{self.library_shims}:{self.other.parent}"})
            self.assert_version(result, BUNDLED, BUNDLED)

    def test_run_path_of_the_program(self):
        built = compile_c(self.box.top / "asking", standard_library("13.5.0"), "-Wl,--enable-new-dtags",
                          f"-Wl,-rpath,{self.other.parent}", source=ASKING)
        self.assert_version(self.box.run(built), BUNDLED, BUNDLED)

    def test_usual_directories(self):
        place = self.host / "usr" / "lib"
        place.mkdir(parents=True)
        self.other.rename(place / "libcudart.so.13")
        self.assert_version(self.box.run(self.asking), BUNDLED, BUNDLED)

    def test_loader_cache(self):
        self.need("ldconfig")
        self.box.write(self.host / "etc" / "ld.so.conf", f"{self.library_shims}\n{self.other.parent}\n")
        made = subprocess.run(["ldconfig", "-X", "-f", self.host / "etc" / "ld.so.conf", "-C",
                               self.host / "etc" / "ld.so.cache"], capture_output=True)
        if made.returncode:
            self.skipTest(f"ldconfig does not work here: {made.stderr.decode()}")
        self.assert_version(self.box.run(self.asking), BUNDLED, BUNDLED)

    def test_nowhere(self):
        error = self.assert_refused(self.box.run(self.asking), "libcudart.so.13", "the system does not have",
                                    "nothing selects a toolkit here")
        self.assertIn("installed toolkits that have it: 13.5.0, 13.9.0", error)

    def test_shims_of_another_root_are_not_the_systems(self):
        shutil.copytree(self.library_shims, self.box.top / "another" / "shims" / "lib")
        env = {"LD_LIBRARY_PATH": f"{self.library_shims}:{self.box.top}/another/shims/lib:{self.other.parent}"}
        self.assert_version(self.box.run(self.asking, env=env), BUNDLED, BUNDLED)

    def test_functions_that_only_the_system_has_are_there_after_rehash(self):
        place = self.host / "usr" / "lib"
        place.mkdir(parents=True)
        newer = stand_in(workshop() / "newer" / "libcudart.so.13", "libcudart.so.13", 13100,
                         source=STAND_IN + "int cudaOfTheSystem(void) { return 7; }\n")
        (place / "libcudart.so.13").write_bytes(newer.read_bytes())
        self.rehash()
        built = program("asking_the_system", "#include <stdio.h>\nint cudaOfTheSystem(void);\n"
                        "int main(void) { printf(\"%d\\n\", cudaOfTheSystem()); return 0; }\n", newer)
        self.assert_version(self.box.run(built), 7)


if __name__ == "__main__":
    unittest.main()
