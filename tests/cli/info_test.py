#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`info`, and the gate on machines with fake drivers: what a real driver, kernel and board would answer."""

import json
import shutil
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.fake_driver import FakeMachine, Gpu, NoCompiler, uuid
from support.program import ProgramTest

A10 = Gpu("NVIDIA A10", "8.6", pci="2236")
K40 = Gpu("Tesla K40m", "3.5", pci="1023")
V100 = Gpu("Tesla V100-SXM2-16GB", "7.0", pci="1db1")


class MachineTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for release in ("11.4.4", "12.1.1", "13.0.2", "13.2.1"):
            self.box.toolkit(release)
        for name in ("CUDAENV_OVERRIDE_DRIVER", "CUDAENV_OVERRIDE_GPUS"):
            del self.box.environment[name]

    def machine(self, **what):
        """From now on every command is on that machine."""
        shutil.rmtree(self.box.top / "machine", ignore_errors=True)
        try:
            machine = FakeMachine(self.box.top / "machine", **what)
        except NoCompiler as reason:
            self.skipTest(str(reason))
        self.box.environment.update(machine.environment)
        return machine

    def info(self, env=None):
        result = self.cudaenv("info", "--json", env=env)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return json.loads(result.stdout)

    def local(self, spec, env=None):
        return self.cudaenv("local", spec, env=env)

    def assert_allowed(self, spec, *patterns, env=None):
        """With one line that says these, or none."""
        result = self.local(spec, env=env)
        error = result.stderr.decode()
        self.assertEqual((result.returncode, error.count("\n")), (0, 1 if patterns else 0), error)
        for pattern in patterns:
            self.assertIn(pattern, error)


