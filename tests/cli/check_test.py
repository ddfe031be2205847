#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`check`: the gate's verdicts on this machine and on one that is described."""

import json
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest


class CheckTest(ProgramTest):
    def check(self, *arguments, env=None):
        """Exit status and document."""
        result = self.cudaenv("check", "--json", *arguments, env=env)
        self.assertIn(result.returncode, (0, 5), result.stderr)
        return result.returncode, json.loads(result.stdout)

    def verdicts(self, *arguments, env=None):
        return {toolkit["name"]: toolkit["verdict"] for toolkit in self.check(*arguments, env=env)[1]["toolkits"]}


class DescribedMachine(CheckTest):
    def test_verdicts_of_the_acceptance_table(self):
        for driver, gpus, expected in (
                ("550.54.14", "8.6", {"12.4.1": "ok", "12.8.1": "limited", "13.0.0": "refused"}),
                ("580.95.05", "7.0", {"12.9.1": "ok", "13.0.0": "refused"}),
                ("580.95.05", "9.0", {"13.2.0": "limited", "13.0.0": "ok"}),
                ("570.26", "12.0", {"12.6.3": "refused", "12.8.1": "ok"}),
                ("470.57.02", "7.5", {"11.4.4": "ok", "11.8.0": "limited", "12.1.1": "refused"}),
                ("550.54.14", "8.6,3.5", {"12.4.1": "limited"}),
                ("550.54.14", "3.5", {"12.4.1": "refused"}),
                ("none", "none", {"13.0.0": "unknown", "11.8.0": "unknown"})):
            with self.subTest(driver=driver, gpus=gpus):
                self.assertEqual(self.verdicts(*expected, "--driver", driver, "--gpu", gpus), expected)

    def test_variables_describe_a_machine_too(self):
        described = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6, 3.5", "CUDA_VISIBLE_DEVICES": "1"}
        self.assertEqual(self.verdicts("12.4.1", env=described), {"12.4.1": "refused"})
        # The options are of another machine: what this one makes visible is nothing to it.
        self.assertEqual(self.verdicts("12.4.1", "--driver", "550.54.14", "--gpu", "8.6", env=described), {"12.4.1": "ok"})

    def test_what_is_not_described_is_unknown(self):
        self.assertEqual(self.verdicts("12.4.1", "13.0.0", "--driver", "550.54.14"), {"12.4.1": "unknown", "13.0.0": "refused"})
        self.assertEqual(self.verdicts("12.9.1", "13.0.0", "--gpu", "7.0"), {"12.9.1": "unknown", "13.0.0": "refused"})

    def test_an_option_takes_one_value_and_toolkits_may_follow(self):
        self.assertEqual(self.verdicts("--gpu", "8.6", "12.8.1"), {"12.8.1": "unknown"})
        self.assertEqual(self.verdicts("--driver", "550.54.14", "--gpu", "8.6,9.0", "12.4.1", "12.8.1"), {"12.4.1": "ok", "12.8.1": "limited"})
        self.assertEqual(self.verdicts("--gpu=8.6", "12.4.1", "--gpu", "3.5", "12.8.1", "--driver", "550.54.14"), {"12.4.1": "limited", "12.8.1": "limited"})
        _, document = self.check("--gpu", "8.6", "12.8", "--gpu", "9.0")
        self.assertEqual([gpu["compute_capability"] for gpu in document["machine"]["gpus"]], ["8.6", "9.0"])

    def test_a_driver_by_its_branch(self):
        for driver in ("550", "v550", "v550.54.14"):
            with self.subTest(driver=driver):
                self.assertEqual(self.verdicts("12.4.1", "12.8.1", "13.0.0", "--driver", driver, "--gpu", "8.6"),
                                 {"12.4.1": "ok", "12.8.1": "limited", "13.0.0": "refused"})

    def test_a_jetson(self):
        _, document = self.check("12.4.1", "--driver", "540.4.0", "--gpu", "Jetson AGX Orin")
        self.assertEqual((document["machine"]["host"], document["machine"]["driver"]["cuda"]), ("jetson", None))
        self.assertEqual(document["toolkits"][0]["verdict"], "unknown")

    def test_gpus_by_name(self):
        for name, capability in (("Tesla V100-SXM2-16GB", "7.0"), ("NVIDIA GeForce RTX 4090", "8.9"), ("RTX 4090", "8.9"), ("A10", "8.6"),
                                 ("4090", "8.9"), ("rtx4090", "8.9"), ("A6000", "8.6"), ("A100 80GB", "8.0"), ("sm_89", "8.9"), ("89", "8.9")):
            with self.subTest(name=name):
                _, document = self.check("12.4.1", "--driver", "580.95.05", "--gpu", name)
                (gpu,) = document["machine"]["gpus"]
                self.assertEqual(gpu["compute_capability"], capability)

    def test_a_gpu_that_the_driver_does_not_drive(self):
        self.assertEqual(self.verdicts("12.4.1", "--driver", "595.45.04", "--gpu", "7.0"), {"12.4.1": "refused"})
        self.assertEqual(self.verdicts("12.8.1", "--driver", "550.54.14", "--gpu", "12.0"), {"12.8.1": "refused"})

    def test_reasons_name_their_rows(self):
        status, document = self.check("13.0.0", "--driver", "550.54.14", "--gpu", "7.0", "--gpu", "8.6")
        self.assertEqual(status, 5)
        (toolkit,) = document["toolkits"]
        kinds = {reason["kind"]: reason for reason in toolkit["reasons"]}
        self.assertEqual(kinds["driver-too-old"]["verdict"], "refused")
        self.assertEqual(kinds["gpu-dropped"]["gpus"], [0])
        for reason in toolkit["reasons"]:
            self.assertTrue(reason["source"], reason)
        self.assertEqual((toolkit["suggested"][:5], toolkit["suggested_in_full"][:5]), ("12.9.", "12.4."))

    def test_errors(self):
        self.assert_fails(self.cudaenv("check", "12.4", "--driver", "new"), 2, "--driver", "550.54.14")
        self.assert_fails(self.cudaenv("check", "12.4", "--gpu", "fast"), 2, "--gpu", "8.6")
        self.assert_fails(self.cudaenv("check", "12.4", "--gpu", "RTX 6000"), 2, "Quadro RTX 6000 (7.5)", "RTX 6000 Ada (8.9)", "try: cudaenv check --gpu 7.5")
        self.assert_fails(self.cudaenv("check", "12.4", "--gpu"), 2, "--gpu")
        self.assert_fails(self.cudaenv("check", "system"), 2, "system")
        self.assert_fails(self.cudaenv("check", "12.7"), 3, "never released")
        self.assert_fails(self.cudaenv("check", "12.4.131"), 3, "12.4.1")
        self.assert_fails(self.cudaenv("check", "../x"), 2, "../x")
        self.assert_fails(self.cudaenv("check", "mine"), 4, "mine")


