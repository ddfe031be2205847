#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gate in the shims: what they decide from the record that the program keeps, and when they ask it."""

import os
import shutil
import stat
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import AS_USER, IS_ROOT, ProgramTest
from support.sandbox import NOBODY, execve_raw

A10 = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6"}
MIXED = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6,3.5"}
ASKED = b'"exec", "--shim=nvcc"'


class GateShimTest(ProgramTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("no strace on this machine")
        self.box.toolkit("13.0.2", ["nvcc", "ptxas"])
        self.cudaenv("rehash")
        self.nvcc = self.box.shims / "nvcc"

    def path_of(self, release, tool="nvcc"):
        return str(self.box.root / "versions" / release / "bin" / tool)

    def run_shim(self, *arguments, env=A10, **options):
        return self.box.run(self.nvcc, *arguments, env=env, **options)

    def traced(self, env=A10, **options):
        """What a shim call does: the system calls that start programs or open files."""
        result = self.box.run("strace", "-f", "-s", "300", "-e", "trace=execve,openat,open,fork,vfork,clone,clone3",
                              self.nvcc, env=env, **options)
        return result.stderr

    def asks(self, **options):
        """Whether a shim call has to ask the program."""
        return ASKED in self.traced(**options)

    def assert_runs(self, result, release):
        self.assertEqual((result.returncode, result.stdout.decode(), result.stderr.decode()),
                         (0, self.path_of(release) + "\n", ""))

    def records(self):
        return sorted((self.box.runtime / "cudaenv").glob("gate-*"))


class Deciding(GateShimTest):
    def test_first_call_asks_and_the_others_know(self):
        self.select("12.4\n")
        self.assertTrue(self.asks())
        self.assertFalse(self.asks())
        self.assert_runs(self.run_shim(), "12.4.1")

    def test_a_warm_call_starts_nothing_but_the_tool(self):
        self.select("12.8\n")  # limited on that machine: the same
        self.run_shim()
        for _ in range(20):
            trace = self.traced().decode()
            programs = [line for line in trace.splitlines() if "execve(" in line]
            self.assertEqual(len(programs), 2 + trace.count("execve(\"/bin/sh") , trace)  # the shim, the tool
            self.assertNotRegex(trace.split(self.path_of("12.8.1"))[0], r"libcuda|libnvidia|fork|clone")

    def test_the_tool_gets_the_same_from_a_call_that_asks(self):
        self.box.tool(self.box.root / "versions/12.4.1/bin", "nvcc",
                      'tr "\\0" " " < /proc/$$/cmdline; echo; env | grep -v "^_=" | sort; cat')
        self.select("12.4\n")
        for variables in ({}, {"CUDAENV_ROOT": str(self.box.root)}):
            shutil.rmtree(self.box.runtime / "cudaenv", ignore_errors=True)
            calls = [self.run_shim("-x", "a b", "", "--", "--version", "-v", "\n", env={**A10, **variables}, input=b"stdin")
                     for _ in range(2)]
            self.assertEqual(calls[0].stdout, calls[1].stdout)
            self.assertEqual(calls[0].returncode, 0)
            self.assertIn(b"stdin", calls[0].stdout)
            self.assertIn(b"CUDA_HOME=", calls[0].stdout)
            self.assertEqual(b"CUDAENV_ROOT" in calls[0].stdout, "CUDAENV_ROOT" in variables)

    def test_the_very_same_environment_from_a_call_that_asks(self):
        tool = self.box.root / "versions/12.4.1/bin/nvcc"
        shutil.copy(shutil.which("cat"), tool)
        self.select("12.4\n")
        home = os.fsencode(tool.parents[1])
        root = os.fsencode(self.box.root)
        mine = [os.fsencode(f"{name}={value}") for name, value in {**self.box.environment, **A10}.items()]
        odd = [b"B=2", b"A=1", b"A=again", b"no equals sign", b"", b"=x", b"ODD=\x01\xff\n", b"CUDA_HOMES=kept", b"LAST="]
        for name, further in (("plain", []), ("odd entries", odd), ("root empty", [b"CUDAENV_ROOT="]), ("root", [b"CUDAENV_ROOT=" + root]),
                              ("two roots", [b"CUDAENV_ROOT=" + root, b"CUDAENV_ROOT=/nowhere"]),
                              ("root empty and not", [b"CUDAENV_ROOT=", b"CUDAENV_ROOT=/nowhere"]),
                              ("two versions", [b"CUDAENV_VERSION=12.4", b"CUDAENV_VERSION=12.8"]),
                              ("two drivers", [b"CUDAENV_OVERRIDE_DRIVER=470.57.02"]), ("no value", [b"CUDAENV_GATE"])):
            with self.subTest(name=name):
                shutil.rmtree(self.box.runtime / "cudaenv", ignore_errors=True)
                cold, warm = [execve_raw(self.nvcc, [b"nvcc", b"/proc/self/environ"], mine + further, self.box.project) for _ in range(2)]
                self.assertEqual(cold, warm)
                self.assertEqual((cold[0], cold[1].split(b"\0")[:-1]),
                                 (0, mine + further + [b"CUDAENV_SHIM_DEPTH=1", b"CUDA_HOME=" + home, b"CUDA_PATH=" + home]))
                self.assertEqual(len(self.records()), 1)

    def test_variables_of_a_toolkit_keep_their_place_in_a_call_that_asks(self):
        tool = self.box.root / "versions/12.4.1/bin/nvcc"
        shutil.copy(shutil.which("cat"), tool)
        self.select("12.4\n")
        home = os.fsencode(tool.parents[1])
        mine = [os.fsencode(f"{name}={value}") for name, value in {**self.box.environment, **A10}.items()]
        further = [b"CUDA_PATH=/old", b"B=2", b"CUDA_HOME=/old", b"CUDAENV_SHIM_DEPTH=3", b"CUDA_PATH=/older", b"LAST="]
        expected = mine + [b"CUDA_PATH=" + home, b"B=2", b"CUDA_HOME=" + home, b"CUDAENV_SHIM_DEPTH=4", b"LAST="]
        for _ in range(2):
            status, output = execve_raw(self.nvcc, [b"nvcc", b"/proc/self/environ"], mine + further, self.box.project)
            self.assertEqual((status, output.split(b"\0")[:-1]), (0, expected))

    def test_exit_status_of_the_tool(self):
        self.box.tool(self.box.root / "versions/12.4.1/bin", "nvcc", "exit 42")
        self.select("12.4\n")
        self.assertEqual([self.run_shim().returncode for _ in range(2)], [42, 42])

    def test_refused_is_126_with_the_whole_reason(self):
        self.select("13.0\n")
        for _ in range(2):
            self.assert_fails(self.run_shim(), 126, "13.0.2", "550.54.14", "580.65.06", "cudaenv local 13.0 --force")

    def test_limited_runs_without_a_word(self):
        self.select("12.8\n")
        for _ in range(2):
            self.assert_runs(self.run_shim(), "12.8.1")

    def test_limited_can_be_a_refusal(self):
        self.select("12.8\n")
        self.assert_runs(self.run_shim(), "12.8.1")
        self.box.write(self.box.root / "config.toml", '[gate]\nlimited = "refuse"\n')
        self.assert_fails(self.run_shim(), 126, "gate.limited")
        self.box.write(self.box.root / "config.toml", "")
        self.assert_runs(self.run_shim(), "12.8.1")
        self.box.write(self.box.project / ".cudaenv.toml", '[gate]\nlimited = "refuse"\n')
        self.assert_fails(self.run_shim(), 126, "gate.limited")

    def test_an_exemption_is_obeyed_and_ends(self):
        self.assertEqual(self.cudaenv("local", "13.0", "--force", env=A10).returncode, 0)
        self.assert_runs(self.run_shim(), "13.0.2")
        self.assertFalse(self.asks())
        other = self.box.home / "other"
        self.select("13.0\n", other)
        self.assert_fails(self.run_shim(cwd=other), 126)
        self.select("13\n")
        self.assert_fails(self.run_shim(), 126)
        self.select("13.0\n")
        self.assert_runs(self.run_shim(), "13.0.2")
        self.cudaenv("local", "--unset")
        self.select("13.0\n")
        self.assert_fails(self.run_shim(), 126)

    def test_mode_warn_warns_each_time(self):
        self.select("13.0\n")
        for _ in range(2):
            result = self.run_shim(env={**A10, "CUDAENV_GATE": "warn"})
            self.assertEqual((result.returncode, result.stdout.decode()), (0, self.path_of("13.0.2") + "\n"))
            self.assertIn(b"580.65.06", result.stderr)

    def test_mode_off(self):
        self.select("13.0\n")
        off = {**A10, "CUDAENV_GATE": "off"}
        self.assert_runs(self.run_shim(env=off), "13.0.2")
        self.assertFalse(self.asks(env=off))
        self.assert_fails(self.run_shim(), 126)
        self.box.write(self.box.root / "config.toml", '[gate]\nmode = "off"\n')
        self.assert_runs(self.run_shim(), "13.0.2")
        self.assertFalse(self.asks())
        (self.box.root / "config.toml").unlink()
        self.assert_fails(self.run_shim(), 126)

    def test_a_missing_tool_and_a_missing_toolkit_are_127_and_ask_nobody(self):
        self.select("12.4\n")
        (self.box.root / "versions/12.4.1/bin/nvcc").unlink()
        self.assertFalse(self.asks())
        self.assert_fails(self.run_shim(), 127, "12.8.1")
        self.select("11.8\n")
        self.assert_fails(self.run_shim(), 127, "cudaenv install 11.8")

    def test_auto_is_what_fits_the_machine(self):
        self.select("auto\n")
        for described, release in ((A10, "12.4.1"), ({"CUDAENV_OVERRIDE_DRIVER": "620.70.06", "CUDAENV_OVERRIDE_GPUS": "9.0"}, "13.0.2")):
            for _ in range(2):
                self.assert_runs(self.run_shim(env=described), release)
            self.assertFalse(self.asks(env=described))
        self.box.toolkit("12.3.2")
        shutil.rmtree(self.box.root / "versions/12.4.1")
        self.assert_runs(self.run_shim(), "12.3.2")

    def test_without_a_program_to_ask_it_passes(self):
        (self.box.root / "bin/cudaenv").unlink()
        self.select("13.0\n")
        self.assert_runs(self.run_shim(), "13.0.2")
        # Where there should be one, somebody has to know.
        (self.box.root / "bin/cudaenv").symlink_to(self.box.top / "gone")
        result = self.run_shim()
        self.assertEqual((result.returncode, result.stdout.decode()), (0, self.path_of("13.0.2") + "\n"))
        self.assertIn(b"try: cudaenv rehash", result.stderr)
        # What auto stands for, nobody else can say.
        self.select("auto\n")
        self.assert_fails(self.run_shim(), 126, "auto", "cudaenv rehash")

    def test_rehash_makes_the_link_anew(self):
        link = self.box.root / "bin/cudaenv"
        for target in (None, self.box.top / "gone", "/bin/true"):
            with self.subTest(target=target):
                link.unlink()
                if target:
                    link.symlink_to(target)
                self.assert_prints(self.cudaenv("rehash"), "")
                self.assertEqual(os.readlink(link), str(self.program))

    def test_a_program_that_was_installed_into_the_root_stays(self):
        link = self.box.root / "bin/cudaenv"
        link.unlink()
        link.write_text("#!/bin/sh\necho installed \"$@\"\n")
        link.chmod(0o755)
        self.assert_prints(self.cudaenv("rehash"), "")
        self.assertFalse(link.is_symlink())
        self.select("12.4\n")
        self.assertEqual(self.run_shim("x").stdout, f"installed exec --shim=nvcc --shim-root={self.box.root} -- x\n".encode())


class Staleness(GateShimTest):
    """A changed machine makes the record stale at once."""

    def setUp(self):
        super().setUp()
        self.host = self.box.top / "host"
        self.set_boot("5b0f1d2e-0000-4000-8000-000000000001")
        self.set_driver("550.54.14")
        self.select("12.4\n")
        self.variables = {**MIXED, "CUDAENV_HOST_ROOT": str(self.host)}
        self.assertTrue(self.asks(env=self.variables))
        self.assertFalse(self.asks(env=self.variables))

    def set_boot(self, text):
        self.box.write(self.host / "proc/sys/kernel/random/boot_id", text + "\n")

    def set_driver(self, text):
        self.box.write(self.host / "sys/module/nvidia/version", text + "\n")

    def test_another_boot(self):
        self.set_boot("5b0f1d2e-0000-4000-8000-000000000002")
        self.assertTrue(self.asks(env=self.variables))

    def test_another_kernel_driver(self):
        self.set_driver("550.90.07")
        self.assertTrue(self.asks(env=self.variables))

    def test_another_kernel_driver_by_its_other_file(self):
        (self.host / "sys/module/nvidia/version").unlink()
        self.box.write(self.host / "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  now\n")
        self.assertTrue(self.asks(env=self.variables))
        self.assertFalse(self.asks(env=self.variables))
        self.box.write(self.host / "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  now\n")
        self.assertTrue(self.asks(env=self.variables))

    def test_other_visible_devices(self):
        for visible in ("", "0", "1", "0,1"):
            with self.subTest(visible=visible):
                self.assertTrue(self.asks(env={**self.variables, "CUDA_VISIBLE_DEVICES": visible}))
        self.assert_fails(self.run_shim(env={**self.variables, "CUDA_VISIBLE_DEVICES": "1"}), 126, "3.5")
        self.assert_runs(self.run_shim(env={**self.variables, "CUDA_VISIBLE_DEVICES": "0"}), "12.4.1")

    def test_another_library_path(self):
        # A forward-compatibility libcuda comes by it.
        self.assertTrue(self.asks(env={**self.variables, "LD_LIBRARY_PATH": "/opt/compat"}))

    def test_newer_facts_in_the_root(self):
        (self.box.root / "registry").mkdir()
        self.assertTrue(self.asks(env=self.variables))

    def test_a_toolkit_that_was_upgraded_in_place(self):
        nvcc = self.box.root / "versions/12.4.1/bin/nvcc"
        self.box.tool(nvcc.parent, "new", "echo \"$0\"").rename(nvcc)
        self.assertTrue(self.asks(env=self.variables))
        self.assertFalse(self.asks(env=self.variables))
        self.box.write(nvcc.parents[1] / "version.json", "{}")
        self.assertTrue(self.asks(env=self.variables))

    def test_a_toolkit_that_is_another_directory_now(self):
        directory = self.box.root / "versions/12.4.1"
        directory.rename(self.box.top / "moved")
        self.box.toolkit("12.4.1")
        self.assertTrue(self.asks(env=self.variables))


class Trust(GateShimTest):
    """The record counts only where nobody else can have written it."""

    def setUp(self):
        super().setUp()
        self.select("12.4\n")
        self.assert_runs(self.run_shim(), "12.4.1")
        self.directory = self.box.runtime / "cudaenv"
        (self.record,) = self.records()
        self.assertFalse(self.asks())

    def test_modes(self):
        self.assertEqual(stat.S_IMODE(self.directory.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(self.record.stat().st_mode), 0o600)

    def test_a_directory_open_to_others_is_not_read(self):
        self.directory.chmod(0o750)
        self.assertTrue(self.asks())

    def test_a_link_in_place_of_the_directory_is_not_followed(self):
        moved = self.box.top / "moved"
        self.directory.rename(moved)
        self.directory.symlink_to(moved)
        self.assertTrue(self.asks())
        self.assertEqual(len(list(moved.iterdir())), 1)

    def test_a_link_in_place_of_the_record_is_not_followed(self):
        moved = self.box.top / "record"
        self.record.rename(moved)
        self.record.symlink_to(moved)
        self.assertTrue(self.asks())

    def test_a_record_that_others_may_write_is_not_read(self):
        self.record.chmod(0o622)
        self.assertTrue(self.asks())

    @unittest.skipUnless(IS_ROOT, "only root can make files of others")
    def test_files_of_another_user_are_not_read(self):
        os.chown(self.record, NOBODY, NOBODY)
        self.assertTrue(self.asks())
        os.chown(self.directory, NOBODY, NOBODY)
        self.assertTrue(self.asks())

    @unittest.skipUnless(IS_ROOT, "only root can give a directory away")
    def test_a_runtime_directory_of_another_user_is_not_used(self):
        variables = {**A10, "CUDA_VISIBLE_DEVICES": f"0,{os.getpid()}"}
        place = Path(f"/tmp/cudaenv-{os.getuid()}")
        before = set(place.iterdir()) if place.exists() else set()
        content = self.record.read_bytes()
        os.chown(self.box.runtime, NOBODY, NOBODY)
        self.assertTrue(self.asks(env=variables))
        self.assertFalse(self.asks(env=variables))  # it was kept in the other place
        self.assertEqual(self.records(), [self.record])
        self.assertEqual(self.record.read_bytes(), content)
        # Nor is anything made there.
        shutil.rmtree(self.directory)
        self.assert_runs(self.run_shim(env=variables), "12.4.1")
        self.assertEqual(self.cudaenv("check", env=variables).returncode, 0)
        self.assertFalse(self.directory.exists())
        for file in set(place.iterdir()) - before:
            file.unlink()

    def test_nothing_but_records_is_ever_removed(self):
        os.utime(self.record, (0, 0))
        records = [self.directory / f"gate-{number:016x}" for number in range(100)]
        others = [self.directory / name for name in ("mine", "gate", "gate-notes", "gate-0123456789abcde", "gate-0123456789ABCDEF", "xgate-0123456789abcdef")]
        for file in records + others:
            file.write_text("old")
            os.utime(file, (0, 0))
        self.assertTrue(self.asks(env={**A10, "CUDA_VISIBLE_DEVICES": "0"}))
        self.assertEqual([file.name for file in others if not file.exists()], [])
        self.assertEqual([file.name for file in records if file.exists()], [])

    def test_whatever_else_lies_there_does_no_harm(self):
        content = self.record.read_bytes()
        for other in (b"", b"cudaenv-gate 1", b"cudaenv-gate 2\n" + content[15:], content[:-20], b"\0" * 100, content * 200, b"\xff\n" * 9):
            with self.subTest(other=other[:30]):
                self.record.write_bytes(other)
                self.assert_runs(self.run_shim(), "12.4.1")
        self.record.unlink()
        os.mkfifo(self.record)
        self.assert_runs(self.run_shim(), "12.4.1")
        self.record.unlink(missing_ok=True)
        self.record.mkdir()
        self.assert_runs(self.run_shim(), "12.4.1")

    def test_without_a_runtime_directory_it_lies_in_tmp(self):
        place = Path(f"/tmp/cudaenv-{os.getuid()}")
        before = set(place.iterdir()) if place.exists() else set()
        variables = {**A10, "XDG_RUNTIME_DIR": None, "CUDA_VISIBLE_DEVICES": f"0,{os.getpid()}"}
        self.assert_runs(self.run_shim(env=variables), "12.4.1")
        self.assertFalse(self.asks(env=variables))
        self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o700)
        for file in set(place.iterdir()) - before:
            file.unlink()

    def test_where_nothing_can_be_kept_every_call_asks(self):
        shutil.rmtree(self.directory)
        self.directory.write_text("in the way")
        if self.box.run("unshare", "-m", "true").returncode != 0:
            self.skipTest("no mount namespaces here")
        place = f"/tmp/cudaenv-{os.getuid()}"
        script = f'mkdir -p -m 700 {place} && mount -t tmpfs -o ro,mode=755 none {place} && exec "$0"'
        for _ in range(2):
            self.assert_runs(self.box.run("unshare", "-m", "/bin/sh", "-c", script, self.nvcc, env=A10), "12.4.1")

    def test_doubtful_facts_are_asked_again(self):
        text = self.record.read_text()
        self.record.write_text(text.replace("cudaenv-gate 1\n", f"cudaenv-gate 1\nuntil {int(time.time()) + 60}\n"))
        self.assertFalse(self.asks())
        self.record.write_text(text.replace("cudaenv-gate 1\n", f"cudaenv-gate 1\nuntil {int(time.time()) - 1}\n"))
        self.assertTrue(self.asks())


if __name__ == "__main__":
    unittest.main()
