#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where `cudaenv install` keeps archives, when that cannot be written, is full, or is elsewhere."""

import os
import shlex
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.disk import IS_ROOT, DiskTest
from support.downloads import DownloadTest
from support.sandbox import NOBODY, PROGRAM


class CacheTest(DownloadTest, DiskTest):
    RELEASES = ("12.8.1",)

    def setUp(self):
        super().setUp()
        self.place = self.box.root / "cache"
        self.quoted = shlex.quote(str(self.place))
        self.server = self.serve()

    def refused(self, result, *says):
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8, (str(self.place), *says))

    # A cache that cannot be written costs what the next run could have gone on with, and nothing else.

    def test_ARC_03_it_cannot_be_made(self):
        self.place.write_text("")
        self.install("12.8.1")
        self.assertEqual(self.place.read_text(), "")
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])

    def test_ARC_03_it_is_read_only(self):
        prepare = f"mkdir -p {self.quoted} && mount -t tmpfs -o ro tmpfs {self.quoted}"
        result, left = self.on_disk("size=50m", "install", "12.8.1", prepare=prepare)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([path for path in left if "/.staging" in path or path.startswith(str(self.place) + "/")], [])

    @unittest.skipUnless(IS_ROOT, "only root can become another user")
    def test_ARC_03_it_is_of_somebody_else(self):
        self.cache.mkdir(parents=True)
        self.cache.chmod(0o755)
        for directory in (self.box.root, self.box.root / "versions", self.box.shims):
            os.chown(directory, NOBODY, NOBODY)
        result = self.cudaenv("install", "12.8.1", user=NOBODY)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])
        self.assertEqual(os.listdir(self.cache), [])

    def test_ARC_03_it_is_full(self):
        """Of a disk of its own, which has room for less than an archive."""
        prepare = f"mkdir -p {self.quoted} && mount -t tmpfs -o size=1m tmpfs {self.quoted}"
        result, left = self.on_disk("size=50m", "install", "12.8.1", prepare=prepare)
        self.refused(result)
        self.assertRegex(result.stderr, "No space left on device|not enough space")
        self.assertEqual([path for path in left if "/versions/" in path], [])

    def test_ARC_03_it_is_on_another_disk(self):
        other = self.box.top / "other"
        other.mkdir()
        prepare = (f"mount -t tmpfs -o size=20m tmpfs {shlex.quote(str(other))} && ln -s {shlex.quote(str(other))} {self.quoted} "
                   f"&& echo 'install.keep_archives = true' >{self.box.root}/config.toml")
        result, left = self.on_disk("size=50m", "install", "12.8.1",
                                    prepare=f"{prepare}; trap 'ls {other}/archives >{self.box.top}/kept' EXIT")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(str(self.toolkit("12.8.1") / "receipt.json"), left)
        self.assertIn(str(self.place), left)
        self.assertIn(self.digest, (self.box.top / "kept").read_text().split())

    def test_ARC_03_it_is_a_link_that_leads_nowhere(self):
        self.place.symlink_to(self.box.top / "unmounted" / "cache")
        self.install("12.8.1")
        self.assertTrue(self.place.is_symlink())
        self.assertFalse((self.box.top / "unmounted").exists())

    def test_nobody_else_can_write_to_it(self):
        """Else they could change an archive between its check and its use."""
        self.done("config", "set", "install.keep_archives", "true")
        result = self.box.run("sh", "-c", "umask 0; exec \"$0\" install 12.8.1", PROGRAM, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        for path in (self.place, self.cache, self.whole):
            self.assertEqual(path.stat().st_mode & 0o022, 0, path)


if __name__ == "__main__":
    unittest.main()
