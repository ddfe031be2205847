#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv prune`: what it removes, what it leaves, and what it says of both."""

import fcntl
import os
import re
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import MirrorTest, listing, wait_until

WHOLE, HALF, OTHER = "a" * 64, "0123456789abcdef" * 4, "f" * 64
SIZE = 1 << 16


class PruneTest(MirrorTest):
    RELEASES = ("12.8.1",)

    def setUp(self):
        super().setUp()
        self.archives = self.box.root / "cache/archives"

    def keep(self, *names, size=SIZE):
        for name in names:
            self.box.write(self.archives / name, b"x" * size)

    def prune(self, *arguments):
        result = self.done("prune", *arguments)
        self.assertEqual(result.stderr, "")
        return re.sub(r" +", " ", result.stdout).splitlines()

    def kill_an_install(self):
        """Leaves the staging of an install that was killed while it fetched."""
        self.serve("cuda_nvcc/*=stall:1000")
        process = self.start("install", "12.8.1")
        wait_until(lambda: list(self.box.root.glob("versions/.staging-*/*")), "the staging")
        self.assertEqual(self.interrupt(process, signal.SIGKILL)[0], -signal.SIGKILL)
        staging, = (path for path in self.box.root.glob("versions/.staging-*") if path.is_dir())
        self.box.write(staging / "large", b"x" * SIZE)
        shutil.rmtree(self.box.root / "cache", ignore_errors=True)  # each test says what is in it
        return staging


class Removes(PruneTest):
    def test_nothing(self):
        for arguments in ((), ("--dry-run",)):
            with self.unchanged():
                result = self.done("prune", *arguments)
            self.assertEqual((result.stdout, result.stderr), ("", "cudaenv: there is nothing to remove\n"))

    def test_each_kind_and_how_much(self):
        self.kill_an_install()
        self.keep(WHOLE, OTHER, HALF + ".part")
        self.keep(HALF + ".json", size=10)
        with self.unchanged():
            said = self.prune("--dry-run")
        self.assertEqual(said[0], " 131.1 kB 2 kept archives")
        self.assertRegex(said[1], r"^ \d+\.\d kB 1 download that was not finished$")
        self.assertRegex(said[2], r"^ \d+\.\d kB 1 directory of an install that was killed$")
        self.assertRegex(said[3], r"^ \d+\.\d kB would be free$")
        self.assertEqual(self.prune(), said[:3] + [said[3].replace("would be free", "freed")])
        self.assertEqual(os.listdir(self.archives), [])
        self.assertEqual(os.listdir(self.box.root / "versions"), [])
        self.assertIn("nothing to remove", self.done("prune").stderr)

    def test_what_is_known_of_a_download_that_is_gone(self):
        self.keep(HALF + ".json")
        self.assertEqual(len(self.prune()), 2)
        self.assertEqual(os.listdir(self.archives), [])

    def test_toolkits_stay(self):
        self.install("12.8.1")
        self.keep(WHOLE)
        before = listing(self.toolkit("12.8.1"))
        self.prune()
        self.assertEqual(listing(self.toolkit("12.8.1")), before)
        self.assertEqual(self.names(), ["12.8.1"])

    def test_what_a_toolkit_shares_is_not_freed(self):
        staging = self.kill_an_install()
        os.link(staging / "large", self.box.home / "also here")
        self.keep(WHOLE)
        os.link(self.archives / WHOLE, self.box.home / "archive too")
        said = self.prune()
        self.assertEqual(said[0], " 0 B 1 kept archive")
        self.assertLess(float(re.match(r" ([\d.]+) k?B 1 directory", said[1])[1]), 2 * SIZE / 1000)


class Leaves(PruneTest):
    def test_what_it_does_not_know(self):
        names = ("a" * 63, "A" * 64, "g" * 64, WHOLE + ".tmp", "notes", WHOLE + ".part.part", "." + WHOLE, "x.json")
        self.keep(*names)
        (self.archives / HALF).mkdir()
        os.mkfifo(self.archives / (HALF + ".part"))
        (self.archives / (OTHER + ".json")).mkdir()
        self.box.write(self.box.root / "cache/manifest.json", "x")
        self.box.write(self.box.root / "versions/.other/file", "x")
        with self.unchanged():
            self.assertIn("nothing to remove", self.done("prune").stderr)

    def test_links(self):
        target = self.box.write("precious/" + OTHER, "x")
        self.keep("notes")
        (self.archives / WHOLE).symlink_to(target)
        with self.unchanged(self.box.top):
            self.assertIn("nothing to remove", self.done("prune").stderr)

    def test_directories_that_are_links(self):
        target = self.box.write("precious/archives/" + WHOLE, "x").parent.parent
        (self.box.root / "cache").symlink_to(target)
        with self.unchanged(self.box.top):
            self.assertIn(f"warning: {self.box.root}/cache is a link, and what it leads to is left alone",
                          self.done("prune").stderr)
        (self.box.root / "cache").unlink()
        (self.box.root / "cache").mkdir()
        self.archives.symlink_to(target / "archives")
        with self.unchanged(self.box.top):
            self.assertIn(f"warning: {self.archives} is a link", self.done("prune").stderr)

    def test_what_a_running_install_works_with(self):
        self.keep(WHOLE, HALF + ".part", HALF + ".json", OTHER + ".part")
        with open(self.archives / (HALF + ".part")) as partial, open(self.archives / WHOLE) as whole:
            fcntl.flock(partial, fcntl.LOCK_EX)
            fcntl.flock(whole, fcntl.LOCK_SH)
            result = self.done("prune")
            self.assertEqual(result.stderr, "cudaenv: 2 archives are in use by a running install\n")
            self.assertIn("1 download that was not finished", result.stdout)
            self.assertEqual(sorted(os.listdir(self.archives)), sorted([WHOLE, HALF + ".part", HALF + ".json"]))
        self.assertEqual(len(self.prune()), 3)

    def test_the_staging_of_a_running_install(self):
        self.serve("cuda_nvcc/*=stall:1000")
        process = self.start("install", "12.8.1")
        wait_until(lambda: list(self.box.root.glob("versions/.staging-*/*")), "the staging")
        for arguments in ((), ("--dry-run",)):
            self.assertIn("nothing to remove", self.done("prune", *arguments).stderr)
        self.assertEqual(len([path for path in self.box.root.glob("versions/.staging-*") if path.is_dir()]), 1)
        self.assertEqual(self.interrupt(process)[0], 130)


if __name__ == "__main__":
    unittest.main()
