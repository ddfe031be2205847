#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv adopt`: toolkits that others installed, under cudaenv's eyes without being copied."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import MirrorTest
from support.sandbox import PROGRAM


class AdoptTest(MirrorTest):
    RELEASES = ("13.0.2",)

    def setUp(self):
        super().setUp()
        # As NVIDIA's installer leaves one: the tree without a receipt.
        self.install("13.0.2")
        self.opt = self.box.top / "opt" / "cuda-13.0"
        self.opt.parent.mkdir()
        self.toolkit("13.0.2").rename(self.opt)
        (self.opt / "receipt.json").unlink()
        # nvcc holds the line that it prints as a text; that of the sample is put together when it runs.
        with open(self.opt / "bin" / "nvcc", "ab") as nvcc:
            nvcc.write(b"\0release 13.0, V\0Cuda compilation tools, release 13.0, V13.0.88\n\0")
        self.done("rehash")

    def adopt(self, *arguments, **options):
        """Adopts; the directory must stay as it is."""
        with self.unchanged(self.box.top / "opt"):
            return self.done("adopt", *arguments, **options)

    def refused(self, status, *arguments, says=()):
        with self.unchanged():
            return self.fails(status, "adopt", *arguments, says=says)


class Adopting(AdoptTest):
    def test_it_is_a_link_named_like_the_release(self):
        result = self.adopt(self.opt)
        self.assertEqual(os.readlink(self.toolkit("13.0.2")), str(self.opt))
        self.assertEqual(result.stderr, f"cudaenv: {self.opt} is adopted as 13.0.2; to use it here: cudaenv local 13.0.2\n")

    def test_the_verdict_of_the_gate_is_told(self):
        described = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6"}
        for gate, lines, closing in (("on", 2, "cudaenv local 13.0.2 --force\n"), ("warn", 2, "cudaenv local 13.0.2\n"), ("off", 1, "cudaenv local 13.0.2\n")):
            with self.subTest(gate=gate):
                result = self.adopt(self.opt, env={**described, "CUDAENV_GATE": gate})
                self.assertEqual(result.stderr.count("\n"), lines, result.stderr)
                if lines == 2:
                    self.assertRegex(result.stderr, r"^cudaenv: on this machine CUDA 13\.0\.2 is refused: .*580\.65\.06.*550\.54\.14")
                self.assertTrue(result.stderr.endswith("; to use it here: " + closing), result.stderr)
                self.done(*closing.split()[1:], env={**described, "CUDAENV_GATE": gate})
                self.done("uninstall", "13.0.2")

    def test_what_is_adopted_already_is_not_judged(self):
        self.adopt(self.opt)
        result = self.adopt(self.opt, env={"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6"})
        self.assertEqual(result.stderr, f"cudaenv: {self.opt} is adopted as 13.0.2 already\n")

    def test_its_tools_get_shims(self):
        self.assertNotIn("nvcc", os.listdir(self.box.shims))
        self.adopt(self.opt)
        self.assertIn("nvcc", os.listdir(self.box.shims))
        self.box.write("home/project/.cuda-version", "13.0\n")
        self.assertIn("V13.0.88", self.box.run("nvcc", "--version", text=True).stdout)

    def test_part_of_the_release_finds_it(self):
        self.adopt(self.opt)
        self.assertIn("V13.0.88", self.done("exec", "-v", "13.0", "nvcc", "--version").stdout)
        self.assertEqual(self.done("prefix", "13").stdout, f"{self.toolkit('13.0.2')}\n")

    def test_the_release_by_the_number_of_nvcc(self):
        (self.opt / "version.json").unlink()
        self.adopt(self.opt)
        self.assertEqual(self.names(), ["13.0.2"])  # the newest with that nvcc

    def test_the_release_of_an_old_version_file(self):
        (self.opt / "version.json").unlink()
        (self.opt / "version.txt").write_text("CUDA Version 10.2.89\n")
        self.adopt(self.opt)
        self.assertEqual(self.names(), ["10.2.89"])

    def test_a_broken_version_json_is_passed_over(self):
        for text in ("", "{", "[]", '{"cuda": 1}', '{"cuda": {"version": "../x"}}', '{"cuda": {"version": 13}}', "\0" * 100):
            (self.opt / "version.json").write_text(text)
            self.adopt(self.opt)
            self.assertEqual(self.names(), ["13.0.2"])
            self.done("uninstall", "13.0.2")

    def test_under_a_name(self):
        for name in ("distro", "site-13", "a.b_c+d", "13.0.2"):
            self.adopt(self.opt, "--name", name)
            self.assertIn("V13.0.88", self.done("exec", "-v", name, "nvcc", "--version").stdout)

    def test_by_a_relative_path_and_one_with_a_slash(self):
        self.adopt("../../opt/cuda-13.0/", "--name", "one")
        self.adopt(".", "--name", "two", cwd=self.opt)
        for name in ("one", "two"):
            self.assertEqual(os.readlink(self.toolkit(name)), str(self.opt))

    def test_a_release_stays_when_the_link_that_was_given_moves(self):
        moving = self.box.top / "opt" / "cuda"
        moving.symlink_to("cuda-13.0")
        self.adopt(moving)
        self.adopt(moving, "--name", "newest")
        other = self.box.tool("opt/cuda-14.0/bin", "nvcc", "echo another release").parent.parent
        moving.unlink()
        moving.symlink_to(other)
        self.assertEqual(os.readlink(self.toolkit("13.0.2")), str(self.opt))
        self.assertIn("V13.0.88", self.done("exec", "-v", "13.0", "nvcc", "--version").stdout)
        # Under a name of the user's own it is the link that was meant.
        self.assertEqual(os.readlink(self.toolkit("newest")), str(moving))
        self.assertEqual(self.done("exec", "-v", "newest", "nvcc").stdout, "another release\n")

    def test_twice(self):
        self.adopt(self.opt)
        with self.unchanged():
            result = self.adopt(self.opt)
        self.assertIn("is adopted as 13.0.2 already", result.stderr)

    def test_a_path_with_terminal_codes_is_escaped(self):
        odd = self.opt.rename(self.opt.with_name("cuda\x1b[2J"))
        for expected in ("is adopted as 13.0.2; to use it here", "is adopted as 13.0.2 already"):
            error = self.adopt(odd).stderr
            self.assertIn(f"cuda\\x1b[2J {expected}", error)
            self.assertNotIn("\x1b", error)

    def test_anew_when_its_directory_has_moved(self):
        for name in ("13.0.2", "distro"):
            self.adopt(self.opt, "--name", name)
        self.opt = self.opt.rename(self.opt.with_name("moved"))
        self.assertEqual(self.names(), [])
        self.adopt(self.opt, "--name", "distro")
        self.adopt(self.opt)
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), ["13.0.2", "distro"])
        for name in ("13.0.2", "distro"):
            self.assertEqual(os.readlink(self.toolkit(name)), str(self.opt))

    def test_into_a_root_that_is_not_there_yet(self):
        shutil.rmtree(self.box.root)
        self.adopt(self.opt)
        self.assertEqual(self.names(), ["13.0.2"])

    def test_install_leaves_it_alone(self):
        self.adopt(self.opt)
        with self.unchanged(self.box.home, self.box.top / "opt"):
            self.assertIn(f"adopted from {self.opt}", self.install("13.0.2").stderr)
            self.fails(2, "install", "13.0.2", "--force", says=("13.0.2 is adopted from", "cudaenv uninstall 13.0.2"))

    def test_the_real_toolkit_of_this_machine(self):
        nvcc = shutil.which("nvcc")
        real = Path(nvcc).resolve().parent.parent if nvcc else None
        if not real or not (real / "bin" / "nvcc.profile").exists():
            self.skipTest("there is no CUDA toolkit on PATH")
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"V(\d+\.\d+)\.\d+", said)[1]
        self.adopt(real)
        self.assertRegex(self.names()[0], rf"^{re.escape(version)}\.\d+$")
        self.assertIn(f"V{version}.", self.done("exec", "-v", version, "nvcc", "--version").stdout)


