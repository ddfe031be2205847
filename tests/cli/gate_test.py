#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gate where toolkits are activated: `local`, `global`, `exec`, `env`; exemptions, settings, and what is said."""

import json
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest

RELEASES = ("11.4.4", "11.8.0", "12.1.1", "12.4.1", "12.6.3", "12.8.1", "12.9.1", "13.0.2", "13.2.1")


def machine(driver=None, gpus=None, visible=None):
    """Variables that describe a machine."""
    return {"CUDAENV_OVERRIDE_DRIVER": driver, "CUDAENV_OVERRIDE_GPUS": gpus, "CUDA_VISIBLE_DEVICES": visible}


A10 = machine("550.54.14", "8.6")
VOLTA = machine("580.95.05", "7.0")


class GateTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for release in RELEASES:
            self.box.toolkit(release)
        self.file = self.box.project / ".cuda-version"

    def local(self, spec, described, *options):
        return self.cudaenv("local", spec, *options, env=described)

    def assert_limited(self, result, *patterns):
        error = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (0, b""), error)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertTrue(error.startswith("cudaenv: warning: "), error)
        for pattern in patterns:
            self.assertIn(pattern, error)

    def exemptions(self):
        file = self.box.root / "exemptions.json"
        return json.loads(file.read_text()) if file.exists() else []


class Verdicts(GateTest):
    def test_550_54_14_with_8_6(self):
        self.assert_prints(self.local("12.4", A10), "")
        self.assert_limited(self.local("12.8", A10), "12.8.1", "12.4", "222", "sm_86")
        self.assert_fails(self.local("13.0", A10), 5, "13.0.2", "550.54.14", "580.65.06", "12.9.", "--force")
        self.assertEqual(self.file.read_text(), "12.8\n")

    def test_580_95_05_with_7_0(self):
        self.assertEqual(self.local("12.9", VOLTA).returncode, 0)
        self.assert_fails(self.local("13.0", VOLTA), 5, "13.0.2", "GPU 0", "7.0", "12.9.", "--force")

    def test_DRV_01_same_major_newer_minor(self):
        self.assert_limited(self.local("13.2", machine("580.95.05", "9.0")), "13.2.1", "13.0", "222", "sm_90")

    def test_570_26_with_12_0(self):
        described = machine("570.26", "12.0")
        self.assert_fails(self.local("12.6", described), 5, "12.6.3", "12.0", "12.8.")
        self.assert_prints(self.local("12.8", described), "")

    def test_470_57_02_with_7_5(self):
        described = machine("470.57.02", "7.5")
        self.assert_prints(self.local("11.4", described), "")
        self.assert_limited(self.local("11.8", described), "11.8.0", "11.4", "sm_75")
        self.assert_fails(self.local("12.1", described), 5, "525.60.13", "470.57.02", "11.8.0")

    def test_DRV_03_a_lower_minor_of_the_gpus_major(self):
        self.box.toolkit("11.7.1")
        self.assert_limited(self.local("11.7", machine("570.26", "8.9")), "8.9", "11.7", "sm_86", "11.8")
        self.assert_fails(self.local("11.7", machine("570.26", "9.0")), 5, "9.0", "11.8")
        self.assertEqual(self.local("11.8", machine("570.26", "8.9")).returncode, 0)

    def test_DRV_06_mixed_gpus(self):
        # Whatever their order, and CUDA_VISIBLE_DEVICES decides which count.
        for gpus, old in (("8.6,3.5", 1), ("3.5,8.6", 0)):
            with self.subTest(gpus=gpus):
                described = machine("550.54.14", gpus)
                self.assert_limited(self.local("12.4", described), f"GPU {old}", "3.5")
                self.assert_fails(self.local("12.4", {**described, "CUDA_VISIBLE_DEVICES": str(old)}), 5, f"GPU {old}", "3.5")
                self.assert_prints(self.local("12.4", {**described, "CUDA_VISIBLE_DEVICES": str(1 - old)}), "")

    def test_no_visible_gpu_is_no_refusal(self):
        for visible in ("", "-1", "7", "NoDevFiles"):
            with self.subTest(visible=visible):
                result = self.local("13.0", {**VOLTA, "CUDA_VISIBLE_DEVICES": visible})
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(b"CUDA_VISIBLE_DEVICES", result.stderr)

    def test_DET_11_no_driver_allows_everything_and_says_so_in_one_line(self):
        for release in RELEASES:
            with self.subTest(release=release):
                result = self.local(release, machine("none", "none"))
                self.assertEqual((result.returncode, result.stdout), (0, b""))
                self.assertEqual(result.stderr.decode().count("\n"), 1, result.stderr)
                self.assertIn(b"without a driver", result.stderr)
                self.assertEqual(self.cudaenv("exec", "--", "true", env=machine("none", "none")).stderr, b"")

    def test_a_release_that_no_table_knows_is_unknown(self):
        self.box.toolkit("13.9.0")
        result = self.local("13.9", machine("700.10", "8.6"))
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"13.9", result.stderr)

    def test_the_toolkits_own_list_outranks_the_table(self):
        self.box.tool(self.box.root / "versions/12.6.3/bin", "nvcc", "printf 'compute_90\\ncompute_120\\ncompute_50\\n'")
        self.assert_prints(self.local("12.6", machine("570.26", "12.0")), "")
        self.box.tool(self.box.root / "versions/13.0.2/bin", "nvcc", "echo compute_90")
        self.assert_fails(self.local("13.0", machine("580.95.05", "8.6")), 5, "8.6")

    def test_a_description_that_makes_no_sense_is_an_error(self):
        for described, name in ((machine("new"), "CUDAENV_OVERRIDE_DRIVER"), (machine("570.26", "8.6,fast"), "CUDAENV_OVERRIDE_GPUS")):
            self.assert_fails(self.local("12.4", described), 2, name)


