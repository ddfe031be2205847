#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`local` and `global`: showing and writing version files."""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest
from support.sandbox import PROGRAM

HOSTILE = ["../../tmp/x", "/tmp/x", "12.4/../../x", ".", "..", "12.4;id", "$(id)", "`id`", "1" * 100000, "12.04", "12.4.1.1", "",
           " ", "a b", "\x1b]0;x\x07", "12345"]


class Writing(ProgramTest):
    def setUp(self):
        super().setUp()
        self.file = self.box.project / ".cuda-version"

    def assert_written(self, result, content):
        self.assert_prints(result, "")
        self.assertEqual(self.file.read_bytes().decode("latin-1"), content)

    def test_spec_is_written_as_typed(self):
        self.box.toolkit("mine")
        for spec in ("12", "12.8", "12.8.1", "cuda-12.4", "v12.4", "latest", "auto", "system", "mine"):
            with self.subTest(spec=spec):
                self.file.unlink(missing_ok=True)
                result = self.cudaenv("local", spec, "--quiet")  # that the gate cannot tell of `mine` is a note
                self.assert_written(result, f"{spec}\n")

    def test_alias_pin(self):
        self.assert_written(self.cudaenv("pin", "12.4"), "12.4\n")

    def test_file_is_readable_by_all(self):
        self.cudaenv("local", "12.4", umask=0o077)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o644)

    def test_comments_and_line_ends_are_kept(self):
        for before, after in ((" # why\r\n\r\n  12.4 # not newer\r\n", " # why\r\n\r\n  12.8 # not newer\r\n"),
                              ("12.4", "12.8"), ("\xef\xbb\xbf12.4\n", "\xef\xbb\xbf12.8\n"), ("12.4\r", "12.8\r"),
                              ("# nothing yet\n", "# nothing yet\n12.8\n"), ("# nothing yet", "# nothing yet\n12.8\n"),
                              ("", "12.8\n"), ("# see docs\n12.4;id\n", "# see docs\n12.8\n")):
            with self.subTest(before=before):
                self.select(before)
                self.assert_written(self.cudaenv("local", "12.8"), after)

    def test_only_the_word_that_counts_is_replaced(self):
        self.select("12.4 # 12.4\n12.4\n")
        self.assert_written(self.cudaenv("local", "12.8"), "12.8 # 12.4\n12.4\n")

    def test_what_cannot_be_edited_is_written_anew(self):
        for before in ("\xff\xfe1\x002\x00", "12.4\n" + "#" * 70000):
            self.select(before)
            self.assert_written(self.cudaenv("local", "12.8"), "12.8\n")

    def test_link_stays_a_link(self):
        target = self.box.write("shared/version", "12.4\n")
        self.file.symlink_to("../../shared/version")
        self.assert_prints(self.cudaenv("local", "12.8"), "")
        self.assertEqual((os.readlink(self.file), target.read_text()), ("../../shared/version", "12.8\n"))

    def test_through_a_link_only_a_version_file_is_written(self):
        target = self.box.top / "keys"
        self.file.symlink_to("../../keys")
        for text in ("ssh-ed25519 AAAAC3Nza me@here\n", "s3cret\n", "export PATH=/x\n", "root:x:0:0\n", "12.4 # ok\n12.8\n",
                     "\xff\xfe1\x002\x00", "12.4\n" + "#" * 70000):
            with self.subTest(text=text[:20]):
                self.box.write(target, text)
                for force in ((), ("--force",)):
                    self.assert_fails(self.cudaenv("local", "12.8", *force), 2,
                                      f"{self.file} is a link to ../../keys, which is not a version file",
                                      "nothing was written", "try: cudaenv local --unset")
                self.assertEqual(target.read_bytes().decode("latin-1"), text)

    def test_through_a_link_a_version_file_is_written(self):
        self.box.toolkit("mine")
        target = self.box.top / "version"
        self.file.symlink_to("../../version")
        for before, after in (("12.4\n", "12.8\n"), ("mine\n", "12.8\n"), ("latest", "12.8"), ("", "12.8\n")):
            self.box.write(target, before)
            self.assert_prints(self.cudaenv("local", "12.8"), "")
            self.assertEqual((self.file.is_symlink(), target.read_text()), (True, after))

    def test_where_a_link_leads_no_file_is_made_and_none_is_taken_for_a_version_file(self):
        target = self.box.top / "version"
        self.file.symlink_to("../../version")
        self.assert_fails(self.cudaenv("local", "12.8"), 2, "is a link to ../../version, which is not a version file")
        self.assertFalse(target.exists())
        self.box.write(target, "# only comments\n")
        self.assert_fails(self.cudaenv("local", "12.8"), 2, "is a link to ../../version, which is not a version file")
        self.assertEqual(target.read_text(), "# only comments\n")

    def test_mode_of_an_existing_file_is_kept(self):
        self.select("12.4").chmod(0o600)
        self.cudaenv("local", "12.8")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)

    def test_VER_07_not_installed_writes_nothing(self):
        before = self.tree()
        for spec in ("12.9", "11", "12.8.0", "nobody"):
            error = self.assert_fails(self.cudaenv("local", spec), 4, "installed: 12.4.1, 12.8.1", "nothing was written", "--force")
            self.assertIn(f"try: cudaenv {'install' if spec != 'nobody' else 'adopt DIRECTORY --name'} {spec}\n", error)
        self.assertEqual(self.tree(), before)

    def test_force_writes_what_is_not_installed(self):
        result = self.cudaenv("local", "12.9", "--force")
        self.assertEqual((result.returncode, self.file.read_text()), (0, "12.9\n"))
        self.assertIn(b"warning: CUDA 12.9 is not installed", result.stderr)

    def test_VER_09_build_number_is_answered_with_its_release(self):
        self.assert_fails(self.cudaenv("local", "12.4.131"), 4, "12.4.131", "12.4.1")
        self.assertFalse(self.file.exists())

    def test_VER_02_only_versions_are_written(self):
        before = self.tree()
        for text in HOSTILE:
            with self.subTest(text=text[:20]):
                self.assert_fails(self.cudaenv("local", "--", text), 2, "is not a version", "expected a version such as 12")
                self.assert_fails(self.cudaenv("local", "--force", "--", text), 2, "is not a version")
        self.assert_fails(self.cudaenv("local", "-rf"), 2)
        self.assertEqual(self.tree(), before)

    def test_unset_removes_the_file(self):
        self.select("12.4")
        self.assert_prints(self.cudaenv("local", "--unset"), "")
        self.assertFalse(self.file.exists())
        self.assert_prints(self.cudaenv("local", "--unset"), "")

    def test_unset_leaves_the_file_above_alone(self):
        above = self.select("12.4", self.box.home)
        self.assert_prints(self.cudaenv("local", "--unset"), "")
        self.assertTrue(above.exists())

    def test_spec_and_unset_contradict(self):
        self.select("12.4")
        self.assert_fails(self.cudaenv("local", "12.8", "--unset"), 2, "not both")
        self.assertEqual(self.file.read_text(), "12.4")

    def test_directory_and_fifo_of_that_name(self):
        self.file.mkdir()
        self.assert_fails(self.cudaenv("local", "12.4"), 8, self.file)
        self.assert_fails(self.cudaenv("local", "--unset"), 8, self.file)
        self.file.rmdir()
        os.mkfifo(self.file)
        self.assert_fails(self.cudaenv("local", "12.4"), 8, self.file)

    def test_directory_that_cannot_be_written(self):
        self.box.project.chmod(0o555)
        self.assert_fails(self.as_user("local", "12.4"), 8, f"cannot write {self.file}: Permission denied")

    def test_directory_that_is_gone(self):
        gone = self.box.home / "gone"
        gone.mkdir()
        result = self.box.run("/bin/sh", "-c", 'rmdir "$PWD" && exec "$0" local 12.4', PROGRAM, cwd=gone)
        self.assert_fails(result, 8)

    def test_project_behind_a_link_is_written_where_the_user_sees_it(self):
        link = self.box.top / "link"
        link.symlink_to(self.box.project)
        self.assert_prints(self.cudaenv("local", "12.4", cwd=link), "")
        self.assertEqual(self.file.read_text(), "12.4\n")


