#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv install` on disks that are full or read-only, interrupted, killed, and beside another one of its kind."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import File, MirrorTest, listing, wait_until
from support.sandbox import NOBODY, PROGRAM

IS_ROOT = os.geteuid() == 0
NAMESPACE = ["unshare", "-m"] if IS_ROOT else ["unshare", "-rm"]


def cannot_mount():
    """Why there is no mount namespace to be had; empty if there is."""
    if not shutil.which("unshare"):
        return "there is no unshare program"
    probe = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True)
    return probe.stderr.strip()


class DiskTest(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1")

    def on_disk(self, options, *arguments, env=None, prepare="true"):
        """Runs the program with its root on a small disk of its own. Result, and what it leaves on the disk."""
        refused = cannot_mount()
        if refused:
            self.skipTest(f"nothing can be mounted here: {refused}")
        root, left = shlex.quote(str(self.box.root)), self.box.top / "left"
        command = shlex.join(map(str, (PROGRAM, *arguments)))
        script = (f"mount -t tmpfs -o {options} tmpfs {root} || exit 99; {prepare}; {command}; status=$?; "
                  f"find {root} -mindepth 1 >{shlex.quote(str(left))}; exit $status")
        result = self.box.run(*NAMESPACE, "sh", "-c", script, text=True, env=env)
        self.assertNotEqual(result.returncode, 99, result.stderr)
        return result, left.read_text().split()


class Disks(DiskTest):
    def test_ARC_03_too_small_is_refused_before_the_download(self):
        server = self.serve()
        result, left = self.on_disk("size=32k", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           (f"not enough space in {self.box.root}/versions", "needed: at least", "free: 2",
                            "--profile minimal"))
        self.assertEqual(left, [])
        self.assertFalse([request for request in server.requests if "archive" in request])

    def test_ARC_03_full_while_unpacking(self):
        self.publish("12.8.1", "libcublas", {"lib/large": File(bytes(2 << 20))})
        result, left = self.on_disk("size=1m", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           ("No space left on device", f"{self.box.root}/versions/", "lib/large", "df -h"))
        self.assertEqual(left, [])

    def test_ARC_03_full_of_files(self):
        result, left = self.on_disk("size=10m,nr_inodes=40", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8, f"{self.box.root}/versions/")
        self.assertEqual(left, [])

    def test_ARC_03_full_while_downloading(self):
        self.publish("12.8.1", "libcublas", {"lib/large": File(os.urandom(200_000))})
        fill = f"head -c 100000 /dev/zero >{self.box.root}/others"
        result, left = self.on_disk("size=1m", "install", "12.8.1", "--profile", "minimal", prepare=fill)
        self.assertEqual(result.returncode, 0, result.stderr)
        result, left = self.on_disk("size=400k", "install", "12.8.1", "--with", "libcublas", prepare=fill)
        self.assertEqual((result.returncode, left), (8, [f"{self.box.root}/others"]), result.stderr)

    def test_SYS_03_read_only_root(self):
        result, left = self.on_disk("ro", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           (f"cannot create {self.box.root}/versions", "Read-only file system", "try: export CUDAENV_ROOT="))
        self.assertEqual(left, [])

    def test_SYS_03_read_only_root_with_toolkits(self):
        fill = f"mkdir -p {self.box.root}/versions/.staging-12.8.1-1-0 && mount -o remount,bind,ro {self.box.root}"
        result, left = self.on_disk("size=1m", "install", "12.8.1", prepare=fill)
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           ("Read-only file system", "try: export CUDAENV_ROOT="))

    def test_tmp_is_not_used(self):
        for name in ("/dev/null", str(self.box.top / "none")):
            self.install("12.8.1", "--force", env={"TMPDIR": name})

    @unittest.skipUnless(IS_ROOT, "only root can become another user")
    def test_SYS_03_root_of_somebody_else(self):
        with self.unchanged():
            self.fails(8, "install", "12.8.1", user=NOBODY, says=(f"{self.box.root}/versions", "Permission denied",
                                                                  "try: export CUDAENV_ROOT="))

    def test_ARC_03_root_that_is_a_link(self):
        shutil.rmtree(self.box.root)
        (self.box.top / "disk").mkdir()
        self.box.root.symlink_to("../disk")
        self.install("12.8.1")
        self.assertEqual(os.listdir(self.box.top / "disk" / "versions"), ["12.8.1"])
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)
        self.done("uninstall", "12.8.1")
        self.assertEqual(os.listdir(self.box.top / "disk" / "versions"), [])

    def test_the_first_install_makes_the_root_and_a_failed_one_does_not(self):
        shutil.rmtree(self.box.root)
        archive = self.archive("12.8.1", "cuda_nvcc")
        archive.rename(archive.with_suffix(".away"))
        with self.unchanged():
            self.fails(3, "install", "12.8.1")
        archive.with_suffix(".away").rename(archive)
        self.install("12.8.1")
        self.assertEqual(sorted(os.listdir(self.box.root)), ["shims", "versions"])


    def test_shims_that_cannot_be_written(self):
        shutil.rmtree(self.box.shims)
        self.box.shims.write_text("")
        self.fails(8, "install", "12.8.1", says=(str(self.box.shims), "CUDA 12.8.1 itself is installed", "cudaenv rehash"))
        self.assertEqual(self.names(), ["12.8.1"])


