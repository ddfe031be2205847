#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the hook puts into the environment of a real shell, and what is there again afterwards."""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.shells import VARIABLES, ShellTest, in_every_shell, in_shells
from support.terminal import quote

ALL = '[env]\ncompiler_paths = true\nlibrary_path = "toolkit"\n'
LISTS = ("LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH")


class EnvironmentTest(ShellTest):
    def setUp(self):
        super().setUp()
        self.box.write(self.box.root / "config.toml", ALL)

    def assert_comes_back(self, env=None, before="", tour=None):
        """A tour through both projects leaves the environment byte for byte as it was."""
        terminal = self.start(before, env=env)
        outside = terminal.environment()
        for directory in tour or (self.a, self.b, self.a, self.box.home):
            self.assert_quiet(terminal.cd(directory))
        self.assertEqual(terminal.environment(), outside)
        terminal.close()

    def inherited(self, outer):
        return {name: value for name, value in outer.environment().items() if name not in ("ZDOTDIR", "HISTFILE")}

    def assert_same(self, terminal, outside):
        environment = terminal.environment()
        for name in (*VARIABLES, "PATH"):
            self.assertEqual(environment.get(name), outside.get(name), name)


@in_every_shell
class Lists(EnvironmentTest):
    def test_ENV_01_unset_and_empty(self):
        for before in (None, ""):
            terminal = self.start(env=dict.fromkeys(LISTS, before))
            terminal.cd(self.a)
            environment = terminal.environment()
            for name in LISTS:
                self.assertNotIn("", environment[name].split(":"))
            terminal.cd(self.box.home)
            self.assertEqual([terminal.environment().get(name) for name in LISTS], [before] * 3)
            terminal.close()

    def test_ENV_01_empty_elements_of_the_person_stay(self):
        for value in (":/x", "/x:", "/x::/y", ":"):
            self.assert_comes_back(env=dict.fromkeys(LISTS, value))

    def test_ENV_01_a_broken_CUDA_HOME_comes_back(self):
        terminal = self.start(env={"CUDA_HOME": "/x:"})
        terminal.cd(self.a)
        self.assertEqual(self.value(terminal, "CUDA_HOME"), str(self.old))
        terminal.cd(self.box.home)
        self.assertEqual(self.value(terminal, "CUDA_HOME"), "/x:")

    def test_HOOK_05_entries_are_joined_by_colons(self):
        terminal = self.start(env={"LD_LIBRARY_PATH": "/a b:/c", "CPATH": "/i n", "LIBRARY_PATH": "/l:/m"})
        terminal.cd(self.a)
        environment = terminal.environment()
        self.assertEqual(environment["LD_LIBRARY_PATH"], f"{self.old}/lib:/a b:/c")
        self.assertEqual(environment["CPATH"], f"{self.old}/include:/i n")
        self.assertEqual(environment["LIBRARY_PATH"], f"{self.old}/lib:/l:/m:{self.old}/lib/stubs")

    def test_ENV_03_toolkit_is_not_there_by_default(self):
        (self.box.root / "config.toml").unlink()
        terminal = self.start()
        terminal.cd(self.a)
        self.assertIsNone(self.value(terminal, "LD_LIBRARY_PATH"))
        (self.box.shims / "lib").mkdir()
        terminal.cd(self.b)
        self.assertEqual(self.value(terminal, "LD_LIBRARY_PATH"), f"{self.box.shims}/lib")
        terminal.cd(self.box.home)
        self.assertIsNone(self.value(terminal, "LD_LIBRARY_PATH"))

    def test_ENV_07_include_and_nothing_of_the_toolkit_before(self):
        terminal = self.start()
        terminal.cd(self.a)
        terminal.cd(self.b)
        self.assertEqual(self.value(terminal, "CPATH"), f"{self.new}/include")

    def test_ENV_07_host_compiler_finds_its_own_headers(self):
        (self.old / "include").mkdir()
        self.box.write(self.a / "x.cpp", "#include <vector>\n#include <cmath>\nint main() {}\n")
        if not os.path.exists("/usr/bin/g++"):
            self.skipTest("no g++")
        terminal = self.start()
        terminal.cd(self.a)
        self.assert_quiet(terminal.run("g++ -fsyntax-only x.cpp"))

    def test_ENV_09_stubs_are_for_the_linker_alone_and_last(self):
        terminal = self.start(env={"LIBRARY_PATH": "/mine", "LD_LIBRARY_PATH": "/x/stubs"})
        terminal.cd(self.a)
        environment = terminal.environment()
        self.assertEqual(environment["LIBRARY_PATH"].split(":"), [f"{self.old}/lib", "/mine", f"{self.old}/lib/stubs"])
        self.assertEqual([entry for entry in environment["LD_LIBRARY_PATH"].split(":") if entry.endswith("stubs")], ["/x/stubs"])


