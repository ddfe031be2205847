#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv verify`: every kind of damage to an installed toolkit, and what is none."""

import json
import os
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import MirrorTest, wait_until
from support.program import AS_USER, IS_ROOT


class VerifyTest(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1")

    def setUp(self):
        super().setUp()
        self.install("12.8.1")
        self.tree = self.toolkit("12.8.1")

    def verify(self, *arguments, **options):
        return self.cudaenv("verify", *(arguments or ("12.8.1",)), **options)

    def assert_damaged(self, *lines, hint="cudaenv repair 12.8.1"):
        """Verify finds these faults and no other."""
        with self.unchanged():
            result = self.verify()
        self.assertEqual(result.returncode, 7, result.stdout + result.stderr)
        said = result.stdout.splitlines()
        files = len({line.split()[1] for line in lines})
        self.assertRegex(said[0], rf"^12\.8\.1: not as installed: {files} of \d+ files$")
        self.assertEqual(said[1:], [f"  {line}" for line in lines])
        self.assertEqual(result.stderr, f"cudaenv: 12.8.1 is not whole\ntry: {hint}\n")


class Whole(VerifyTest):
    def test_what_was_just_installed(self):
        receipt = json.loads((self.tree / "receipt.json").read_text())
        size = sum(file.get("size", 0) for file in receipt["files"])
        with self.unchanged():
            result = self.done("verify", "12.8.1")
        self.assertRegex(result.stdout, rf"^12\.8\.1: {len(receipt['files'])} files, [\d.]+ k?B, all as installed\n$")
        self.assertEqual(result.stderr, "")
        document = json.loads(self.done("verify", "12.8.1", "--json").stdout)
        self.assertEqual(document["toolkits"][0] | {"directory": ""},
                         {"name": "12.8.1", "directory": "", "adopted": False, "whole": True, "remark": None,
                          "files": len(receipt["files"]), "bytes": size, "faulty": [], "extra": []})

    def test_which_toolkits(self):
        self.install("12.8.0")
        first_words = lambda *arguments, **options: [
            line.split(":")[0] for line in self.done("verify", *arguments, **options).stdout.splitlines()]
        self.assertEqual(first_words("--all"), ["12.8.0", "12.8.1"])
        self.assertEqual(first_words("12.8.0", "12.8", "12", "12.8.0"), ["12.8.0", "12.8.1"])
        self.assertEqual(first_words(env={"CUDAENV_VERSION": "12.8.0"}), ["12.8.0"])
        self.fails(2, "verify", says=("no version was given", "try: cudaenv verify --all"))
        self.fails(2, "verify", "system", says="is no toolkit of cudaenv")
        self.fails(4, "verify", "11.8", says="11.8")
        self.fails(4, "verify", env={"CUDAENV_VERSION": "11.8"}, says="11.8")
        self.fails(2, "verify", "../12.8.1", says="is not a version")
        self.fails(2, "verify", "--all", "12.8.1", says="excludes")

    def test_nothing_installed(self):
        self.done("uninstall", "12.8.1")
        result = self.done("verify", "--all")
        self.assertEqual((result.stdout, result.stderr), ("", "cudaenv: no toolkit is installed\n"))

    def test_files_of_others_are_no_fault(self):
        self.box.write(self.tree / "bin/mine", "x")
        (self.tree / "lib/link").symlink_to("/nowhere")
        (self.tree / "empty").mkdir()
        result = self.done("verify", "12.8.1")
        self.assertIn("all as installed", result.stdout)
        self.assertEqual(result.stderr,
                         "cudaenv: 12.8.1: 2 files are in it that cudaenv did not install; --verbose names them\n")
        self.assertEqual(self.done("verify", "12.8.1", "--quiet").stderr, "")
        told = self.done("verify", "12.8.1", "--verbose").stderr
        self.assertIn("  bin/mine\n", told)
        self.assertIn("  lib/link\n", told)
        document = json.loads(self.done("verify", "12.8.1", "--json").stdout)
        self.assertEqual(document["toolkits"][0]["extra"], ["bin/mine", "lib/link"])

    def test_in_the_shared_root(self):
        shared = self.box.top / "opt"
        self.box.root.rename(shared)
        self.box.environment["CUDAENV_SHARED_ROOT"] = str(shared)
        self.assertIn("all as installed", self.done("verify", "12.8.1").stdout)
        (shared / "versions/12.8.1/bin/nvcc").unlink()
        self.assertIn(f"try: CUDAENV_ROOT={shared} cudaenv repair 12.8.1\n", self.verify().stderr)


class Damage(VerifyTest):
    def test_missing(self):
        (self.tree / "bin/nvcc").unlink()
        (self.tree / "lib64").unlink()
        self.assert_damaged("missing    bin/nvcc", "missing    lib64")

    def test_changed_size(self):
        file = self.tree / "bin/nvcc.profile"
        size = file.stat().st_size
        with open(file, "a") as profile:
            profile.write("x")
        self.assert_damaged(f"changed    bin/nvcc.profile ({size + 1} bytes, not {size})")
        file.write_bytes(b"")
        self.assert_damaged(f"changed    bin/nvcc.profile (0 bytes, not {size})")

    def test_changed_content_of_the_same_size_and_time(self):
        file = self.tree / "bin/nvcc.profile"
        times = file.stat()
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assert_damaged("changed    bin/nvcc.profile (same size, other content)")

    def test_a_new_time_is_no_damage(self):
        os.utime(self.tree / "bin/nvcc", (1, 1))
        self.done("verify", "12.8.1")

    def test_mode(self):
        (self.tree / "bin/nvcc").chmod(0o644)
        self.assert_damaged("mode       bin/nvcc (0644, not 0755)")
        (self.tree / "bin/nvcc").chmod(0o4755)
        self.assert_damaged("mode       bin/nvcc (4755, not 0755)")

    def test_mode_and_content(self):
        file = self.tree / "bin/nvcc"
        size = file.stat().st_size
        file.write_bytes(b"")
        file.chmod(0o700)
        self.assert_damaged("mode       bin/nvcc (0700, not 0755)", f"changed    bin/nvcc (0 bytes, not {size})")

    def test_link_to_elsewhere(self):
        (self.tree / "lib64").unlink()
        (self.tree / "lib64").symlink_to("/tmp/\x1b[2J")
        self.assert_damaged("link       lib64 (to /tmp/\\x1b[2J, not lib)")

    def test_something_else_in_the_place(self):
        for name, make, words in (("bin/nvcc", lambda path: path.mkdir(), "a directory in its place"),
                                  ("bin/nvcc.profile", lambda path: path.symlink_to("nvcc"), "a link in its place"),
                                  ("bin/ptxas", os.mkfifo, "neither a file nor a link in its place"),
                                  ("lib64", lambda path: path.write_bytes(b""), "a file in its place")):
            (self.tree / name).unlink()
            make(self.tree / name)
            with self.subTest(name):
                self.assertIn(f"  displaced  {name} ({words})\n", self.verify().stdout)

    def test_a_directory_that_became_a_link(self):
        elsewhere = self.box.top / "elsewhere"
        (self.tree / "bin").rename(elsewhere)
        (self.tree / "bin").symlink_to(elsewhere)
        names = sorted(str(path.relative_to(elsewhere)) for path in elsewhere.rglob("*") if not path.is_dir())
        self.assert_damaged(*(f"displaced  bin/{name} (bin is no directory)" for name in names))

    def test_all_kinds_in_json(self):
        (self.tree / "bin/nvcc").unlink()
        (self.tree / "bin/ptxas").chmod(0o600)
        result = self.verify("12.8.1", "--json")
        self.assertEqual((result.returncode, result.stderr), (7, ""))
        toolkit = json.loads(result.stdout)["toolkits"][0]
        self.assertFalse(toolkit["whole"])
        self.assertEqual(toolkit["faulty"], [{"path": "bin/nvcc", "fault": "missing", "detail": None},
                                             {"path": "bin/ptxas", "fault": "mode", "detail": "0600, not 0755"}])

    def test_long_lists_are_cut_unless_all_is_asked_for(self):
        shutil.rmtree(self.tree / "include")
        shutil.rmtree(self.tree / "lib")
        result = self.verify()
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 22)
        more = int(lines[-1].split()[1])
        self.assertRegex(lines[-1], r"^  and \d+ more; --verbose lists them all$")
        self.assertEqual(len(self.verify("12.8.1", "--verbose").stdout.splitlines()), 21 + more)
        self.assertEqual(len(json.loads(self.verify("12.8.1", "--json").stdout)["toolkits"][0]["faulty"]), 20 + more)

    @unittest.skipUnless(IS_ROOT, "needs root to become another user")
    def test_what_cannot_be_read(self):
        (self.tree / "bin/nvcc").chmod(0o700)
        (self.tree / "nvvm").chmod(0o700)
        result = self.verify("12.8.1", **AS_USER)
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn("  unreadable bin/nvcc (Permission denied)\n", result.stdout)
        self.assertIn("  unreadable nvvm (cannot list ", result.stdout)

    def test_a_receipt_that_is_none(self):
        (self.tree / "receipt.json").write_text("{}")
        self.install("12.8.0")
        result = self.verify("--all")
        self.assertEqual(result.returncode, 7)
        self.assertIn("12.8.0: ", result.stdout)
        self.assertIn("12.8.1: its receipt cannot be read", result.stdout)
        self.assertIn("try: cudaenv install 12.8.1 --force\n", result.stderr)

    def test_several(self):
        self.install("12.8.0")
        for name in ("12.8.0", "12.8.1"):
            (self.toolkit(name) / "bin/nvcc").unlink()
        result = self.verify("--all")
        self.assertEqual(result.stderr, "cudaenv: 12.8.0, 12.8.1 are not whole\ntry: cudaenv repair 12.8.0\n")