class Refusing(AdoptTest):
    def test_what_is_not_there(self):
        self.refused(3, self.box.top / "none", says=f"there is no directory {self.box.top}/none")
        self.refused(3, self.opt / "bin" / "nvcc", says="there is no directory")

    def test_what_is_no_toolkit(self):
        (self.box.top / "empty").mkdir()
        self.refused(3, self.box.top / "empty", says=("is not a CUDA toolkit", "nvcc.profile beside it"))

    def test_a_system_directory_with_an_nvcc_among_others(self):
        (self.opt / "bin" / "nvcc.profile").unlink()
        self.refused(3, self.opt, says=("is not a CUDA toolkit", "nvcc.profile beside it"))

    def test_an_nvcc_that_cannot_be_run(self):
        (self.opt / "bin" / "nvcc").chmod(0o644)
        self.refused(3, self.opt, says="is not a CUDA toolkit")

    def test_a_release_that_cannot_be_told(self):
        (self.opt / "version.json").unlink()
        self.box.tool(self.opt / "bin", "nvcc", "echo hello")
        self.refused(3, self.opt, says=("cannot tell which release", f"try: cudaenv adopt {self.opt} --name NAME"))

    def test_VER_02_names_that_read_as_something_else(self):
        for name in ("system", "latest", "auto", "v12", "cuda-12", "12", "12.8", "v13.0.2", "../x", "a/b", ".x", "-x", "..",
                     "a b", "a\nb", "$(id)", "x" * 65, "1st", "\u00e9"):
            with self.subTest(name=name):
                self.refused(2, self.opt, f"--name={name}", says="cannot be a toolkit's name")
        self.assertEqual(self.names(), [])

    def test_dots_behind_a_link_are_followed_as_the_system_does(self):
        (self.box.top / "x" / "deep").mkdir(parents=True)
        (self.box.top / "link").symlink_to("x/deep")
        shutil.copytree(self.opt, self.box.top / "x" / "cuda", symlinks=True)
        self.done("adopt", f"{self.box.top}/link/../cuda", "--name", "there")
        self.assertEqual(os.readlink(self.box.root / "versions" / "there"), f"{self.box.top}/x/cuda")

    def test_a_conda_environment(self):
        (self.opt / "conda-meta").mkdir()
        self.refused(2, self.opt, says=("is a conda environment, whose bin holds other programs too",
                                        f"conda activate {self.opt}"))

    def test_without_a_shim_program_nothing_is_changed(self):
        alone = self.box.top / "alone" / "bin" / "cudaenv"
        alone.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, alone)
        with self.unchanged():
            result = self.box.run(alone, "adopt", self.opt, text=True)
            self.assert_failed(result.returncode, result.stdout, result.stderr, 1, "the shim program is missing: ")

    def test_shims_that_cannot_be_written_are_told_apart(self):
        shutil.rmtree(self.box.shims)
        self.box.write(self.box.shims, "a file")
        self.fails(8, "adopt", self.opt, says=("13.0.2 is adopted all the same", "the shims are not up to date",
                                               "try: cudaenv rehash"))
        self.assertEqual(self.names(), ["13.0.2"])

    def test_a_name_that_is_taken(self):
        self.install("13.0.2")
        self.refused(2, self.opt, says=("there is a toolkit called 13.0.2 already", "--name NAME"))
        self.adopt(self.opt, "--name", "distro")
        other = self.box.top / "opt" / "other"
        shutil.copytree(self.opt, other, symlinks=True)
        self.refused(2, other, "--name", "distro", says="there is a toolkit called distro already")

    def test_a_toolkit_of_cudaenv(self):
        self.install("13.0.2")
        self.refused(2, self.toolkit("13.0.2"), "--name", "mine", says="is a toolkit of cudaenv already")
        (self.box.top / "link").symlink_to(self.toolkit("13.0.2"))
        self.refused(2, self.box.top / "link", "--name", "mine", says="is a toolkit of cudaenv already")

    def test_an_adopted_toolkit_by_its_link(self):
        self.adopt(self.opt)
        self.refused(2, self.toolkit("13.0.2"), "--name", "mine", says="is a toolkit of cudaenv already")


if __name__ == "__main__":
    unittest.main()