@in_every_shell
class Restoring(EnvironmentTest):
    def test_ENV_04_set_unset_and_empty(self):
        self.assert_comes_back({"CUDA_HOME": "/opt/x", "LIBRARY_PATH": ""})
        self.assert_comes_back({"CUDA_HOME": "", "CUDA_PATH": "", "CUDACXX": "", "LD_LIBRARY_PATH": "", "CPATH": ""})
        self.assert_comes_back({"CUDACXX": "/my/clang++", "CUDAToolkit_ROOT": "/opt/y", "CPATH": "/a:/b"})
        self.assert_comes_back({"CUDA_HOME": "a;b%41=c\n'\"\\\x01\udcff", "LD_LIBRARY_PATH": "/a b:/c'd:/e\"f:/g\nh:/\udcff"})

    def test_ENV_04_entries_of_the_person_that_look_like_ours(self):
        path = f"{self.old}/bin:{self.box.environment['PATH']}:{self.new}/bin"
        self.assert_comes_back({"PATH": path, "CUDA_HOME": str(self.new), "LD_LIBRARY_PATH": f"{self.old}/lib"})

    def test_ENV_04_a_variable_that_is_not_exported_stays_so(self):
        assign = "set -g {0} {1}" if self.shell == "fish" else "{0}={1}"
        names = ("CUDA_HOME", "CUDACXX", "LD_LIBRARY_PATH", "CPATH")
        terminal = self.start("\n".join(assign.format(name, f"/of/{name}") for name in names))
        outside = terminal.environment()
        for directory in (self.a, self.b, self.a):
            terminal.cd(directory)
            self.assertEqual(self.value(terminal, "CUDA_HOME"), str(self.new if directory == self.b else self.old))
        terminal.cd(self.box.home)
        self.assertEqual(terminal.output("echo " + " ".join(f"${name}" for name in names)),
                         " ".join(f"/of/{name}" for name in names) + "\n")
        self.assertEqual(terminal.environment(), outside)

    def test_ENV_04_what_the_person_changed_meanwhile_stays(self):
        terminal = self.start(env={"CUDA_PATH": "/opt/x", "CPATH": "/a"})
        outside = terminal.environment()
        terminal.cd(self.a)
        path = self.value(terminal, "PATH")
        terminal.export("PATH", f"/front:{path}:/back")
        terminal.export("CUDA_PATH", "/opt/mine")
        terminal.unset("CUDACXX")
        terminal.export("LD_LIBRARY_PATH", f"/mine:{self.old}/lib:/more")
        terminal.unset("CPATH")
        terminal.export("OTHER", "x")
        terminal.cd(self.b)
        self.assertEqual(self.value(terminal, "LD_LIBRARY_PATH"), f"{self.new}/lib:/mine:/more")
        terminal.cd(self.box.home)
        outside.update({"PATH": f"/front:{outside['PATH']}:/back", "CUDA_PATH": "/opt/mine", "LD_LIBRARY_PATH": "/mine:/more", "OTHER": "x"})
        del outside["CPATH"]
        self.assertEqual(terminal.environment(), outside)

    def test_file_has_vanished_meanwhile(self):
        terminal = self.start()
        outside = terminal.environment()
        terminal.cd(self.a)
        (self.a / ".cuda-version").unlink()
        self.assert_quiet(terminal.run(""))
        self.assertEqual(terminal.environment(), outside)

    def test_directory_has_vanished_meanwhile(self):
        terminal = self.start()
        outside = terminal.environment()
        terminal.cd(self.a)
        (self.a / ".cuda-version").unlink()
        self.a.rmdir()
        terminal.run("")
        self.assertEqual(terminal.environment(), outside)
        self.assert_quiet(terminal.cd(self.b))
        self.assert_toolkit(terminal, self.new)

    def test_bookkeeping_that_is_cut_or_spoilt_is_ignored(self):
        terminal = self.start(env={"CUDA_HOME": "/opt/x", "CPATH": ""})
        outside = terminal.environment()
        del outside["CUDA_HOME"], outside["CPATH"]
        for spoil in (lambda text: text[:len(text) // 2], lambda text: text[:-1], lambda text: "", lambda text: "CUDA_HOME;.",
                      lambda text: ";;=;%;CUDA_HOME=%zz;PATH=%;.", lambda text: "\x01\udcff" + text, lambda text: "x" * 3000):
            terminal.export("CUDA_HOME", "/opt/x")
            terminal.export("CPATH", "")
            terminal.cd(self.a)
            terminal.export("CUDAENV_OUTSIDE", spoil(self.value(terminal, "CUDAENV_OUTSIDE")))
            self.assert_quiet(terminal.cd(self.box.home))
            environment = terminal.environment()
            for name in ("CUDA_HOME", "CPATH"):
                self.assertNotIn(str(self.box.root), environment.pop(name, ""))
            self.assertEqual(environment, outside)


@in_every_shell
class Nested(EnvironmentTest):
    def test_ENV_06_shims_come_first_once(self):
        shims = str(self.box.shims)
        for path in (f"/usr/bin:/bin:{shims}", f"{shims}:/usr/bin:{shims}:/bin:{shims}", "/usr/bin:/bin", f"{shims}:{shims}:/usr/bin:/bin"):
            terminal = self.start(env={"PATH": path})
            entries = self.value(terminal, "PATH").split(":")
            self.assertEqual((entries[0], entries.count(shims)), (shims, 1))
            self.assertEqual([entry for entry in entries if entry != shims], [entry for entry in path.split(":") if entry != shims])
            terminal.close()

    def test_ENV_06_inherited_state_is_taken_over(self):
        outer = self.start(env={"CUDA_HOME": "/opt/x", "CPATH": ""})
        outside = {**outer.environment(), "LOGNAME": None, "USER": None}
        outer.cd(self.a)
        inner = self.start(env=self.inherited(outer), cwd=self.a)
        self.assertEqual(inner.greeting, "")
        self.assert_toolkit(inner, self.old)
        inner.cd(self.box.home)
        self.assert_same(inner, outside)
        elsewhere = self.start(env=self.inherited(outer), cwd=self.box.home)
        self.assert_same(elsewhere, outside)

    def test_ENV_06_three_shells_in_one_another(self):
        word = quote(self.shell, self.box.top / "rc")
        inner = {"bash": "bash --noprofile --noediting --rcfile {0} -i", "zsh": "env ZDOTDIR={0}.d zsh -d +Z -i",
                 "fish": "fish --no-config -i -C 'source {0}'"}[self.shell].format(word)
        terminal = self.start(env={"CUDA_HOME": "/opt/x"})
        outside = terminal.environment()
        rc = (terminal.directory / {"bash": "rc", "zsh": ".zshrc", "fish": "config"}[self.shell]).read_bytes()
        self.box.write("rc.d/.zshrc" if self.shell == "zsh" else "rc", rc.replace(b"_number=0", b"_number=100").replace(b"_number 0", b"_number 100"))
        terminal.cd(self.a)
        terminal.run(inner)
        self.assert_toolkit(terminal, self.old)
        self.assertEqual(self.value(terminal, "PATH").split(":").count(str(self.box.shims)), 1)
        terminal.cd(self.b)
        self.assert_toolkit(terminal, self.new)
        terminal.cd(self.box.home)
        self.assert_same(terminal, outside)

    def test_ENV_06_a_child_whose_path_was_reset(self):
        outer = self.start()
        outer.cd(self.a)
        child = self.start(env={**self.inherited(outer), "PATH": "/usr/bin:/bin"}, cwd=self.a)
        self.assertEqual(self.value(child, "PATH"), f"{self.old}/bin:{self.box.shims}:/usr/bin:/bin")
        child.export("PATH", "/usr/bin:/bin:/sbin")
        self.assertEqual(self.value(child, "PATH"), f"{self.old}/bin:/usr/bin:/bin:/sbin")
        child.run("")
        self.assertEqual(self.value(child, "PATH"), f"{self.old}/bin:/usr/bin:/bin:/sbin")
        child.cd(self.box.home)
        self.assertEqual(self.value(child, "PATH"), "/usr/bin:/bin:/sbin")


@in_shells("bash")
class Mixed(EnvironmentTest):
    def test_ENV_06_bash_in_fish_in_bash(self):
        """Each shell starts with what the one around it exports."""
        state = {"CUDA_HOME": "/o p't", "LD_LIBRARY_PATH": "", "CPATH": "/a b:/c"}
        first = self.start(env=state)
        outside = first.environment()
        first.cd(self.a)
        state = self.inherited(first)
        for shell, directory, toolkit in (("fish", self.b, self.new), ("zsh", self.a, self.old), ("bash", self.b, self.new), ("fish", self.a, self.old)):
            self.shell = shell
            terminal = self.start(env=state, cwd=self.a)
            terminal.cd(directory)
            self.assert_toolkit(terminal, toolkit)
            self.assertEqual(self.value(terminal, "PATH").split(":").count(str(self.box.shims)), 1)
            state = self.inherited(terminal)
            terminal.cd(self.box.home)
            self.assert_same(terminal, outside)



if __name__ == "__main__":
    unittest.main()