class Refusing(GateTest):
    def test_nothing_is_changed(self):
        self.select("12.4 # mine\n")
        before = self.tree(self.box.home)
        self.assert_fails(self.local("13.0", A10), 5)
        self.assert_fails(self.cudaenv("global", "13.0", env=A10), 5, "cudaenv global 13.0 --force")
        self.assertEqual(self.tree(self.box.home), before)

    def test_exec_and_env(self):
        self.select("13.0\n")
        for arguments in (("exec", "--", "touch", "ran"), ("env",), ("env", "--format", "json"), ("exec", "-v", "13.0", "--", "touch", "ran")):
            with self.subTest(arguments=arguments):
                self.assert_fails(self.cudaenv(*arguments, env=A10), 5, "550.54.14")
        self.assertFalse((self.box.project / "ran").exists())

    def test_says_what_selects_and_how_to_override_it(self):
        self.select("13.0\n")
        below = self.box.project / "a b"
        below.mkdir()
        self.assert_fails(self.cudaenv("exec", "--", "true", env=A10), 5, f"set by {self.file}:1", "cudaenv local 13.0 --force")
        self.assert_fails(self.cudaenv("exec", "--", "true", cwd=below, env=A10), 5,
                          f"(cd {self.box.project} && cudaenv local 13.0 --force)")
        self.assert_fails(self.cudaenv("exec", "--", "true", env={**A10, "CUDAENV_VERSION": "13.0"}), 5, "CUDAENV_GATE=off")

    def test_what_CUDA_VISIBLE_DEVICES_hides_is_told(self):
        mixed = machine("580.95.05", "8.6,7.0")
        line = "CUDA_VISIBLE_DEVICES=1 hides the other GPUs of this machine"
        error = self.assert_fails(self.local("13.0", {**mixed, "CUDA_VISIBLE_DEVICES": "1"}), 5, "GPU 1 (7.0)", line)
        self.assertNotIn("GPU 0", error)
        # Not where nothing is hidden.
        both = machine("580.95.05", "7.0,7.0")
        self.assertNotIn("CUDA_VISIBLE_DEVICES", self.assert_fails(self.local("13.0", {**both, "CUDA_VISIBLE_DEVICES": "0,1"}), 5))
        self.assertNotIn("CUDA_VISIBLE_DEVICES", self.assert_fails(self.local("13.0", both), 5))

    def test_a_description_is_told(self):
        line = "not by this machine's own driver and GPUs"
        for described in (A10, machine("550.54.14"), machine(gpus="7.0")):
            with self.subTest(described=described):
                self.assert_fails(self.local("13.0", described), 5, "CUDAENV_OVERRIDE_", line)

    def test_each_kind_has_its_headline(self):
        for described, release, words in ((A10, "13.0", "the driver of this machine is too old for it"),
                                          (VOLTA, "13.0", "it is too new for the GPUs of this machine"),
                                          (machine("570.26", "12.0"), "12.6", "it is too old for the GPUs of this machine"),
                                          (machine("595.45.04", "7.0"), "12.4", "the driver of this machine does not drive its GPUs")):
            with self.subTest(words=words):
                error = self.assert_fails(self.local(release, described), 5)
                self.assertRegex(error.splitlines()[0], rf"^cudaenv: CUDA {release}\.\d is refused: {words}$")

    def test_what_runs_here_is_told(self):
        error = self.assert_fails(self.local("13.0", A10), 5, "installed and runs here: 11.4.4, 11.8.0, 12.1.1, 12.4.1; with limits: 12.6.3, 12.8.1, 12.9.1",
                                  "to use it all the same: cudaenv local 13.0 --force", "try: cudaenv local 12.4.1")
        self.assertRegex(error, r"newest release that runs here, in full: 12\.4\.\d; with limits: 12\.9\.\d\n")
        for release in RELEASES[:-2]:
            shutil.rmtree(self.box.root / "versions" / release)
        error = self.assert_fails(self.local("13.0", A10), 5)
        self.assertNotIn("installed and runs here", error)
        self.assertRegex(error, r"try: cudaenv install (12\.4\.\d) && cudaenv local \1$")

    def test_the_hint_can_be_typed_and_works(self):
        for arguments in (("local", "13.0"), ("exec", "-v", "13.0", "--", "nvcc", "a b")):
            with self.subTest(arguments=arguments):
                hint = self.cudaenv(*arguments, env=A10).stderr.decode().split("try: ")[1].strip()
                result = self.box.run("/bin/sh", "-c", hint.replace("cudaenv", str(self.program), 1), env=A10)
                self.assertEqual(result.returncode, 0, (hint, result.stderr))

    def test_what_needs_no_toolkit_is_not_gated(self):
        self.select("13.0\n")
        for arguments in (("version",), ("versions",), ("which", "nvcc"), ("prefix",), ("whence", "nvcc"), ("rehash",)):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.cudaenv(*arguments, env=A10).returncode, 0)

    def test_DET_03_nvidia_smi_is_never_run(self):
        self.box.tool("smi", "nvidia-smi", f"touch {self.box.top}/smi-was-run")
        variables = {**machine(), "PATH": f"{self.box.top}/smi:/usr/bin:/bin"}
        self.cudaenv("rehash")
        self.select("12.8\n")
        for arguments in (("info",), ("check",), ("local", "12.4"), ("exec", "--", "true"), ("env",), ("version",)):
            self.cudaenv(*arguments, env=variables)
        self.box.run(self.box.shims / "nvcc", env=variables)
        self.assertFalse((self.box.top / "smi-was-run").exists())


