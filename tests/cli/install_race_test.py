#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs at the same time, of one release and of two that share archives, some of which are killed: every one that lives
succeeds, and every tree is as its receipt says. What waits for what is in install_disk_test.py."""

import os
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.disk import DiskTest
from support.downloads import BIG, HALF, DownloadTest, assert_whole, noise
from support.mirror import File, wait_until

BOTH = ("12.8.0", "12.8.1")
SLOWLY = "slow:2000000"


class RaceTest(DownloadTest, DiskTest):
    RELEASES = BOTH

    def setUp(self):
        super().setUp()
        self.publish("12.8.0", BIG, {"lib/cublas.data": File(noise(1))})
        digests = {self.manifest(release)[BIG][platform]["sha256"]
                   for release in BOTH for platform in self.manifest(release)[BIG] if platform.startswith("linux-")}
        self.assertEqual(digests, {self.digest})
        self.server = self.serve()

    def all_succeed(self, processes):
        for process in processes:
            error = process.communicate()[1]
            self.assertEqual(process.returncode, 0, error)

    def assert_there_is(self, *releases):
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), sorted(releases))
        for release in releases:
            assert_whole(self, self.toolkit(release))
        self.assertEqual(self.left(), [])

    def without_locks(self):
        return {"LD_PRELOAD": self.library("int flock(int f, int o) { (void)f; (void)o; errno = ENOLCK; return -1; }")}


class OneRelease(RaceTest):
    def test_SYS_04_many_of_one_release(self):
        self.faults(SLOWLY)
        self.all_succeed([self.start("install", "12.8.1") for _ in range(4)])
        self.assert_there_is("12.8.1")
        self.assertEqual(self.asked(self.answers(self.server)), [("-", 200)])

    def test_SYS_04_many_that_replace_it(self):
        self.install("12.8.1")
        self.all_succeed([self.start("install", "12.8.1", "--force") for _ in range(3)])
        self.assert_there_is("12.8.1")

    def test_SYS_04_the_first_one_is_killed_half_way(self):
        first = self.start_half()
        others = [self.start("install", "12.8.1") for _ in range(2)]
        for process in others:
            next(line for line in iter(process.stderr.readline, "") if "waiting for process" in line)
        self.faults()
        self.interrupt(first, signal.SIGKILL)
        self.all_succeed(others)
        self.assert_there_is("12.8.1")
        self.assertEqual([answer.range for answer in self.answers(self.server)], ["-", f"bytes={HALF}-"])

    def test_SYS_04_without_locks(self):
        """The staging of each is its own, and the archive's partial does not get the bytes of both."""
        self.faults(SLOWLY)
        self.all_succeed([self.start("install", "12.8.1", env=self.without_locks()) for _ in range(3)])
        self.assert_there_is("12.8.1")


class TwoReleases(RaceTest):
    def test_SYS_04_two_that_share_archives(self):
        self.faults(SLOWLY)
        self.all_succeed([self.start("install", release) for release in BOTH])
        self.assert_there_is(*BOTH)

    def test_SYS_04_two_of_each(self):
        self.all_succeed([self.start("install", release) for release in BOTH * 2])
        self.assert_there_is(*BOTH)

    def test_SYS_04_two_that_find_the_same_half(self):
        self.kill_half(self.server)
        self.faults(SLOWLY)
        self.all_succeed([self.start("install", release) for release in BOTH])
        self.assert_there_is(*BOTH)

    def test_SYS_04_one_is_killed_half_way(self):
        first = self.start_half()
        self.faults(SLOWLY)
        second = self.start("install", "12.8.0")
        wait_until(lambda: any("12.8.0" in name for name in os.listdir(self.box.root / "versions")), "the second's staging")
        self.interrupt(first, signal.SIGKILL)
        self.all_succeed([second])
        assert_whole(self, self.toolkit("12.8.0"))
        self.assertEqual(self.names(), ["12.8.0"])
        self.install("12.8.1")
        self.assert_there_is(*BOTH)

    def test_SYS_04_one_is_interrupted(self):
        first = self.start_half()
        self.faults()
        second = self.start("install", "12.8.0")
        wait_until(lambda: any("12.8.0" in name for name in os.listdir(self.box.root / "versions")), "the second's staging")
        self.assertEqual(self.interrupt(first)[0], 130)
        self.all_succeed([second])
        self.install("12.8.1")
        self.assert_there_is(*BOTH)

    def test_SYS_04_without_locks(self):
        self.faults(SLOWLY)
        self.all_succeed([self.start("install", release, env=self.without_locks()) for release in BOTH])
        self.assert_there_is(*BOTH)

    def test_SYS_04_the_one_that_is_shared_with_goes_meanwhile(self):
        self.install("12.8.0")
        self.box.write("mirror/.faults", "cuda_nvcc/* slow:2000\n")
        before = len(self.server.requests)
        process = self.start("install", "12.8.1")
        wait_until(lambda: any("/cuda_nvcc/" in request for request in self.server.requests[before:]), "the request for nvcc")
        self.done("uninstall", "12.8.0")
        self.all_succeed([process])
        self.assert_there_is("12.8.1")

    def test_SYS_04_the_one_that_is_shared_with_is_replaced_meanwhile(self):
        self.install("12.8.0")
        self.all_succeed([self.start("install", "12.8.0", "--force"), self.start("install", "12.8.1")])
        self.assert_there_is(*BOTH)


if __name__ == "__main__":
    unittest.main()