class Automatic(CheckTest):
    def test_is_the_newest_release_that_fits_installed_or_not(self):
        for driver, gpus, start in (("550.54.14", "8.6", "12.4."), ("580.95.05", "7.0", "12.9."), ("525.85.12", "8.6", "12.0.")):
            with self.subTest(driver=driver):
                status, document = self.check("auto", "--driver", driver, "--gpu", gpus)
                (toolkit,) = document["toolkits"]
                self.assertTrue(toolkit["name"].startswith(start), toolkit)
                self.assertEqual(toolkit["name"], document["newest_in_full"] or document["newest"])
                self.assertEqual(status, 0 if toolkit["verdict"] != "refused" else 5)

    def test_of_this_machine(self):
        described = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6"}
        ((name, verdict),) = self.verdicts("auto", env=described).items()
        self.assertEqual((name[:5], verdict), ("12.4.", "ok"))
        self.assertEqual(len(self.verdicts("auto", "13.0.0", env=described)), 2)

    def test_none_that_runs_there(self):
        self.assert_fails(self.cudaenv("check", "auto", "--driver", "590.48.01", "--gpu", "7.0"), 3, "no release", "try: cudaenv check latest")


class Exempt(CheckTest):
    DESCRIBED = {"CUDAENV_OVERRIDE_DRIVER": "550.54.14", "CUDAENV_OVERRIDE_GPUS": "8.6"}

    def setUp(self):
        super().setUp()
        self.box.toolkit("13.0.2")
        self.assertEqual(self.cudaenv("local", "13.0", "--force", env=self.DESCRIBED).returncode, 0)

    def exempt(self, *arguments, **options):
        document = json.loads(self.cudaenv("check", "--json", *arguments, env=self.DESCRIBED, **options).stdout)
        return [toolkit["name"] for toolkit in document["toolkits"] if toolkit["exempt"]]

    def test_a_selection_that_is_let_pass_is_refused_with_that_word(self):
        result = self.cudaenv("check", env=self.DESCRIBED)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertRegex(result.stdout.decode(), r"\n\* 13\.0\.2  refused  .*580\.65\.06 or newer\n {19}let pass here, by --force\n")
        alone = self.cudaenv("check", "13.0", env=self.DESCRIBED)
        self.assertEqual(alone.returncode, 5)
        self.assertIn("let pass here, by --force", alone.stdout.decode())
        self.assertEqual((self.exempt(), self.exempt("12.4", "13.0"), self.exempt("12.4")), (["13.0.2"], ["13.0.2"], []))

    def test_only_where_it_is_selected_and_only_that_spec(self):
        self.assertEqual(self.exempt(cwd=self.box.home), [])
        self.select("13\n")
        self.assertEqual(self.exempt(), [])