class Facts(MachineTest):
    def test_a_plain_machine(self):
        machine = self.machine(driver="550.54.14", cuda=(12, 4), gpus=[A10])
        document = self.info()
        driver = document["driver"]
        self.assertEqual((driver["version"], driver["version_source"]), ("550.54.14", "nvml"))
        self.assertEqual((driver["cuda"], driver["cuda_source"]), ("12.4", "libcuda"))
        self.assertTrue(driver["libcuda"].startswith(str(machine.libraries)))
        (gpu,) = document["gpus"]
        self.assertEqual((gpu["name"], gpu["compute_capability"], gpu["uuid"]), ("NVIDIA A10", "8.6", uuid(0)))
        self.assertNotIn("cuInit", machine.called())
        self.assert_allowed("12.4")
        self.assert_allowed("12.8", "222", "sm_86")
        self.assert_fails(self.local("13.0"), 5, "550.54.14", "580.65.06")

    def test_text(self):
        self.machine(driver="550.54.14", cuda=(12, 4), gpus=[A10])
        text = self.cudaenv("info").stdout.decode()
        self.assertRegex(text, r"driver +550\.54\.14 +\(NVML\)")
        self.assertRegex(text, r"CUDA +12\.4 +\(libcuda")
        self.assertRegex(text, r"GPU 0 +NVIDIA A10.*8\.6")
        self.assertIn("12.4.1", text)

    def test_the_refusal_names_the_gpu(self):
        self.machine(driver="580.95.05", cuda=(13, 0), gpus=[V100])
        self.assert_fails(self.local("13.0"), 5, "GPU 0 (Tesla V100-SXM2-16GB, 7.0)", "12.9")

    def test_DRV_05_a_compat_library_that_does_not_work(self):
        self.machine(driver="470.57.02", libraries="530.30.02", cuda=(12, 1), gpus=[Gpu("NVIDIA GeForce RTX 2080", "7.5")],
                     calls={"cuInit": 804})
        document = self.info()
        self.assertEqual((document["driver"]["cuda"], document["driver"]["libcuda_cuda"]), ("11.4", "12.1"))
        self.assertIn("804", " ".join(document["notes"]))
        self.assert_fails(self.local("12.1"), 5, "525.60.13", "470.57.02")

    def test_DRV_05_a_compat_library_that_works(self):
        self.machine(driver="470.57.02", libraries="530.30.02", cuda=(12, 1), gpus=[Gpu("Tesla T4", "7.5")])
        document = self.info()
        self.assertEqual((document["driver"]["cuda"], document["driver"]["compat"]), ("12.1", True))
        self.assert_allowed("12.1")

    def test_DRV_06_mixed_gpus_in_another_order_than_the_bus(self):
        # CUDA counts the faster one first, NVML by the bus.
        self.machine(driver="550.54.14", cuda=(12, 4), gpus=[K40, A10], cuda_order=(1, 0))
        self.assert_allowed("12.4", "Tesla K40m")
        self.assert_fails(self.local("12.4", env={"CUDA_VISIBLE_DEVICES": "1"}), 5, "Tesla K40m")
        self.assert_allowed("12.4", env={"CUDA_VISIBLE_DEVICES": "0"})
        by_bus = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        self.assert_fails(self.local("12.4", env={**by_bus, "CUDA_VISIBLE_DEVICES": uuid(0)[:12]}), 5, "Tesla K40m")
        self.assert_allowed("12.4", env={**by_bus, "CUDA_VISIBLE_DEVICES": uuid(1)})

    def test_DET_01_upgraded_without_a_reboot(self):
        self.machine(driver="550.90.07", libraries="550.107.02", cuda=(12, 4), gpus=[A10],
                     calls={"nvmlInit_v2": 18, "cuInit": 803})
        document = self.info()
        self.assertEqual((document["driver"]["version"], document["driver"]["cuda"]), ("550.90.07", "12.4"))
        self.assertIn("550.107.02", " ".join(document["notes"]))
        self.assertEqual(self.cudaenv("version", env={"CUDAENV_VERSION": "12.4"}).stderr, b"")
        self.assert_allowed("12.4", "550.107.02")
        self.assert_fails(self.local("13.0"), 5, "550.90.07")

    def test_DET_04_no_libcuda(self):
        self.machine(driver="455.45.01", nvml=False)
        document = self.info()
        self.assertEqual((document["driver"]["cuda"], document["driver"]["cuda_source"]), ("11.1", "branch-table"))
        self.assertIn("libcuda.so.1", json.dumps(document))
        self.assertEqual(self.local("11.4").returncode, 0)
        self.assert_fails(self.local("12.1"), 5, "455.45.01")

    def test_DET_04_a_driver_that_no_table_knows(self):
        # Its CUDA version cannot be told, but it is older than any that runs 12.x.
        self.machine(driver="340.108", nvml=False)
        self.assertIsNone(self.info()["driver"]["cuda"])
        self.assert_fails(self.local("12.4"), 5, "340.108", "525.60.13", "try: cudaenv info")

    def test_DET_07_jetson(self):
        for files in ({"/etc/nv_tegra_release": "# R35 (release)\n"},
                      {"/proc/device-tree/compatible": "nvidia,p3737-0000+p3701-0000\0nvidia,tegra234\0"}):
            with self.subTest(files=files):
                self.machine(cuda=(11, 4), gpus=[Gpu("Orin", "8.7")], files=files)
                document = self.info()
                self.assertEqual((document["host"], document["driver"]["cuda"]), ("jetson", "11.4"))
                self.assertEqual(document["gpus"][0]["compute_capability"], "8.7")
                self.assert_allowed("11.4")

    def test_DET_07_jetson_whose_capability_cannot_be_read(self):
        self.machine(cuda=(12, 6), gpus=[Gpu("Orin", "8.7")], calls={"cuInit": 100}, files={"/etc/nv_tegra_release": "# R36\n"})
        self.assertEqual(self.local("12.4").returncode, 0)

    def test_DET_09_wsl(self):
        machine = self.machine(files={"/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2\n", "/dev/dxg": "",
                                      "/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"})
        self.assertEqual(self.info()["host"], "wsl")
        wsl = FakeMachine(self.box.top / "wsl", driver="551.61", cuda=(12, 4), gpus=[A10])
        target = machine.root / "usr/lib/wsl/lib"
        target.parent.mkdir(parents=True)
        shutil.copytree(wsl.libraries, target, symlinks=True)
        document = self.info()
        self.assertEqual((document["driver"]["version"], document["driver"]["cuda"]), ("551.61", "12.4"))
        self.assertIn("/usr/lib/wsl/lib/", document["driver"]["libcuda"])
        self.assert_allowed("12.4")
        self.assert_fails(self.local("13.0"), 5, "551.61")
        self.assertNotIn("wsl", self.cudaenv("env").stdout.decode())

    def test_DET_11_no_driver(self):
        self.machine()
        self.assertEqual(self.info()["driver"]["status"], "absent")
        for release in ("11.4", "13.2"):
            self.assert_allowed(release, "no NVIDIA driver")
        self.assert_prints(self.cudaenv("exec", "--", "echo", "ran"), "ran\n")

    def test_DET_11_the_same_image_on_a_gpu_host_is_gated(self):
        self.machine()
        self.assertEqual(self.local("13.0").returncode, 0)
        self.assertEqual(self.cudaenv("exec", "--", "true").returncode, 0)
        self.machine(driver="550.54.14", cuda=(12, 4), gpus=[A10])
        self.assert_fails(self.cudaenv("exec", "--", "true"), 5, "550.54.14")

    def test_DET_13_asleep(self):
        self.machine(driver="550.54.14", cuda=(12, 4))
        self.assertEqual(self.info()["gpu_status"], "none")
        self.assertEqual(self.local("12.4").returncode, 0)
        self.assertIn(b"no device", self.local("12.4").stderr)
        self.assert_fails(self.local("13.0"), 5, "550.54.14")

    def test_DET_13_nouveau(self):
        machine = self.machine(files={"/sys/module/nouveau/refcnt": "1\n"})
        machine.pci_device(0, "2236")
        self.assertEqual(self.info()["driver"]["status"], "nouveau")
        self.assert_allowed("13.0", "nouveau")

    def test_mig(self):
        instances = ["MIG-1c8b7a12-0000-4000-8000-000000000001", "MIG-1c8b7a12-0000-4000-8000-000000000002"]
        self.machine(driver="550.54.14", cuda=(12, 4), gpus=[Gpu("NVIDIA A100-SXM4-40GB", "8.0", instances=instances), K40])
        document = self.info(env={"CUDA_VISIBLE_DEVICES": instances[1]})
        self.assertEqual([gpu["visible"] for gpu in document["gpus"]], [True, False])
        self.assertEqual(document["gpus"][0]["mig_uuids"], instances)
        self.assert_allowed("12.4", env={"CUDA_VISIBLE_DEVICES": instances[1]})

    def test_a_link_stub_is_never_believed(self):
        machine = self.machine(driver="550.54.14", nvml=False)
        stubs = self.box.top / "toolkit/lib/stubs"
        machine.library("libcuda", "999", directory=stubs)
        document = self.info(env={"CUDAENV_DRIVER_PATH": str(stubs)})
        self.assertEqual((document["driver"]["libcuda"], document["driver"]["cuda"]), (None, "12.4"))
        self.assertIn("stub", " ".join(document["notes"]))