class Exemptions(GateTest):
    def test_force_activates_with_a_warning_and_is_recorded(self):
        result = self.local("13.0", A10, "--force")
        self.assert_limited(result, "13.0.2")
        self.assertEqual(self.file.read_text(), "13.0\n")
        self.assertEqual(self.exemptions(), [{"file": str(self.file), "spec": "13.0"}])
        self.assert_prints(self.cudaenv("exec", "--", "echo", "ran", env=A10), "ran\n")
        self.assertIn("versions/13.0.2", self.cudaenv("env", env=A10).stdout.decode())

    def test_it_is_for_that_file_and_that_spec(self):
        self.local("13.0", A10, "--force")
        other = self.box.home / "other"
        self.select("13.0\n", other)
        self.assert_fails(self.cudaenv("exec", "--", "true", cwd=other, env=A10), 5)
        self.select("13\n")
        self.assert_fails(self.cudaenv("exec", "--", "true", env=A10), 5)
        self.select("13.0\n")
        self.assertEqual(self.cudaenv("exec", "--", "true", env=A10).returncode, 0)

    def test_it_holds_by_another_path_to_the_file(self):
        self.local("13.0", A10, "--force")
        link = self.box.top / "link"
        link.symlink_to(self.box.project)
        self.assertEqual(self.cudaenv("exec", "--", "true", cwd=link, env=A10).returncode, 0)

    def test_unset_drops_it(self):
        self.local("13.0", A10, "--force")
        self.cudaenv("global", "13.0", "--force", env=A10)
        self.assertEqual(len(self.exemptions()), 2)
        self.assert_prints(self.cudaenv("local", "--unset", env=A10), "")
        self.assertEqual([entry["file"] for entry in self.exemptions()], [str(self.box.root / "version")])
        self.select("13.0\n")
        self.assert_fails(self.cudaenv("exec", "--", "true", env=A10), 5)
        self.cudaenv("global", "--unset", env=A10)
        self.assertFalse((self.box.root / "exemptions.json").exists())

    def test_another_spec_drops_it(self):
        self.local("13.0", A10, "--force")
        self.local("12.4", A10)
        self.assertEqual(self.exemptions(), [])

    def test_SYS_06_force_on_a_login_node_holds_on_the_nodes(self):
        self.assertEqual(self.local("13.0", machine("none", "none"), "--force").returncode, 0)
        self.assertEqual(self.cudaenv("exec", "--", "true", env=A10).returncode, 0)

    def test_force_is_no_exemption_where_none_is_needed(self):
        self.local("12.4", A10, "--force")
        self.assertEqual(self.exemptions(), [])

    def test_force_for_what_will_be_refused_once_it_is_installed(self):
        self.assertEqual(self.local("13.1", A10, "--force").returncode, 0)
        self.box.toolkit("13.1.1")
        self.assertEqual(self.cudaenv("exec", "--", "true", env=A10).returncode, 0)

    def test_a_broken_list_is_told_and_exempts_nothing(self):
        self.local("13.0", A10, "--force")
        for content in ("{", "{}", '[{"file": 1}]', "[1]"):
            (self.box.root / "exemptions.json").write_text(content)
            result = self.cudaenv("exec", "--", "true", env=A10)
            self.assertEqual(result.returncode, 5)
            self.assertIn(b"exemptions.json", result.stderr)


