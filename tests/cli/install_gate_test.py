#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv install` and the gate: which release `auto` is, and what is said of one that does not run here. An install
is for any machine, so nothing is refused."""

import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.fake_driver import FakeMachine, Gpu, NoCompiler
from support.mirror import PLATFORM, MirrorTest, redist


def machine(driver=None, gpus=None, visible=None):
    """Variables that describe a machine."""
    return {"CUDAENV_OVERRIDE_DRIVER": driver, "CUDAENV_OVERRIDE_GPUS": gpus, "CUDA_VISIBLE_DEVICES": visible}


A10 = machine("550.54.14", "8.6")
VOLTA = machine("580.95.05", "7.0")
MODERN = machine("620.70.06", "8.6")
NONE = machine("none", "none")


class GateMirrorTest(MirrorTest):
    RELEASES = ("12.4.1", "12.8.1", "13.0.2")

    def publish_sample(self, release):
        manifest = self.manifest("12.8.1")
        manifest["release_label"] = release
        redist.write_manifest(self.mirror, release, manifest)

    def chosen(self, described, *options):
        """The release that `auto` stands for, without installing it."""
        output = self.install("auto", "--dry-run", *options, env=described).stdout
        self.assertTrue(output.startswith("CUDA "), output)
        return output.split()[1]


class Automatic(GateMirrorTest):
    def test_newest_published_one_that_is_right_for_the_machine(self):
        for name, described, release in (("A10", A10, "12.4.1"), ("Volta", VOLTA, "12.8.1"), ("modern", MODERN, "13.0.2"),
                                         ("Blackwell", machine("570.26", "12.0"), "12.8.1"), ("no driver", NONE, "13.0.2"),
                                         ("no GPU visible", {**VOLTA, "CUDA_VISIBLE_DEVICES": ""}, "13.0.2")):
            with self.subTest(machine=name), self.unchanged():
                self.assertEqual(self.chosen(described), release)

    def test_newest_as_numbers(self):
        for release in ("12.9.0", "12.9.1", "12.10.0"):
            self.publish_sample(release)
        # 12.10 never was, so it is only unknown: what is known to run comes first.
        self.assertEqual(self.chosen(VOLTA), "12.9.1")

    def test_limited_if_nothing_is_better(self):
        self.assertEqual(self.chosen(machine("525.85.12", "8.0")), "12.8.1")

    def test_none_that_runs_here(self):
        with self.unchanged():
            self.fails(3, "install", "auto", says=("none of the releases published here runs on this machine",),
                       env=machine("470.57.02", "3.0"))

    def test_the_next_mirror_may_have_one(self):
        old = self.box.top / "old"
        shutil.copytree(self.mirror, old)
        (self.mirror / "redistrib_12.4.1.json").unlink()
        (self.mirror / "redistrib_12.8.1.json").unlink()
        described = machine("525.60.13", "7.0")
        result = self.install("auto", "--dry-run", "--mirror", self.mirror, "--mirror", old, env=described)
        self.assertTrue(result.stdout.startswith("CUDA 12."), result.stdout)
        self.assertIn("trying the next mirror", result.stderr)

    def test_is_installed_and_named(self):
        result = self.install("auto", env=A10)
        self.assertEqual(self.names(), ["12.4.1"])
        self.assertIn("to use it here: cudaenv local 12.4.1\n", result.stderr)
        self.assertNotIn("on this machine", result.stderr)
        self.assertNotIn("--force", result.stderr)
        # What is there already is not fetched again.
        self.assertIn("CUDA 12.4.1 is installed already", self.install("auto", env=A10).stderr)

    def test_in_a_project_that_says_auto(self):
        self.box.write("home/project/.cuda-version", "auto\n")
        self.assertIn("CUDA 12.4.1 for", self.install("--dry-run", env=A10).stdout)
        self.install(env=A10)
        self.assertEqual(self.names(), ["12.4.1"])
        self.assertIn("V12.4.131", self.done("exec", "nvcc", "--version", env=A10).stdout)
        with self.unchanged(self.box.home):
            self.assertIn("12.4.1", self.install(env=A10).stderr)  # it does not update

    def test_in_a_project_whose_auto_is_not_there_for_this_machine(self):
        self.box.write("home/project/.cuda-version", "auto\n")
        self.box.toolkit("13.0.2")
        self.fails(4, "exec", "true", says="cudaenv install auto", env=A10)
        self.install("auto", env=A10)
        self.assertIn("versions/12.4.1/", self.done("which", "nvcc", env=A10).stdout)

    def test_without_a_version_in_that_project_too(self):
        self.box.write("home/project/.cuda-version", "auto\n")
        self.box.toolkit("13.0.2")
        self.install(env=A10)
        self.assertIn("12.4.1", self.names())

    def test_asks_the_machine_whatever_the_gate_is_set_to(self):
        for mode in ("off", "warn"):
            self.assertEqual(self.chosen({**A10, "CUDAENV_GATE": mode}), "12.4.1")

    def test_for_another_platform_this_machine_does_not_count(self):
        # As if it were `latest`: what the other machine runs is not known here.
        with self.unchanged():
            self.assertEqual(self.chosen(A10, "--platform", PLATFORM), "13.0.2")
            self.assertEqual(self.chosen(machine("470.57.02", "3.0"), "--platform", PLATFORM), "13.0.2")
            self.assertEqual(self.chosen(machine("new"), "--platform", PLATFORM), "13.0.2")

    def test_for_another_platform_nothing_is_asked(self):
        try:
            fake = FakeMachine(self.box.top / "machine", driver="550.54.14", cuda=(12, 4), gpus=[Gpu("NVIDIA A10", "8.6")])
        except NoCompiler as reason:
            self.skipTest(str(reason))
        variables = {**machine(), **fake.environment}
        self.assertEqual(self.chosen(variables, "--platform", PLATFORM), "13.0.2")
        self.assertEqual(fake.called(), [])
        self.assertEqual(self.chosen(variables), "12.4.1")

    def test_a_description_that_makes_no_sense_is_an_error(self):
        with self.unchanged():
            self.fails(2, "install", "auto", says="CUDAENV_OVERRIDE_DRIVER", env=machine("new"))


class Telling(GateMirrorTest):
    def verdict(self, spec, described, *options):
        """The lines of a successful install that speak of this machine."""
        result = self.install(spec, *options, "--profile", "minimal", env=described)
        self.assertEqual(result.stdout, "")
        return [line for line in result.stderr.splitlines() if "this machine" in line or "warning" in line]

    def assert_told(self, lines, *words):
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("cudaenv: "), lines)
        self.assertNotIn("warning", lines[0])
        for word in words:
            self.assertIn(word, lines[0])

    def test_refused_is_one_line_and_no_failure(self):
        self.assert_told(self.verdict("13.0.2", A10), "on this machine CUDA 13.0.2 is refused: ", "550.54.14", "580.65.06")
        self.assertEqual(self.names(), ["13.0.2"])
        self.fails(5, "local", "13.0", env=A10)

    def test_the_closing_line_says_what_will_work(self):
        strict = {**A10, "CUDAENV_GATE_LIMITED": "refuse"}
        for spec, described, closing in (("13.0", A10, "13.0 --force"), ("12.8", A10, "12.8"), ("12.4", A10, "12.4"),
                                         ("latest", A10, "13.0.2 --force"),
                                         ("12.8", strict, "12.8 --force"), ("12.4", strict, "12.4"),
                                         ("13.0", {**A10, "CUDAENV_GATE": "warn"}, "13.0"),
                                         ("13.0", {**A10, "CUDAENV_GATE": "off"}, "13.0"),
                                         ("13.0", NONE, "13.0")):
            with self.subTest(spec=spec, described=described):
                shutil.rmtree(self.box.root / "versions", ignore_errors=True)
                result = self.install(spec, "--profile", "minimal", env=described)
                self.assertTrue(result.stderr.endswith(f"\ncudaenv: to use it here: cudaenv local {closing}\n"), result.stderr)
                self.done("local", *closing.split(), env=described)

    def test_limited(self):
        self.assert_told(self.verdict("12.8.1", A10), "on this machine CUDA 12.8.1 is limited: ", "sm_86")

    def test_unknown(self):
        self.publish_sample("13.9.0")
        self.assert_told(self.verdict("13.9", machine("700.10", "8.6")), "on this machine CUDA 13.9.0 is unknown: ")

    def test_no_driver(self):
        lines = self.verdict("12.8.1", NONE)
        self.assertLessEqual(len(lines), 1, lines)
        if lines:
            self.assert_told(lines, "without a driver")

    def test_ok_is_no_line(self):
        self.assertEqual(self.verdict("12.4.1", A10), [])

    def test_for_another_machine_nothing_is_told(self):
        self.assertEqual(self.verdict("13.0.2", A10, "--platform", PLATFORM), [])

    def test_mode_off_tells_nothing(self):
        self.assertEqual(self.verdict("13.0.2", {**A10, "CUDAENV_GATE": "off"}), [])

    def test_mode_off_asks_nothing(self):
        try:
            fake = FakeMachine(self.box.top / "machine", driver="550.54.14", cuda=(12, 4), gpus=[Gpu("NVIDIA A10", "8.6")])
        except NoCompiler as reason:
            self.skipTest(str(reason))
        variables = {**machine(), **fake.environment}
        self.assertEqual(self.verdict("13.0.2", {**variables, "CUDAENV_GATE": "off"}), [])
        self.assertEqual(fake.called(), [])
        self.assert_told(self.verdict("12.8.1", variables), "12.8.1 is limited")
        self.assertNotEqual(fake.called(), [])

    def test_mode_warn_tells_the_same(self):
        self.assert_told(self.verdict("13.0.2", {**A10, "CUDAENV_GATE": "warn"}), "13.0.2 is refused: ")

    def test_what_is_there_already_is_not_judged(self):
        self.verdict("13.0.2", A10)
        self.assertEqual(self.verdict("13.0.2", A10), [])

    def test_a_description_that_makes_no_sense_is_a_warning_after_the_install(self):
        lines = self.verdict("12.4.1", machine("new"))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("warning", lines[0])
        self.assertIn("CUDAENV_OVERRIDE_DRIVER", lines[0])
        self.assertEqual(self.names(), ["12.4.1"])

    def test_a_dry_run_tells_the_same(self):
        with self.unchanged():
            for release, words in (("13.0.2", "CUDA 13.0.2 is refused: "), ("12.8.1", "CUDA 12.8.1 is limited: "), ("12.4.1", None)):
                result = self.install(release, "--dry-run", env=A10)
                self.assertTrue(result.stdout.startswith(f"CUDA {release} for "), result.stdout)
                self.assertNotIn("to use it here", result.stderr)
                lines = [line for line in result.stderr.splitlines() if "on this machine" in line]
                self.assertEqual(len(lines), 0 if words is None else 1, result.stderr)
                self.assertIn(words or "", "".join(lines))
            self.assertNotIn("on this machine", self.install("13.0.2", "--dry-run", "--platform", PLATFORM, env=A10).stderr)
            self.assertNotIn("on this machine", self.install("13.0.2", "--dry-run", env={**A10, "CUDAENV_GATE": "off"}).stderr)

    def test_a_list_tells_nothing(self):
        self.assertEqual(self.install("--list", env=A10).stderr, "")


class Arguments(GateMirrorTest):
    def test_an_option_takes_one_value_and_the_release_may_follow(self):
        with self.unchanged():
            for options in (("--with", "cuda_nvrtc"), ("--with", "cuda_nvrtc,cuda_cccl"), ("--without", "cuda_nvrtc"),
                            ("--mirror", self.mirror), ("--with", "cuda_nvrtc", "--mirror", self.mirror)):
                with self.subTest(options=options):
                    result = self.install("--dry-run", *options, "12.8")
                    self.assertTrue(result.stdout.startswith("CUDA 12.8.1 for "), result.stdout)


if __name__ == "__main__":
    unittest.main()