class Trouble(MachineTest):
    def test_a_libcuda_that_hangs_is_unknown_within_the_deadline(self):
        self.machine(cuda=(12, 4), calls={"cuDriverGetVersion": "hang"})
        start = time.monotonic()
        self.assert_allowed("13.0", "cuDriverGetVersion")
        self.assertLess(time.monotonic() - start, 13)
        start = time.monotonic()
        self.assertEqual(self.cudaenv("exec", "--", "true").returncode, 0)  # and is not asked again at once
        self.assertLess(time.monotonic() - start, 5)

    def test_a_library_that_crashes(self):
        for call in ("cuDriverGetVersion", "nvmlInit_v2"):
            with self.subTest(call=call):
                self.machine(driver="550.54.14", cuda=(12, 4), gpus=[A10], calls={call: "crash"})
                self.assertEqual(self.local("12.4").returncode, 0)
                self.assert_fails(self.local("13.0"), 5, "550.54.14")
                self.assertIn(call, json.dumps(self.info()))

    def test_a_library_that_cannot_be_loaded(self):
        machine = self.machine(driver="550.54.14", nvml=False)
        (machine.libraries / "libcuda.so.1").write_text("this is no library")
        self.assertEqual(self.local("12.4").returncode, 0)
        self.assertIn("libcuda", json.dumps(self.info()["notes"]))


class Cluster(MachineTest):
    def node(self, number, **what):
        """One of several hosts that share a home; each has its own boot, driver and runtime directory."""
        try:
            machine = FakeMachine(self.box.top / f"node{number}", **what,
                                  files={"/proc/sys/kernel/random/boot_id": f"5b0f1d2e-0000-4000-8000-00000000000{number}\n"})
        except NoCompiler as reason:
            self.skipTest(str(reason))
        return machine.environment

    def test_SYS_06_login_node_and_nodes_with_other_drivers_share_a_home(self):
        self.cudaenv("rehash")
        self.select("13.0\n")
        login = self.node(1)
        old = self.node(2, driver="550.54.14", cuda=(12, 4), gpus=[A10])
        new = self.node(3, driver="580.95.05", cuda=(13, 0), gpus=[A10])
        before = self.tree(self.box.home)
        for _ in range(2):
            for node, status in ((login, 0), (old, 126), (new, 0)):
                result = self.box.run(self.box.shims / "nvcc", env=node)
                self.assertEqual(result.returncode, status, result.stderr)
        # Nothing about driver or GPU is kept where other hosts see it.
        self.assertEqual(self.tree(self.box.home), before)


class Asking(MachineTest):
    def test_what_was_learnt_is_not_asked_again(self):
        machine = self.machine(driver="550.54.14", cuda=(12, 4), gpus=[A10])
        self.select("12.4\n")
        self.cudaenv("exec", "--", "true")
        calls = machine.called()
        self.assertTrue(calls)
        for arguments in (("exec", "--", "true"), ("env",), ("exec", "-v", "12.8", "--", "true")):
            self.cudaenv(*arguments)
        self.assertEqual(machine.called(), calls)
        self.cudaenv("check")  # a person asks: the driver is asked
        self.assertGreater(len(machine.called()), len(calls))

    def test_commands_that_activate_nothing_ask_nothing(self):
        machine = self.machine(driver="550.54.14", cuda=(12, 4), gpus=[A10])
        self.select("12.4\n")
        for arguments in (("version",), ("versions",), ("which", "nvcc"), ("prefix",), ("rehash",), ("config",), ("help",)):
            self.assertEqual(self.cudaenv(*arguments).returncode, 0)
        self.assertEqual(machine.called(), [])


if __name__ == "__main__":
    unittest.main()