class Settings(GateTest):
    def settings(self, text, directory=None):
        self.box.write((directory or self.box.root) / ("config.toml" if directory is None else ".cudaenv.toml"), text)

    def test_mode_warn_and_off(self):
        self.select("13.0\n")
        for variables in ({"CUDAENV_GATE": "warn"}, {"CUDAENV_GATE_MODE": "warn"}):
            result = self.cudaenv("exec", "--", "echo", "ran", env={**A10, **variables})
            self.assertEqual((result.returncode, result.stdout), (0, b"ran\n"))
            self.assertIn(b"580.65.06", result.stderr)
        self.assert_prints(self.cudaenv("exec", "--", "echo", "ran", env={**A10, "CUDAENV_GATE": "off"}), "ran\n")
        self.settings('[gate]\nmode = "off"\n')
        self.assert_prints(self.cudaenv("exec", "--", "echo", "ran", env=A10), "ran\n")
        self.assert_fails(self.cudaenv("exec", "--", "true", env={**A10, "CUDAENV_GATE": "on"}), 5)

    def test_mode_off_asks_nothing(self):
        self.select("13.0\n")
        self.box.write("libs/libcuda.so.1", "no library")
        variables = {**machine(), "CUDAENV_GATE": "off", "CUDAENV_DRIVER_PATH": f"{self.box.top}/libs"}
        traced = self.box.run("strace", "-f", "-e", "trace=openat,fork,clone,vfork", self.program, "exec", "--", "true", env=variables)
        self.assertNotIn(b"libcuda", traced.stderr)

    def test_limited_can_be_a_refusal(self):
        self.settings('[gate]\nlimited = "refuse"\n')
        self.assert_fails(self.local("12.8", A10), 5, "gate.limited", "222", "12.4")
        self.assert_prints(self.local("12.4", A10), "")
        self.assert_limited(self.local("12.8", A10, "--force"), "12.8.1")
        self.assertEqual(self.cudaenv("exec", "--", "true", env=A10).returncode, 0)

    def test_a_project_can_be_stricter_never_looser(self):
        self.settings('[gate]\nlimited = "refuse"\n', self.box.project)
        self.assert_fails(self.local("12.8", A10), 5)
        self.select("12.8\n")
        self.assert_fails(self.cudaenv("exec", "--", "true", env=A10), 5)
        self.settings('[gate]\nlimited = "refuse"\nmode = "on"\n')
        for text in ('[gate]\nlimited = "warn"\n', '[gate]\nmode = "off"\n', '[gate]\nmode = "warn"\n'):
            self.settings(text, self.box.project)
            result = self.cudaenv("exec", "--", "true", env=A10)
            self.assertEqual(result.returncode, 5)
            self.assertIn(b".cudaenv.toml", result.stderr)

    def test_a_bad_value_is_an_error(self):
        self.select("12.4\n")
        self.assert_fails(self.cudaenv("exec", "--", "true", env={**A10, "CUDAENV_GATE": "maybe"}), 2, "CUDAENV_GATE", "on, warn, off")