class LastLine(CheckTest):
    """The newest release that runs, whatever was asked about."""

    def last_line(self, *arguments):
        return self.cudaenv("check", "12.4", *arguments).stdout.decode().split("\n\n")[-1]

    def test_in_full_and_with_limits(self):
        self.assertRegex(self.last_line("--driver", "550.54.14", "--gpu", "8.6"),
                         r"^newest release that runs there, in full: 12\.4\.\d; with limits: 12\.9\.\d\n$")

    def test_one_that_is_both(self):
        self.assertRegex(self.last_line("--driver", "580.95.05", "--gpu", "7.0"), r"^newest release that runs there, in full: 12\.9\.\d\n$")

    def test_none_where_no_driver_decides_or_nothing_runs(self):
        for arguments in (("--gpu", "8.6"), ("--driver", "none"), ("--driver", "540.4.0", "--gpu", "8.7"), ("--driver", "590.48.01", "--gpu", "7.0")):
            with self.subTest(arguments=arguments):
                self.assertNotIn("newest release", self.cudaenv("check", "12.4", *arguments).stdout.decode())

    def test_it_is_in_the_document_too(self):
        _, document = self.check("12.4.1", "--driver", "550.54.14", "--gpu", "8.6")
        self.assertEqual((document["newest_in_full"][:5], document["newest"][:5]), ("12.4.", "12.9."))
        _, document = self.check("12.4.1", "--driver", "590.48.01", "--gpu", "7.0")
        self.assertEqual((document["newest_in_full"], document["newest"]), (None, None))


class Table(CheckTest):
    def test_every_installed_toolkit_by_default(self):
        self.box.toolkit("13.0.2")
        self.select("12.4\n")
        result = self.cudaenv("check", "--driver", "550.54.14", "--gpu", "8.6")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        text = result.stdout.decode()
        self.assertTrue(text.startswith("driver 550.54.14, CUDA 12.4 (as described)\nGPU 0 (8.6)\n\n"), text)
        self.assertIn("\n* 12.4.1  ok\n", text)
        self.assertRegex(text, r"\n  12\.8\.1  limited  newer than the driver's CUDA 12\.4: build for sm_86, .*222")
        self.assertRegex(text, r"\n  13\.0\.2  refused  .*580\.65\.06")

    def test_a_named_one_that_is_refused_is_exit_5(self):
        self.assertEqual(self.cudaenv("check", "12.4", "13.0", "--driver", "550.54.14", "--gpu", "8.6").returncode, 5)
        self.assertEqual(self.cudaenv("check", "12.4", "12.8", "--driver", "550.54.14", "--gpu", "8.6").returncode, 0)

    def test_the_newest_of_each_minor_where_nothing_is_installed(self):
        for name in ("12.4.1", "12.8.1"):
            self.cudaenv("uninstall", name)
        result = self.cudaenv("check", "--driver", "580.95.05", "--gpu", "7.0")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout.decode(), r"(?s)12\.4\.\d  ok\n.*12\.9\.\d  ok +GPU 0 \(7\.0\) is deprecated.*\n  13\.0\.\d  refused  no code for GPU 0 \(7\.0\); the last with it is 12\.9")

    def test_lines_fit_a_terminal(self):
        result = self.cudaenv("check", "12.4", "12.8", "13.0", "--driver", "550.54.14", "--gpu", "8.6", "--gpu", "3.5")
        for line in result.stdout.decode().splitlines():
            self.assertLessEqual(len(line), 120, line)

    def test_unknown_release_newer_than_the_tables(self):
        self.assertEqual(self.verdicts("13.99", "--driver", "580.95.05", "--gpu", "9.0"), {"13.99.0": "limited"})
        self.assertEqual(self.verdicts("14.0", "--driver", "580.95.05", "--gpu", "9.0"), {"14.0.0": "refused"})


if __name__ == "__main__":
    unittest.main()
