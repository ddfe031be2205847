#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`config`, and where settings come from."""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest

FILE = """\
# my settings

mirror = "https://mirror.example/cuda"  # the office's

[other.tool]  # not ours
library_path = "untouched"

[ env ]
# wheels bring their own
library_path = 'none'   # for now
"""


class ConfigTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.file = self.box.root / "config.toml"

    def config(self, *arguments, **options):
        return self.cudaenv("config", *arguments, **options)

    def assert_set(self, arguments, content):
        self.assert_prints(self.config(*arguments), "")
        self.assertEqual(self.file.read_text(), content)


class Changing(ConfigTest):
    def test_set_get_unset(self):
        self.assert_prints(self.config("get", "env.library_path"), "shims\n")
        self.assert_set(["set", "env.library_path", "none"], '[env]\nlibrary_path = "none"\n')
        self.assert_prints(self.config("get", "env.library_path"), "none\n")
        self.assert_set(["set", "env.compiler_paths", "true"], '[env]\nlibrary_path = "none"\ncompiler_paths = true\n')
        self.assert_set(["unset", "env.library_path"], "[env]\ncompiler_paths = true\n")
        self.assert_prints(self.config("get", "env.library_path"), "shims\n")

    def test_unset_of_what_is_not_set(self):
        self.assert_prints(self.config("unset", "mirror"), "")
        self.assertFalse(self.file.exists())

    def test_lists(self):
        self.assert_set(["set", "mirror", "https://a.example/x", "/srv/b c"], 'mirror = ["https://a.example/x", "/srv/b c"]\n')
        self.assert_prints(self.config("get", "mirror"), "https://a.example/x\n/srv/b c\n")
        self.assert_set(["set", "mirror", 'a"\\\x01'], 'mirror = "a\\"\\\\\\u0001"\n')
        self.assert_prints(self.config("get", "mirror"), 'a"\\\x01\n')

    def test_comments_and_order_are_kept(self):
        self.box.write(self.file, FILE)
        self.assert_set(["set", "env.library_path", "toolkit"], FILE.replace("'none'", '"toolkit"'))
        self.assert_set(["set", "mirror", "/a", "/b"], FILE.replace("'none'", '"toolkit"').replace(
            '"https://mirror.example/cuda"', '["/a", "/b"]'))
        self.assert_set(["unset", "mirror"], FILE.replace("'none'", '"toolkit"').replace(
            'mirror = "https://mirror.example/cuda"  # the office\'s\n', ""))

    def test_value_over_several_lines(self):
        text = 'mirror = [  # in order\n  "https://a.example/]",  # "first"\n  \'/b#\',\n]  # end\nnetwork.allow_http = true\n'
        self.box.write(self.file, text)
        self.assert_prints(self.config("get", "mirror"), "https://a.example/]\n/b#\n")
        self.assert_set(["set", "mirror", "/c"], 'mirror = "/c"  # end\nnetwork.allow_http = true\n')
        self.box.write(self.file, text)
        self.assert_set(["unset", "mirror"], "network.allow_http = true\n")

    def test_dotted_key(self):
        self.box.write(self.file, 'env.library_path = "none"\n')
        self.assert_set(["set", "env.library_path", "toolkit"], 'env.library_path = "toolkit"\n')
        self.assert_set(["unset", "env.library_path"], "")

    def test_file_without_a_final_newline(self):
        self.box.write(self.file, '[env]\nlibrary_path = "none"')
        self.assert_set(["set", "env.compiler_paths", "true"], '[env]\nlibrary_path = "none"\ncompiler_paths = true\n')

    def test_windows_line_ends(self):
        self.box.write(self.file, b'[env]\r\nlibrary_path = "none"\r\n')
        self.assert_prints(self.config("set", "env.library_path", "toolkit"), "")
        self.assertEqual(self.file.read_bytes(), b'[env]\r\nlibrary_path = "toolkit"\r\n')

    def test_what_cannot_be_changed_safely_is_left_alone(self):
        for text in ('env = { library_path = "none" }\n', '"env".library_path = "none"\n', '[env]\n"library_path" = "none"\n'):
            with self.subTest(text=text):
                self.box.write(self.file, text)
                for arguments in (["set", "env.library_path", "toolkit"], ["unset", "env.library_path"]):
                    self.assert_fails(self.config(*arguments), 2, f"{self.file} is written in a way", "try: ${EDITOR:-vi}")
                self.assertEqual(self.file.read_text(), text)

    def test_link_stays_a_link(self):
        target = self.box.write("dotfiles/cudaenv.toml", "")
        self.file.symlink_to(target)
        self.assert_prints(self.config("set", "env.library_path", "none"), "")
        self.assertTrue(self.file.is_symlink())
        self.assertEqual(target.read_text(), '[env]\nlibrary_path = "none"\n')

    def test_number(self):
        self.assert_prints(self.config("get", "network.idle_timeout"), "30\n")
        self.assert_set(["set", "network.idle_timeout", "3600"], "[network]\nidle_timeout = 3600\n")
        self.assert_prints(self.config("get", "network.idle_timeout"), "3600\n")
        self.assert_set(["set", "network.idle_timeout", "1"], "[network]\nidle_timeout = 1\n")
        self.assert_prints(self.config("get", "network.idle_timeout", env={"CUDAENV_NETWORK_IDLE_TIMEOUT": "7"}), "7\n")
        self.assert_fails(self.config("list", env={"CUDAENV_NETWORK_IDLE_TIMEOUT": "0"}), 2,
                          'CUDAENV_NETWORK_IDLE_TIMEOUT: network.idle_timeout cannot be "0"',
                          "try: unset CUDAENV_NETWORK_IDLE_TIMEOUT\n")

    def test_unknown_key(self):
        for action in (["get", "env.libary_path"], ["set", "env.libary_path", "none"], ["unset", "env.libary_path"]):
            self.assert_fails(self.config(*action), 2, 'there is no setting "env.libary_path"', "env.library_path\n")
        self.assert_fails(self.config("get", "colour"), 2, "try: cudaenv config list")
        self.assertFalse(self.file.exists())

    def test_bad_value(self):
        self.assert_fails(self.config("set", "env.library_path", "lib"), 2, 'env.library_path cannot be "lib"',
                          "expected one of none, shims, toolkit", "try: cudaenv config set env.library_path none")
        self.assert_fails(self.config("set", "env.library_path", "none", "shims"), 2, '"none shims"')
        self.assert_fails(self.config("set", "env.compiler_paths", "yes"), 2, "expected true or false")
        for value in ("0", "3601", "-1", "+5", "5s", "1.5", "0x10", " 5", "", "99999999999999999999"):
            self.assert_fails(self.config("set", "--", "network.idle_timeout", value), 2,
                              f'network.idle_timeout cannot be "{value}"', "expected a whole number from 1 to 3600",
                              "try: cudaenv config set network.idle_timeout 30")
        self.assert_fails(self.config("set", "install.jobs", "1", "2"), 2, '"1 2"')
        self.assertFalse(self.file.exists())

    def test_read_only_root(self):
        self.box.root.chmod(0o555)
        self.assert_fails(self.as_user("config", "set", "env.library_path", "none"), 8, self.file, "Permission denied")