class Automatic(GateTest):
    def test_newest_that_is_right_for_the_machine(self):
        for described, release in ((A10, "12.4.1"), (VOLTA, "12.9.1"), (machine("none", "none"), "13.2.1"),
                                   (machine("580.95.05", "9.0"), "13.0.2"), (machine("620.70.06", "12.0"), "13.2.1")):
            with self.subTest(release=release):
                self.assertEqual(self.local("auto", described).returncode, 0)
                self.assertEqual(self.file.read_text(), "auto\n")
                self.assertIn(release, self.cudaenv("version", env=described).stdout.decode())
                self.assertIn(f"versions/{release}/", self.cudaenv("which", "nvcc", env=described).stdout.decode())
                self.assertIn(f"versions/{release}/", self.cudaenv("exec", "--", "sh", "-c", "command -v nvcc", env=described).stdout.decode())

    def test_limited_if_nothing_is_better(self):
        for release in ("11.4.4", "11.8.0"):
            shutil.rmtree(self.box.root / "versions" / release)
        result = self.local("auto", machine("525.85.12", "8.0"))
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr.decode(), r"warning: CUDA 12\.9\.1.*222.*\n.*auto is 12\.9\.1 here\n$")

    def test_none_that_runs_here(self):
        self.assert_fails(self.local("auto", machine("470.57.02", "3.0")), 4, "3.0", "Kepler")
        self.box.toolkit("13.2.1")
        for release in RELEASES[:-1] + ("12.4.1", "12.8.1"):
            shutil.rmtree(self.box.root / "versions" / release, ignore_errors=True)
        self.assert_fails(self.local("auto", A10), 4, "580.65.06", "try: cudaenv install auto")

    def test_limited_is_passed_over_where_it_would_be_refused(self):
        self.box.write(self.box.root / "config.toml", '[gate]\nlimited = "refuse"\n')
        for release in ("11.4.4", "11.8.0"):
            shutil.rmtree(self.box.root / "versions" / release)
        self.assert_fails(self.local("auto", machine("525.85.12", "8.0")), 4, "580.65.06")
        self.assert_fails(self.local("12.8", A10), 5, "try: cudaenv local 12.4.1", "config.toml")


if __name__ == "__main__":
    unittest.main()