class Showing(ProgramTest):
    def test_as_written_from_the_nearest_file(self):
        self.select("# comment\ncuda-12.4\n", self.box.home)
        self.assert_prints(self.cudaenv("local"), "cuda-12.4\n")
        self.select("12.9\n")
        self.assert_prints(self.cudaenv("local"), "12.9\n")

    def test_without_a_file(self):
        self.assert_fails(self.cudaenv("local"), 3, "there is no .cuda-version in", self.box.project, "try: cudaenv local VERSION")

    def test_local_ignores_the_variable(self):
        self.select("12.4")
        self.assert_prints(self.cudaenv("local", env={"CUDAENV_VERSION": "12.8"}), "12.4\n")

    def test_local_ignores_the_global_file(self):
        self.box.write(self.box.root / "version", "12.8")
        self.assert_fails(self.cudaenv("local"), 3)

    def test_broken_file_is_an_error_that_names_it(self):
        file = self.select("# pinned\n../x\n")
        self.assert_fails(self.cudaenv("local"), 2, f'{file}:2: "../x" is not a version', "try: cudaenv local VERSION")


class Global(ProgramTest):
    def setUp(self):
        super().setUp()
        self.file = self.box.root / "version"

    def test_written_in_the_root_and_shown(self):
        self.assert_prints(self.cudaenv("global"), "system\n")
        self.assert_prints(self.cudaenv("global", "12.4"), "")
        self.assertEqual(self.file.read_text(), "12.4\n")
        self.assert_prints(self.cudaenv("global"), "12.4\n")
        self.assert_prints(self.cudaenv("version"), f"12.4.1 (set by {self.file}:1)\n")

    def test_a_link_of_ones_own_is_followed(self):
        self.file.symlink_to("../dotfiles")
        self.assert_prints(self.cudaenv("global", "12.4"), "")
        self.assertEqual((self.file.is_symlink(), self.file.read_text()), (True, "12.4\n"))

    def test_project_file_comes_first(self):
        self.box.write(self.file, "12.4")
        self.select("12.8")
        self.assert_prints(self.cudaenv("global"), "12.4\n")
        self.assertIn("12.8.1", self.cudaenv("version").stdout.decode())

    def test_unset(self):
        self.box.write(self.file, "12.4")
        self.assert_prints(self.cudaenv("global", "--unset"), "")
        self.assert_prints(self.cudaenv("global"), "system\n")

    def test_not_installed_writes_nothing(self):
        self.assert_fails(self.cudaenv("global", "13"), 4, "`cudaenv global 13 --force`")
        self.assertFalse(self.file.exists())

    def test_through_a_link_only_a_version_file_is_written(self):
        target = self.box.write("precious", "some words\n")
        self.file.symlink_to(target)
        self.assert_fails(self.cudaenv("global", "12.8"), 2, f"{self.file} is a link to {target}", "try: cudaenv global --unset")
        self.assertEqual(target.read_text(), "some words\n")

    def test_makes_the_root(self):
        root = self.box.top / "new" / "root"
        self.assert_prints(self.cudaenv("global", "system", env={"CUDAENV_ROOT": str(root)}), "")
        self.assertEqual((root / "version").read_text(), "system\n")

    def test_read_only_root(self):
        self.box.root.chmod(0o555)
        self.assert_fails(self.as_user("global", "12.4"), 8, self.file, "Permission denied")

    def test_shared_root_gives_the_default(self):
        shared = self.box.write("sw/version", "12.4").parent
        env = {"CUDAENV_SHARED_ROOT": str(shared)}
        self.assert_prints(self.cudaenv("global", env=env), "12.4\n")
        self.assert_prints(self.cudaenv("global", "12.8", env=env), "")
        self.assertEqual((self.file.read_text(), (shared / "version").read_text()), ("12.8\n", "12.4"))


if __name__ == "__main__":
    unittest.main()