class Reading(ConfigTest):
    def test_list_says_who_set_each(self):
        self.box.write(self.file, 'mirror = "https://mirror.example/cuda"\n[env]\nlibrary_path = "none"\n')
        self.select("12.4")
        self.box.write(self.box.project / ".cudaenv.toml", "[env]\ncompiler_paths = true\n")
        result = self.config(env={"CUDAENV_NETWORK_ALLOW_HTTP": "true"})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        lines = result.stdout.decode().splitlines()
        for line in (f"env.compiler_paths = true  ({self.box.project}/.cudaenv.toml)", f"env.library_path = none  ({self.file})",
                     f"mirror = https://mirror.example/cuda  ({self.file})", "network.allow_http = true  (CUDAENV_NETWORK_ALLOW_HTTP)"):
            self.assertIn(line, lines)
        self.assertEqual(self.config("list", env={"CUDAENV_NETWORK_ALLOW_HTTP": "true"}).stdout, result.stdout)

    def test_variable_project_file_root_file_shared_file(self):
        shared = self.box.write("sw/config.toml", '[env]\nlibrary_path = "toolkit"\n').parent
        env = {"CUDAENV_SHARED_ROOT": str(shared)}
        get = lambda **more: self.config("get", "env.library_path", env={**env, **more}).stdout.decode().strip()
        self.assertEqual(get(), "toolkit")
        self.box.write(self.file, '[env]\nlibrary_path = "none"\n')
        self.assertEqual(get(), "none")
        self.select("12.4")
        self.box.write(self.box.project / ".cudaenv.toml", '[env]\nlibrary_path = "shims"\n')
        self.assertEqual(get(), "shims")
        self.assertEqual(get(CUDAENV_ENV_LIBRARY_PATH="toolkit"), "toolkit")
        self.assertEqual(get(CUDAENV_ENV_LIBRARY_PATH=""), "shims")

    def test_variable_of_a_list_has_lines_or_blanks_between_addresses_and_absolute_paths(self):
        for value, mirrors in ((" /a  https://b.example ", "/a\nhttps://b.example\n"), ("/a b", "/a b\n"),
                               ("a b", "a b\n"), ("/a b\n/c file:/d\n\n", "/a b\n/c\nfile:/d\n"), ("..", "..\n")):
            with self.subTest(value=value):
                self.assert_prints(self.config("get", "mirror", env={"CUDAENV_MIRROR": value}), mirrors)

    def test_unset_never_cuts_a_line_out_of_another_value(self):
        text = 'mirror = """\n/srv/a\n[env]\nlibrary_path = 1\n"""\n'
        self.box.write(self.file, text)
        self.assert_fails(self.config("unset", "env.library_path"), 2, "cannot be changed safely")
        self.assertEqual(self.file.read_text(), text)

    def test_bad_variable_is_named(self):
        self.assert_fails(self.config("list", env={"CUDAENV_ENV_COMPILER_PATHS": "1"}), 2, "CUDAENV_ENV_COMPILER_PATHS: ",
                          "expected true or false", "try: unset CUDAENV_ENV_COMPILER_PATHS\n")

    def test_a_hint_fits_where_the_value_stands(self):
        bad = '[env]\nlibrary_path = "lib"\n'
        self.box.write(self.file, bad)
        self.assert_fails(self.config("list"), 2, self.file, "try: cudaenv config set env.library_path none\n")
        self.file.unlink()
        shared = self.box.write("sw/config.toml", bad)
        self.assert_fails(self.config("list", env={"CUDAENV_SHARED_ROOT": str(shared.parent)}), 2,
                          f"try: ${{EDITOR:-vi}} {shared}\n")
        self.select("12.4")
        project = self.box.write(self.box.project / ".cudaenv.toml", bad)
        self.assert_fails(self.config("list"), 2, f"try: ${{EDITOR:-vi}} {project}\n")

    def test_a_shared_file_that_is_not_for_us_is_not_there(self):
        shared = self.box.write("sw/config.toml", '[env]\nlibrary_path = "toolkit"\n', mode=0o600)
        os.chown(shared, 0, 0) if os.geteuid() == 0 else shared.chmod(0)
        env = {"CUDAENV_SHARED_ROOT": str(shared.parent)}
        self.assert_prints(self.as_user("config", "get", "env.library_path", env=env), "shims\n")
        self.box.write(self.file, "", mode=0o600)
        os.chown(self.file, 0, 0) if os.geteuid() == 0 else self.file.chmod(0)
        self.assert_fails(self.as_user("config", "list", env=env), 8, self.file, "Permission denied")

    def test_paths_are_told_without_control_bytes(self):
        project = self.box.project / "\x1b[2J"
        self.box.write(project / ".cuda-version", "12.4\n")
        for text in ("[", "\x1b]0;x\x07", '"\x1b', "[env]\nlibrary_path = 3\n", '[env]\nlibrary_path = "\\u001b"\n'):
            self.box.write(project / ".cudaenv.toml", text)
            self.box.write(self.file, text)
            for arguments, cwd in ((["list"], project), (["set", "mirror", "/a"], None)):
                error = self.config(*arguments, cwd=cwd).stderr
                self.assertNotIn(b"\x1b", error)
                self.assertNotIn(b"\x07", error)
            self.file.unlink()
            error = self.config("list", cwd=project).stderr
            self.assertIn(b"/\\x1b[2J/.cudaenv.toml", error)
            self.assertNotIn(b"\x1b", error)

    def test_broken_file_names_the_line(self):
        text = '[env]\nlibrary_path = "none\n'
        self.box.write(self.file, text)
        for arguments in (["list"], ["get", "mirror"], ["set", "env.library_path", "none"], ["unset", "mirror"]):
            self.assert_fails(self.config(*arguments), 2, f"{self.file}: line 2", f"try: ${{EDITOR:-vi}} {self.file}\n")
        self.assertEqual(self.file.read_text(), text)
        self.select("12.4")
        self.assert_prints(self.cudaenv("version"), f"12.4.1 (set by {self.box.project}/.cuda-version:1)\n")

    def test_value_of_another_type(self):
        for text, says, hint in (("[env]\nlibrary_path = 3\n", "env.library_path is the number 3", "set env.library_path none"),
                                 ("[env.library_path]\nx = 1\n", "env.library_path is a table", "set env.library_path none"),
                                 ("[env]\ncompiler_paths = 'true'\n", 'env.compiler_paths is the text "true"',
                                  "set env.compiler_paths false"),
                                 ("network.idle_timeout = '30'\n", 'network.idle_timeout is the text "30"',
                                  "set network.idle_timeout 30"),
                                 ("network.idle_timeout = 30.0\n", "network.idle_timeout is the number 30",
                                  "set network.idle_timeout 30"),
                                 ("install.jobs = true\n", "install.jobs is true", "set install.jobs 0"),
                                 ("install.keep_archives = 1\n", "install.keep_archives is the number 1",
                                  "set install.keep_archives false"),
                                 ("mirror = ['/a', 1]\n", "mirror is a list that holds the number 1", "unset mirror")):
            self.box.write(self.file, text)
            self.assert_fails(self.config("list"), 2, f"{self.file}: {says}\n", "expected ", f"try: cudaenv config {hint}\n")
        self.box.write(self.file, "env = 1\n")
        self.assertIn(b"there is no setting env", self.config("list").stderr)

    def test_unknown_key_is_a_warning_with_the_nearest(self):
        self.box.write(self.file, '[env]\nlibary_path = "none"\n[plugins]\nx = 1\n')
        result = self.config("get", "env.library_path")
        self.assertEqual((result.returncode, result.stdout), (0, b"shims\n"))
        self.assertEqual(result.stderr.decode(),
                         f"cudaenv: warning: {self.file}: there is no setting env.libary_path, did you mean env.library_path?\n"
                         f"cudaenv: warning: {self.file}: there is no setting plugins.x\n")

    def test_project_cannot_set_the_mirror(self):
        self.select("12.4")
        project = self.box.write(self.box.project / ".cudaenv.toml", 'mirror = "http://evil.example"\nnetwork.allow_http = true\n')
        result = self.config("get", "mirror")
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        for key in ("mirror", "network.allow_http"):
            self.assertIn(f"{project}: {key} cannot be set by a project and is ignored", result.stderr.decode())


