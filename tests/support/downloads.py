# SPDX-License-Identifier: Apache-2.0
"""What the tests of downloads that break off stand on: a release with one large archive, and what is kept of it."""

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import stat

from support.mirror import PLATFORM, File, MirrorTest, wait_until

LARGE = 3_000_000  # bytes that cannot be compressed
HALF = 1_500_000
BIG = "libcublas"  # the component whose archive is large


def noise(seed, size=LARGE):
    return random.Random(seed).randbytes(size)


class DownloadTest(MirrorTest):
    RELEASES = ("12.8.1",)

    def setUp(self):
        super().setUp()
        self.cache = self.box.root / "cache" / "archives"
        self.publish("12.8.1", BIG, {"lib/cublas.data": File(noise(1))})
        self.entry = self.manifest("12.8.1")[BIG][PLATFORM]
        self.path, self.digest, self.size = (self.entry[key] for key in ("relative_path", "sha256", "size"))
        self.size = int(self.size)
        self.whole, self.partial = self.cache / self.digest, self.cache / f"{self.digest}.part"

    def faults(self, *rules):
        """The faults of the large archive from now on, in place of those before; each a line of kinds."""
        self.box.write("mirror/.faults", "".join(f"{self.path} {rule}\n" for rule in rules))

    def answers(self, server):
        """What the server answered for the large archive."""
        return [answer for answer in server.answers if answer.path == f"/{self.path}"]

    def asked(self, answers):
        return [(answer.range, answer.status) for answer in answers]

    def kept(self):
        """Bytes of the large archive that are kept on disk."""
        return self.partial.stat().st_size if self.partial.exists() else 0

    def start_half(self, kinds="", **options):
        """An install that has half of the large archive and gets no more of it."""
        self.faults(f"{kinds} stall:{HALF}")
        process = self.start("install", "12.8.1", **options)
        wait_until(lambda: self.kept() == HALF, f"half of the archive in {self.partial}")
        return process

    def kill_half(self, server, kinds=""):
        """Leaves half of the large archive on disk. The answer that brought it."""
        self.interrupt(self.start_half(kinds), signal.SIGKILL)
        self.faults()
        return self.answers(server)[-1]

    @contextlib.contextmanager
    def case(self, name):
        """A test of its own, after which it is as if nothing had been installed or fetched."""
        with self.subTest(name):
            try:
                yield
            finally:
                self.faults()
                shutil.rmtree(self.toolkit("12.8.1"), ignore_errors=True)
                shutil.rmtree(self.cache, ignore_errors=True)

    def left(self):
        """What of this install's archives is still in the cache."""
        return sorted(os.listdir(self.cache)) if self.cache.exists() else []

    def assert_installed(self, name="12.8.1"):
        assert_whole(self, self.toolkit(name))


def assert_whole(test, toolkit):
    """Every file has the digest and the mode of the receipt, every link its target, and there is nothing else."""
    receipt = json.loads((toolkit / "receipt.json").read_text())
    described = {file["path"]: file for file in receipt["files"]}
    there = {os.path.relpath(os.path.join(parent, name), toolkit)
             for parent, directories, files in os.walk(toolkit)
             for name in files + [name for name in directories if os.path.islink(os.path.join(parent, name))]}
    test.assertEqual(there - {"receipt.json"}, set(described))
    for path, file in described.items():
        if "target" in file:
            test.assertEqual(os.readlink(toolkit / path), file["target"], path)
            continue
        info = (toolkit / path).lstat()
        test.assertEqual((stat.S_IMODE(info.st_mode), info.st_size), (int(file["mode"], 8), file["size"]), path)
        test.assertEqual(hashlib.sha256((toolkit / path).read_bytes()).hexdigest(), file["sha256"], path)
