#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cudaenv-hook prints what the program printed for the same switch, and asks the program whenever anything is not the same."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import BUILD, NOBODY, PROGRAM, Sandbox, execve_raw

HOOK = BUILD / "libexec" / "cudaenv" / "cudaenv-hook"
ASKED = "the program was asked"
# The loader complains of it, and cudaenv-hook has none: so it shows whether the program was started.
PRELOAD = {"LD_PRELOAD": "/not-there"}


class HookMemory(unittest.TestCase):
    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        for name in ("12.4.1", "12.8.1"):
            self.box.toolkit(name)
        self.select("12.4\n")

    def select(self, text, directory=None):
        self.box.write((directory or self.box.project) / ".cuda-version", text)

    def program(self, cwd=None, env=None, shell="bash"):
        done = self.box.run(PROGRAM, "env", "--hook", "--shell", shell, cwd=cwd, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def hook(self, cwd=None, env=None, shell="bash", program=PROGRAM):
        """The text, or ASKED where the program was."""
        done = self.box.run(HOOK, program, "env", "--hook", "--shell", shell, cwd=cwd, env={**(env or {}), **PRELOAD})
        self.assertEqual(done.returncode, 0, done.stderr)
        if PRELOAD["LD_PRELOAD"].encode() in done.stderr:
            return ASKED
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    def keep(self, **options):
        """What the program prints, which is there from now on."""
        done = self.program(**options)
        self.assertEqual(done.stderr, b"")
        text = done.stdout.decode()
        self.assertEqual(self.hook(**options), text)
        return text

    def kept_files(self):
        return sorted((self.box.runtime / "cudaenv").glob("switch-*"))

    def test_a_first_switch_is_the_programs(self):
        done = self.box.run(HOOK, PROGRAM, "env", "--hook", "--shell", "bash")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, self.program().stdout)
        self.assertEqual(self.hook(cwd=self.box.home), ASKED)

    def test_the_same_switch_again_is_printed_without_it(self):
        self.assertIn("12.4.1", self.keep())

    def test_leaving_too(self):
        inside = {"CUDAENV_ACTIVE": "12.4.1", "CUDA_HOME": f"{self.box.root}/versions/12.4.1",
                  "PATH": f"{self.box.root}/versions/12.4.1/bin:{self.box.shims}:/usr/bin:/bin"}
        self.program()  # makes the place where texts are kept
        self.assertIn("__cudaenv_unset CUDA_HOME", self.keep(cwd=self.box.home, env=inside))

    def test_a_switch_that_changes_nothing(self):
        self.program()
        self.assertEqual(self.keep(cwd=self.box.home), "")

    def test_another_project_with_the_same_toolkit(self):
        text = self.keep()
        other = self.box.home / "other"
        self.select("# why\n12.4.1\n", other)
        self.assertEqual(self.hook(cwd=other), text)

    def test_each_shell_has_its_own(self):
        text = self.keep()
        self.assertEqual(self.hook(shell="fish"), ASKED)
        self.assertNotEqual(self.keep(shell="fish"), text)
        self.assertEqual(self.hook(), text)

    def test_another_selection(self):
        self.keep()
        self.select("12.8\n")
        self.assertEqual(self.hook(), ASKED)
        self.assertIn("12.8.1", self.keep())
        self.assertEqual(self.hook(env={"CUDAENV_VERSION": "12.4"}), ASKED)

    def test_variables_that_the_text_changes(self):
        self.keep()
        for name in ("PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDACXX", "CUDAToolkit_ROOT",
                     "CUDAENV_ACTIVE", "CUDAENV_OUTSIDE"):
            with self.subTest(name=name):
                self.assertEqual(self.hook(env={name: "/elsewhere"}), ASKED)
                self.assertEqual(self.hook(env={name: ""}), ASKED)  # is not unset
        self.assertNotEqual(self.hook(env={"OTHER": "x"}), ASKED)

    def test_settings(self):
        setting = 'env.library_path = "toolkit"\n'
        before = self.keep()
        self.assertEqual(self.hook(env={"CUDAENV_ENV_LIBRARY_PATH": "toolkit"}), ASKED)
        for file in (self.box.root / "config.toml", self.box.project / ".cudaenv.toml"):
            with self.subTest(file=file.name):
                self.box.write(file, setting)
                self.assertEqual(self.hook(), ASKED)
                self.assertIn("versions/12.4.1/lib", self.keep())
                file.unlink()
                self.assertEqual(self.hook(), before)

    def test_settings_of_one_project_are_not_anothers(self):
        self.keep()
        other = self.box.home / "other"
        self.select("12.4\n", other)
        self.box.write(other / ".cudaenv.toml", 'env.library_path = "toolkit"\n')
        self.assertEqual(self.hook(cwd=other), ASKED)
        self.assertNotEqual(self.keep(cwd=other), self.hook())

    def test_what_the_toolkit_holds(self):
        toolkit = self.box.root / "versions/12.4.1"
        changes = (lambda: self.box.tool(toolkit / "bin", "nvcc", "exit 1 # another"), (toolkit / "include/cccl").mkdir,
                   (self.box.shims / "lib").mkdir)
        (toolkit / "include").mkdir()
        for number, change in enumerate(changes):
            with self.subTest(number=number):
                self.keep()
                change()
                self.assertEqual(self.hook(), ASKED)

    def test_another_build_of_the_program(self):
        self.keep()
        other = self.box.top / "bin/cudaenv"
        other.parent.mkdir()
        shutil.copy(PROGRAM, other)
        self.assertEqual(self.hook(program=other), ASKED)
        link = self.box.top / "bin/link"
        link.symlink_to(PROGRAM)
        self.assertNotEqual(self.hook(program=link), ASKED)

    def test_another_root(self):
        self.keep()
        other = self.box.top / "other"
        self.box.toolkit("12.4.1", root=other)
        self.assertEqual(self.hook(env={"CUDAENV_ROOT": str(other)}), ASKED)

    def test_what_is_told_is_told_each_time(self):
        for text in ("12.4 12.8\n", "99.9\n", "no version\n"):
            with self.subTest(text=text):
                self.keep()
                self.select(text)
                told = self.program().stderr
                self.assertNotEqual(told, b"")
                self.assertEqual(self.hook(), ASKED)
                self.assertEqual(self.program().stderr, told)
                self.select("12.4\n")

    def test_a_warning_of_settings_is_told_each_time(self):
        self.box.write(self.box.root / "config.toml", "no.such = 1\n")
        self.assertNotEqual(self.program().stderr, b"")
        self.assertEqual(self.hook(), ASKED)

    def test_the_gate_is_asked_each_time(self):
        self.keep()
        old = {"CUDAENV_OVERRIDE_DRIVER": "450.80.02", "CUDAENV_OVERRIDE_GPUS": "8.0"}
        self.assertEqual(self.hook(env=old), ASKED)
        self.assertIn(b"12.4", self.program(env=old).stderr)
        self.assertEqual(self.hook(env=old), ASKED)
        for record in (self.box.runtime / "cudaenv").glob("gate-*"):
            record.unlink()
        self.assertEqual(self.hook(), ASKED)

    def test_what_only_some_GPUs_can_run_is_told_each_time(self):
        self.keep()
        mixed = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6,3.5"}
        for _ in range(3):
            self.assertIn(b"warning", self.program(env=mixed).stderr)
            self.assertEqual(self.hook(env=mixed), ASKED)
        self.assertNotEqual(self.hook(), ASKED)

    def test_rights_of_a_file(self):
        nvcc = self.box.root / "versions/12.4.1/bin/nvcc"
        self.assertIn("CUDACXX", self.keep())
        nvcc.chmod(0o644)
        self.assertEqual(self.hook(), ASKED)
        self.assertNotIn("CUDACXX", self.keep())

    def test_an_exemption_is_for_one_file(self):
        old = {"CUDAENV_OVERRIDE_DRIVER": "450.80.02", "CUDAENV_OVERRIDE_GPUS": "8.0"}
        done = self.box.run(PROGRAM, "local", "--force", "12.4", env=old)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.keep(env=old)
        other = self.box.home / "other"
        self.select("12.4\n", other)
        self.assertEqual(self.hook(cwd=other, env=old), ASKED)

    def test_auto_is_what_it_stands_for(self):
        self.select("auto\n")
        self.assertIn("12.8.1", self.keep())
        self.box.toolkit("12.9.1")
        self.assertEqual(self.hook(), ASKED)
        self.assertIn("12.9.1", self.keep())

    def test_files_that_others_may_write_are_not_read(self):
        self.keep()
        [file] = self.kept_files()
        moved = file.with_suffix(".x")
        for spoil in (lambda: file.chmod(0o666), lambda: (file.rename(moved), file.symlink_to(moved))):
            self.keep()
            spoil()
            self.assertEqual(self.hook(), ASKED)
            file.unlink()
        if os.geteuid() == 0:
            self.keep()
            os.chown(file, NOBODY, NOBODY)
            self.assertEqual(self.hook(), ASKED)

    def test_a_kept_file_is_for_its_owner_alone(self):
        self.keep()
        for file in self.kept_files():
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)

    def test_a_cut_file_is_no_text(self):
        self.keep()
        [file] = self.kept_files()
        whole = file.read_bytes()
        key_size = whole.index(self.hook().encode())
        for size in (0, 1, key_size // 2, key_size - 1, key_size, key_size + 1, len(whole) - 20, len(whole) - 1):
            file.write_bytes(whole[:size])
            self.assertEqual(self.hook(), ASKED)
            self.assertEqual(file.read_bytes(), whole)

    def test_kept_files_do_not_pile_up(self):
        for number in range(80):
            self.program(env={"CPATH": str(number)})
        self.assertLessEqual(len(self.kept_files()), 64)
        self.keep()

    def test_long_variables_are_the_programs(self):
        path = {"PATH": ":".join(["/usr/bin", "/bin"] + [f"/{'x' * 100}{number}" for number in range(700)])}
        self.program(env=path)
        self.assertEqual(self.hook(env=path), ASKED)

    def test_without_a_home_or_with_other_arguments(self):
        self.assertEqual(self.box.run(HOOK, PROGRAM, "env", "--hook", "--shell", "bash", env={"HOME": None}).returncode,
                         self.box.run(PROGRAM, "env", "--hook", "--shell", "bash", env={"HOME": None}).returncode)
        done = self.box.run(HOOK, PROGRAM, "root")
        self.assertEqual(done.stdout.decode(), f"{self.box.root}\n")
        self.assertEqual(self.box.run(HOOK).returncode, 2)
        self.assertEqual(execve_raw(HOOK, [], [], self.box.project)[0], 2)

    def test_a_program_that_is_not_there_is_named(self):
        done = self.box.run(HOOK, self.box.top / "gone", "env", "--hook", "--shell", "bash")
        self.assertEqual(done.returncode, 127)
        self.assertIn(f"cannot start {self.box.top}/gone".encode(), done.stderr)

    def test_a_full_device_is_no_success(self):
        self.keep()
        with open("/dev/full", "wb") as full:
            command = [str(HOOK), str(PROGRAM), "env", "--hook", "--shell", "bash"]
            done = subprocess.run(command, cwd=self.box.project, env={**self.box.environment, "PWD": str(self.box.project)}, stdout=full)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