class Gate(ConfigTest):
    def project(self, text):
        self.select("12.4")
        return self.box.write(self.box.project / ".cudaenv.toml", text)

    def assert_mode(self, value, **variables):
        self.assert_prints(self.config("get", "gate.mode", env=variables), value + "\n")

    def test_defaults(self):
        self.assert_mode("on")
        self.assert_prints(self.config("get", "gate.limited"), "warn\n")

    def test_set_get_unset(self):
        self.assert_set(["set", "gate.mode", "off"], '[gate]\nmode = "off"\n')
        self.assert_set(["set", "gate.limited", "refuse"], '[gate]\nmode = "off"\nlimited = "refuse"\n')
        self.assert_mode("off")
        self.assert_set(["unset", "gate.mode"], '[gate]\nlimited = "refuse"\n')
        self.assert_mode("on")

    def test_the_short_variable_comes_first_and_is_named(self):
        self.assert_mode("off", CUDAENV_GATE="off", CUDAENV_GATE_MODE="warn")
        self.assert_mode("on", CUDAENV_GATE="on", CUDAENV_GATE_MODE="off")
        self.assert_mode("warn", CUDAENV_GATE="", CUDAENV_GATE_MODE="warn")
        self.assert_mode("on", CUDAENV_GATE="", CUDAENV_GATE_MODE="")
        for variables, name in (({"CUDAENV_GATE": "off", "CUDAENV_GATE_MODE": "warn"}, "off  (CUDAENV_GATE)"),
                                ({"CUDAENV_GATE_MODE": "warn"}, "warn  (CUDAENV_GATE_MODE)")):
            self.assertIn(f"gate.mode = {name}", self.config("list", env=variables).stdout.decode().splitlines())

    def test_there_is_no_short_variable_for_the_other(self):
        self.assert_prints(self.config("get", "gate.limited", env={"CUDAENV_LIMITED": "refuse"}), "warn\n")
        self.assert_prints(self.config("get", "gate.limited", env={"CUDAENV_GATE_LIMITED": "refuse"}), "refuse\n")

    def test_a_variable_comes_before_every_file(self):
        self.box.write(self.file, '[gate]\nmode = "warn"\n')
        self.project('[gate]\nmode = "on"\n')
        self.assert_mode("on")
        self.assert_mode("off", CUDAENV_GATE="off")
        self.assert_mode("warn", CUDAENV_GATE_MODE="warn")

    def test_a_project_can_make_it_stricter(self):
        for own, project in (("off", "on"), ("off", "warn"), ("warn", "on"), ("on", "on"), ("off", "off")):
            with self.subTest(own=own, project=project):
                self.box.write(self.file, f'[gate]\nmode = "{own}"\n')
                file = self.project(f'[gate]\nmode = "{project}"\n')
                self.assert_mode(project)
                self.assertIn(f"gate.mode = {project}  ({file})", self.config("list").stdout.decode().splitlines())
        self.project('[gate]\nlimited = "refuse"\n')
        self.assert_prints(self.config("get", "gate.limited"), "refuse\n")

    def test_a_project_cannot_make_it_looser(self):
        for own, project in (("on", "off"), ("on", "warn"), ("warn", "off"), (None, "off"), (None, "warn")):
            with self.subTest(own=own, project=project):
                self.file.unlink(missing_ok=True)
                if own:
                    self.box.write(self.file, f'[gate]\nmode = "{own}"\n')
                file = self.project(f'[gate]\nmode = "{project}"\n')
                self.assert_prints(self.config("get", "gate.mode"), (own or "on") + "\n",
                                   f'cudaenv: warning: {file}: gate.mode = "{project}" is ignored: '
                                   "a project can make the gate stricter, not looser\n")
        self.box.write(self.file, '[gate]\nlimited = "refuse"\n')
        self.project('gate.limited = "warn"\n')
        result = self.config("get", "gate.limited")
        self.assertEqual(result.stdout, b"refuse\n")
        self.assertIn(b"gate.limited", result.stderr)

    def test_a_project_cannot_undo_what_the_shared_root_says(self):
        shared = self.box.write("sw/config.toml", '[gate]\nlimited = "refuse"\n').parent
        self.project('[gate]\nlimited = "warn"\n')
        result = self.config("get", "gate.limited", env={"CUDAENV_SHARED_ROOT": str(shared)})
        self.assertEqual(result.stdout, b"refuse\n")

    def test_the_users_own_file_can_be_looser_than_the_shared_one(self):
        shared = self.box.write("sw/config.toml", '[gate]\nmode = "on"\n').parent
        self.box.write(self.file, '[gate]\nmode = "off"\n')
        self.assert_mode("off", CUDAENV_SHARED_ROOT=str(shared))

    def test_bad_values(self):
        for variable in ("CUDAENV_GATE", "CUDAENV_GATE_MODE"):
            for value in ("maybe", "ON", " on", "on ", "true", "0", "refuse"):
                self.assert_fails(self.config("list", env={variable: value}), 2, f"{variable}: gate.mode cannot be",
                                  "expected one of on, warn, off", f"try: unset {variable}\n")
        self.assert_fails(self.config("list", env={"CUDAENV_GATE_LIMITED": "off"}), 2, "CUDAENV_GATE_LIMITED",
                          "expected one of refuse, warn")
        self.assert_fails(self.config("set", "gate.mode", "refuse"), 2, "gate.mode", "on, warn, off")
        self.assertFalse(self.file.exists())

    def test_values_of_another_type(self):
        for text, says in (("[gate]\nmode = true\n", "gate.mode is true"), ("[gate]\nmode = 0\n", "gate.mode is the number 0"),
                           ('[gate]\nmode = ["off"]\n', "gate.mode is a list"), ("[gate.mode]\nx = 1\n", "gate.mode is a table")):
            self.box.write(self.file, text)
            self.assert_fails(self.config("list"), 2, f"{self.file}: {says}\n", "try: cudaenv config set gate.mode on\n")
            self.file.unlink()
            project = self.project(text)
            self.assert_fails(self.config("list"), 2, f"{project}: {says}\n", f"try: ${{EDITOR:-vi}} {project}\n")
            project.unlink()

    def test_a_bad_value_in_a_project_is_an_error_though_it_would_be_looser(self):
        project = self.project('[gate]\nmode = "never"\n')
        self.assert_fails(self.config("list"), 2, f"{project}: gate.mode cannot be \"never\"")


if __name__ == "__main__":
    unittest.main()