class Adopted(VerifyTest):
    def setUp(self):
        super().setUp()
        self.theirs = self.box.top / "cuda-12.8"
        self.tree.rename(self.theirs)
        self.done("adopt", str(self.theirs), "--name", "theirs")

    def test_what_can_be_checked(self):
        self.assertEqual(self.done("verify", "theirs").stdout,
                         f"theirs: the compiler is whole; adopted from {self.theirs}, so there is no receipt to compare it with\n")
        self.assertTrue(json.loads(self.done("verify", "--all", "--json").stdout)["toolkits"][0]["adopted"])
        (self.theirs / "lib/libcudadevrt.a").unlink()
        (self.theirs / "nvvm/bin/cicc").unlink()
        result = self.verify("theirs")
        self.assertEqual((result.returncode, result.stderr), (7, "cudaenv: theirs is not whole\n"))
        self.assertEqual([line.split() for line in result.stdout.splitlines()[1:]],
                         [["missing", "nvvm/bin/cicc"], ["missing", "lib/libcudadevrt.a"]])

    def test_the_layout_of_other_installers(self):
        shutil.rmtree(self.theirs / "targets")
        (self.theirs / "lib64").unlink()
        (self.theirs / "lib").rename(self.theirs / "lib64")
        (self.theirs / "include").rename(self.theirs / "targets-include")
        (self.theirs / "include").symlink_to("targets-include")
        self.done("verify", "theirs")

    def test_a_distribution_that_keeps_its_headers_elsewhere(self):
        shutil.rmtree(self.theirs / "include")
        shutil.rmtree(self.theirs / "lib")
        self.done("verify", "theirs")
        (self.theirs / "bin/nvcc.profile").unlink()
        self.assertIn("missing    bin/nvcc.profile", self.verify("theirs").stdout)

    def test_one_that_is_gone(self):
        shutil.rmtree(self.theirs)
        result = self.verify("--all")
        self.assertEqual(result.returncode, 7)
        self.assertIn(f"(adopted from {self.theirs})", result.stdout)


class Interrupted(VerifyTest):
    def test_control_c(self):
        # A file that is full of holes takes long to read and no room.
        receipt = json.loads((self.tree / "receipt.json").read_text())
        size = 1 << 40
        for file in receipt["files"]:
            if file["path"] == "bin/nvcc":
                file["size"] = size
        (self.tree / "receipt.json").write_text(json.dumps(receipt))
        os.truncate(self.tree / "bin/nvcc", size)
        process = self.start("verify", "12.8.1")
        descriptors = Path(f"/proc/{process.pid}/fd")
        wait_until(lambda: any(os.path.basename(os.readlink(fd)) == "nvcc" for fd in descriptors.iterdir()
                               if os.path.lexists(fd)), "the reading of nvcc")
        status, output, error, seconds = self.interrupt(process, signal.SIGINT)
        self.assertEqual((status, output, error), (130, "", "cudaenv: interrupted\n"))
        self.assertLess(seconds, 5)


if __name__ == "__main__":
    unittest.main()