class Ending(DiskTest):
    def start_and_wait(self, server, pattern, *arguments):
        """An install that has got as far as the request."""
        process = self.start("install", "12.8.1", *arguments)
        wait_until(lambda: any(re.search(pattern, request) for request in server.requests), pattern)
        return process

    def test_DL_11_ctrl_c_leaves_nothing(self):
        for fault, pattern in (("libcublas/*=slow:50", "libcublas"), ("libcublas/*=stall:100", "libcublas"),
                               ("libcublas/*=stall", "libcublas"), ("redistrib_*=stall:100", "redistrib"),
                               ("redistrib_*=slow:50", "redistrib")):
            for number in (signal.SIGINT, signal.SIGTERM):
                server = self.serve(fault)
                with self.subTest(fault=fault, signal=number), self.unchanged():
                    process = self.start_and_wait(server, pattern)
                    status, output, error, took = self.interrupt(process, number)
                    self.assert_failed(status, output, error, 130, "interrupted")
                    self.assertLess(took, 1)

    def test_DL_11_ctrl_c_while_it_waits_to_try_again(self):
        server = self.serve("redistrib_*=503")
        with self.unchanged():
            process = self.start_and_wait(server, "redistrib")
            status, output, error, took = self.interrupt(process)
            self.assert_failed(status, output, error, 130, "interrupted")
            self.assertLess(took, 1)

    def test_DL_11_a_force_that_is_interrupted_leaves_the_old_one(self):
        self.install("12.8.1")
        server = self.serve("libcublas/*=stall:100")
        with self.unchanged():
            self.interrupt(self.start_and_wait(server, "libcublas", "--force"))

    def test_DL_11_killed_and_run_again(self):
        server = self.serve("libcublas/*=stall:100@1")
        process = self.start_and_wait(server, "libcublas")
        self.interrupt(process, signal.SIGKILL)
        self.assertTrue([name for name in os.listdir(self.box.root / "versions") if name.startswith(".staging-")])
        self.assertEqual(self.names(), [])
        self.fails(4, "local", "12.8.1", says="12.8.1 is not installed")
        self.install("12.8.1")
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])

    def test_DL_11_the_dead_staging_of_another_release_goes_too(self):
        server = self.serve("libcublas/*=stall:100@1")
        self.interrupt(self.start_and_wait(server, "libcublas"), signal.SIGKILL)
        self.install("12.8.0")
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.0"])

    def test_the_staging_of_a_living_one_stays(self):
        server = self.serve("libcublas/*=stall:100@1")
        process = self.start_and_wait(server, "libcublas")
        before = {path for path in listing(self.box.root / "versions")}
        self.install("12.8.0")
        self.assertLessEqual(before, set(listing(self.box.root / "versions")))
        self.interrupt(process)
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.0"])


class Two(DiskTest):
    def test_SYS_04_two_of_the_same_release(self):
        for arguments in ((), ("--force",)):
            started = [self.start("install", "12.8.1", *arguments) for _ in range(3)]
            for process in started:
                error = process.communicate()[1]
                self.assertEqual(process.returncode, 0, error)
            self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)

    def test_SYS_04_two_releases_at_once(self):
        started = [self.start("install", release) for release in self.RELEASES]
        for process in started:
            self.assertEqual(process.communicate() and process.returncode, 0)
        self.assertEqual(self.names(), list(self.RELEASES))
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), list(self.RELEASES))
        self.assertIn("nvcc", os.listdir(self.box.shims))

    def test_SYS_04_one_waits_for_the_other_and_takes_over_when_it_dies(self):
        server = self.serve("libcublas/*=stall:100@1")
        first = self.start("install", "12.8.1")
        wait_until(lambda: any("libcublas" in request for request in server.requests), "the first one's download")
        second, third = self.start("install", "12.8.1"), self.start("install", "12.8.1")
        waiting = f"cudaenv: waiting for process {first.pid}, which installs the same release\n"
        self.wait_for_line(second, waiting)
        self.wait_for_line(third, waiting)
        status, _, error, took = self.interrupt(third)
        self.assertEqual(status, 130, error)
        self.assertLess(took, 1)
        first.kill()
        self.assertEqual(second.wait(), 0)
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])

    def wait_for_line(self, process, line):
        for read in iter(process.stderr.readline, ""):
            if read == line:
                return
        self.fail(f"never said: {line}")

    def test_SYS_04_without_locks_both_finish(self):
        library = self.library("int flock(int f, int o) { (void)f; (void)o; errno = ENOLCK; return -1; }")
        server = self.serve("libcublas/*=slow:1000@1")
        first = self.start("install", "12.8.1", env={"LD_PRELOAD": library})
        wait_until(lambda: any("libcublas" in request for request in server.requests), "the first one's download")
        self.install("12.8.1", env={"LD_PRELOAD": library})
        self.assertEqual(first.communicate() and first.returncode, 0)
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)

    def library(self, code):
        """A library that replaces a function of libc."""
        source = self.box.write("flock.c", f"#include <errno.h>\n{code}\n")
        library = source.with_suffix(".so")
        built = self.box.run("cc", "-shared", "-fPIC", "-o", library, source)
        self.assertEqual(built.returncode, 0, built.stderr)
        return str(library)


if __name__ == "__main__":
    unittest.main()
