#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help, and what a mistyped command line is answered with."""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest


class Help(ProgramTest):
    def page(self, *arguments):
        result = self.cudaenv(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, b""), result.stderr)
        return result.stdout.decode()

    def commands(self):
        names = re.findall(r"^  ([a-z]+) +[A-Z]", self.page("help"), re.M)
        self.assertGreater(len(names), 12)
        return names

    def test_every_command_has_a_page(self):
        for name in self.commands():
            with self.subTest(command=name):
                page = self.page("help", name)
                self.assertIn(f"usage: cudaenv {name if name != 'help' else 'COMMAND'}", page)
                self.assertEqual(self.page(name, "--help"), page)
                self.assertEqual(self.page(name, "-h"), page)

    def test_every_line_fits_a_terminal(self):
        for page in [self.page("help"), *(self.page("help", name) for name in self.commands())]:
            for line in page.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_aliases(self):
        self.assertIn("also called: list", self.page("help", "versions"))
        self.assertEqual(self.page("help", "list"), self.page("help", "versions"))
        self.assertEqual(self.page("current", "--help"), self.page("help", "version"))
        self.assertIn("usage: cudaenv pin", self.page("pin", "--help"))

    def test_hidden_names_are_not_shown(self):
        for page in [self.page("help"), *(self.page("help", name) for name in self.commands())]:
            self.assertNotRegex(page, r"\b(available|pin)\b")

    def test_main_page_by_every_name(self):
        self.assertEqual(self.page("--help"), self.page("help"))
        self.assertEqual(self.page("-h"), self.page("help"))
        self.assertEqual(self.page("help", "help"), self.page("help"))

    def test_no_arguments_is_a_mistake_answered_with_help(self):
        for arguments in ([], ["-q"], ["--color", "never"]):
            result = self.cudaenv(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertEqual(result.stderr.decode(), self.page("help"))

    def test_version(self):
        self.assertRegex(self.page("--version"), r"^cudaenv \d+\.\d+\.\d+\n$")
        self.assertEqual(self.page("-V"), self.page("--version"))

    def test_help_needs_no_home_and_no_root(self):
        self.assertEqual(self.cudaenv("help", env={"CUDAENV_ROOT": "bad", "HOME": None}).returncode, 0)
        self.assertEqual(self.cudaenv("env", "--help", env={"CUDAENV_ROOT": "bad", "HOME": None}).returncode, 0)


class Mistakes(ProgramTest):
    def test_misspelt_command(self):
        for typed, meant in (("versoin", "version"), ("isntall", "install"), ("golbal", "global"), ("whcih", "which")):
            self.assert_fails(self.cudaenv(typed), 2, f'there is no command "{typed}"', f"cudaenv {meant}")
            self.assert_fails(self.cudaenv("help", typed), 2, f"cudaenv {meant}")
        self.assertIn("try: cudaenv help\n", self.assert_fails(self.cudaenv("frobnicate"), 2))

    def test_only_visible_names_are_offered(self):
        for typed in ("availabel", "avaliable", "pinn", "pim"):
            error = self.assert_fails(self.cudaenv(typed), 2, "try: cudaenv help\n")
            self.assertNotRegex(error, r"available|cudaenv pin\b")

    def test_words_of_other_version_managers_lead_to_ours(self):
        for word, ours in (("use", "local"), ("ls", "versions"), ("rm", "uninstall")):
            self.assert_fails(self.cudaenv(word), 2, f'there is no command "{word}"', f"try: cudaenv {ours}\n")

    def test_control_bytes_are_escaped(self):
        self.assert_fails(self.cudaenv("\x1b[31mx"), 2, "\\x1b[31mx")
        self.assert_fails(self.cudaenv("--\x1b[31m"), 2, "\\x1b[31m")
        self.assert_fails(self.cudaenv("versions", "--\x1b[31m"), 2, "\\x1b[31m")

    def test_misspelt_option(self):
        for command, meant in ((["versions", "--jsno"], "--json"), (["local", "--unste"], "--unset"), (["--verison"], "--version"),
                               (["local", "12.4", "--forse"], "--force"), (["versions", "--colr=never"], "--color"),
                               (["--quite"], "--quiet"), (["config", "gte", "mirror"], "get")):
            with self.subTest(command=command):
                self.assert_fails(self.cudaenv(*command), 2, command[-2] if "gte" in command else command[-1],
                                  f"did you mean {meant}?", "try: cudaenv help")

    def test_misuse(self):
        for command in (["versions", "extra"], ["which"], ["local", "12.4", "12.8"], ["uninstall"], ["exec"], ["exec", "--"],
                        ["exec", "-v", "12.4"], ["config", "set", "mirror"], ["root", "x"], ["versions", "--color", "blue"]):
            with self.subTest(command=command):
                self.assert_fails(self.cudaenv(*command), 2, "try: cudaenv ")

    def test_options_of_every_command_stand_after_an_action_too(self):
        self.assertEqual(self.cudaenv("config", "list", "-q").returncode, 0)

    def test_options_of_every_command_stand_before_or_after_its_name(self):
        self.select("12.4")
        expected = self.cudaenv("version").stdout.decode()
        for command in (["-q", "version"], ["version", "-q"], ["--color", "never", "version", "--verbose"],
                        ["version", "--color=always"]):
            self.assert_prints(self.cudaenv(*command), expected)


if __name__ == "__main__":
    unittest.main()
