# SPDX-License-Identifier: Apache-2.0
"""What the tests of install, uninstall and adopt stand on: a sandbox, a mirror of sample toolkits that each test may
change, a server for it, and the program."""

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import hostile
import redist
import samples
import toolkit
from http_server import Server
from redist import Dir, File, Hard, Link  # for the tests: modules of their own would make other classes
from support.sandbox import DEADLINE, PROGRAM, Sandbox



def use_memory():
    """An install ends with a sync of its file system, which takes seconds where others write much: work in memory."""
    memory = "/dev/shm"
    if "TMPDIR" not in os.environ and os.access(memory, os.W_OK):
        info = os.statvfs(memory)
        if not info.f_flag & os.ST_NOEXEC and info.f_bavail * info.f_frsize > 256 << 20:
            tempfile.tempdir = memory


use_memory()
PLATFORM = toolkit.host_platform()
TARGET = PLATFORM.replace("linux-", "") + "-linux"
made = {}


def samples_of(releases):
    """A mirror of these sample releases, made once; not to be changed. Skips the test where it cannot be made."""
    if releases not in made:
        directory = tempfile.mkdtemp(prefix="cudaenv-mirror-")
        atexit.register(shutil.rmtree, directory)
        try:
            kit = samples.Kit()
        except toolkit.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        with kit.scratch:
            for release in releases:
                samples.make(kit, release, None).write(Path(directory))
        made[releases] = Path(directory)
    return made[releases]


def listing(directory):
    """Everything below a directory: path to kind, mode and content."""
    found = {}
    for parent, directories, files in os.walk(directory):
        for name in directories + files:
            path = Path(parent, name)
            info = path.lstat()
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            else:
                content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(info.st_mode) else None
            found[str(path.relative_to(directory))] = (stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), content)
    return found


def wait_until(condition, what):
    """Polls; a test that waits in vain fails."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.01)


class MirrorTest(unittest.TestCase):
    RELEASES = ("12.4.1", "12.8.0", "12.8.1", "13.0.2", "13.3.1")

    def setUp(self):
        shared = samples_of(self.RELEASES)
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.mirror = self.box.top / "mirror"
        shutil.copytree(shared, self.mirror)
        self.mirror.chmod(0o755)
        # The samples are not what NVIDIA published: the digests of those releases that the registry knows differ.
        self.box.environment.update(CUDAENV_MIRROR=str(self.mirror), CUDAENV_ACCEPT_MANIFEST="any",
                                    CUDAENV_NETWORK_RETRIES="3")  # so that what fails for good does so soon

    # The mirror.

    def serve(self, *faults, directory=None, **options):
        """Serves the mirror from now on in place of the directory; `faults` and options as http_server.py has them."""
        server = Server(directory or self.mirror, faults=list(faults), **options)
        server.__enter__()
        self.addCleanup(server.__exit__)
        self.box.environment["CUDAENV_MIRROR"] = server.url
        return server

    def manifest(self, release):
        return redist.read_manifest(self.mirror, release)

    def change_manifest(self, release, change):
        manifest = self.manifest(release)
        change(manifest)
        redist.write_manifest(self.mirror, release, manifest)

    def publish(self, release, component, tree, version="9.9.9", **options):
        """Puts a component with that tree into a release, or into the place of the one that it has."""
        entry = redist.Component(version, platforms={PLATFORM: tree}, **options)
        written = redist.Release(release).write_component(self.mirror, component, entry, 0)
        self.change_manifest(release, lambda manifest: manifest.update({component: written}))

    def archive(self, release, component):
        return self.mirror / self.manifest(release)[component][PLATFORM]["relative_path"]

    # The program.

    def cudaenv(self, *arguments, **options):
        return self.box.run(PROGRAM, *arguments, text=True, **options)

    def start(self, *arguments, env=None, **options):
        """The same without waiting for it; ended with the test."""
        process = subprocess.Popen([str(PROGRAM), *map(str, arguments)], cwd=self.box.project, text=True,
                                   env={**self.box.environment, "PWD": str(self.box.project), **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

        watchdog = threading.Timer(DEADLINE, process.kill)  # a test that reads what never comes ends too
        watchdog.start()

        def end():
            watchdog.cancel()
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def toolkit(self, name):
        return self.box.root / "versions" / name

    def receipt(self, name):
        return json.loads((self.toolkit(name) / "receipt.json").read_text())

    def damage(self, name, component):
        """Alters a file that the component brought, so that it is not to be taken over; its path."""
        file = next(file for file in self.receipt(name)["files"]
                    if file.get("component") == component and file.get("size"))
        path = self.toolkit(name) / file["path"]
        content = path.read_bytes()
        path.unlink()  # another toolkit may have it too
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        path.chmod(int(file["mode"], 8))
        return path

    def names(self):
        """What `versions` lists."""
        return self.done("versions", "--bare").stdout.split()

    def done(self, *arguments, **options):
        """Runs a command that must succeed."""
        result = self.cudaenv(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def install(self, *arguments, **options):
        return self.done("install", *arguments, **options)

    def fails(self, status, *arguments, says=(), **options):
        """Runs a command that must fail with that status, one message with these words, and no other output."""
        result = self.cudaenv(*arguments, **options)
        self.assert_failed(result.returncode, result.stdout, result.stderr, status, says)
        return result

    def assert_failed(self, returncode, output, error, status, says=()):
        self.assertEqual((returncode, output), (status, ""), error)
        messages = [line for line in error.splitlines()
                    if line.startswith("cudaenv: ") and not line.startswith(("cudaenv: warning: ", "cudaenv: ["))]
        self.assertTrue(messages, error)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(str(words), error)

    @contextlib.contextmanager
    def unchanged(self, *directories):
        """What the block runs leaves nothing behind: neither in the home nor beside it, unless others are named. What
        was fetched is no left-over: the next run goes on with it."""
        watched = directories or (self.box.home, self.box.top / "tmp")
        cache = self.box.root / "cache"

        def now(directory):
            found = listing(directory)
            prefix = os.path.relpath(cache, directory)
            return {path: what for path, what in found.items() if path != prefix and not path.startswith(prefix + "/")}

        before = {directory: now(directory) for directory in watched}
        yield
        for directory, was in before.items():
            self.assertEqual(now(directory), was)

    def interrupt(self, process, number=signal.SIGINT):
        """Exit status, output, errors and the time that the process took to end."""
        start = time.monotonic()
        process.send_signal(number)
        output, error = process.communicate(timeout=DEADLINE)
        return process.returncode, output, error, time.monotonic() - start
