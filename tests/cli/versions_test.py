#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`version`, `versions` and `root`: what is selected, what is installed, and how it is printed."""

import json
import os
import pty
import pwd
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest
from support.sandbox import DEADLINE, PROGRAM


class Version(ProgramTest):
    def test_VER_01_line_endings(self):
        for text in ("12.4\r\n", "12.4\n", "12.4", "12.4\r", "\xef\xbb\xbf12.4\r\n", "\r\n# c\r\n\t 12.4 \r\n"):
            file = self.select(text)
            line = 1 if "#" not in text else 3
            self.assert_prints(self.cudaenv("version"), f"12.4.1 (set by {file}:{line})\n")

    def test_VER_01_root_variable_that_ends_in_a_carriage_return(self):
        before = self.tree()
        for command in (["version"], ["versions"], ["global", "12.4"], ["rehash"], ["config", "set", "mirror", "/x"]):
            with self.subTest(command=command):
                self.assert_fails(self.cudaenv(*command, env={"CUDAENV_ROOT": f"{self.box.root}\r"}), 2,
                                  f'CUDAENV_ROOT is "{self.box.root}\\x0d"', "try: unset CUDAENV_ROOT")
        self.assertEqual(self.tree(), before)

    def test_VER_02_file_that_holds_no_version(self):
        outside = self.box.tool("evil/bin", "nvcc", "echo evil").parent.parent
        for text in ("../../../../evil", str(outside), "12.4/../../x", ".", "..", "-rf", "12.4;id", "$(id)", "1" * 60000):
            with self.subTest(text=text[:20]):
                file = self.select(text + "\n")
                before = self.tree()
                for command in (["version"], ["which", "nvcc"], ["prefix"], ["env"], ["exec", "nvcc"]):
                    self.assert_fails(self.cudaenv(*command), 2, f"{file}:1: \"{text[:80]}", "is not a version",
                                      "expected a version such as 12", "try: cudaenv local VERSION")
                self.assertEqual(self.tree(), before)

    def test_VER_02_variable_that_holds_no_version(self):
        for text in ("../../../../evil", "..", "-rf", "12.4;id", "$(id)", "1" * 60000):
            self.assert_fails(self.cudaenv("version", env={"CUDAENV_VERSION": text}), 2, "CUDAENV_VERSION: ", "is not a version")

    def test_VER_02_argument_that_is_no_version(self):
        for text in ("../../tmp/x", "..", "12.4;id", "$(id)"):
            for command in ("prefix", "env"):
                self.assert_fails(self.cudaenv(command, text), 2, f'"{text}" is not a version')
            self.assert_fails(self.cudaenv("exec", "-v", text, "--", "nvcc"), 2, f'"{text}" is not a version')

    def test_file_in_other_encodings_and_too_large(self):
        self.select("\xff\xfe1\x002\x00")
        self.assert_fails(self.cudaenv("version"), 2, "is saved as UTF-16")
        self.select("12.4\n".ljust(64 * 1024, "#"))
        self.assertEqual(self.cudaenv("version").returncode, 0)
        self.select("12.4\n".ljust(64 * 1024 + 1, "#"))
        self.assert_fails(self.cudaenv("version"), 2, "is larger than 64 KiB")

    def test_unreadable_file_is_an_error_that_names_it(self):
        file = self.select("12.4")
        file.chmod(0)
        for command in (["version"], ["which", "nvcc"], ["local"]):
            self.assert_fails(self.as_user(*command), 8, f"cannot read {file}: Permission denied")

    def test_VER_07_not_installed(self):
        file = self.select("# pinned\n11.8\n")
        error = ("cudaenv: CUDA 11.8 is not installed (set by " + str(file) + ":2)\n"
                 "  installed: 12.4.1, 12.8.1\n"
                 "try: cudaenv install 11.8\n")
        for command in (["version"], ["current"], ["which", "nvcc"], ["prefix"], ["env"], ["exec", "--", "nvcc"]):
            self.assertEqual(self.assert_fails(self.cudaenv(*command), 4), error)

    def test_VER_09_newest_installed_by_number(self):
        for release in ("12.9.1", "12.10.0", "13.0.2"):
            self.box.toolkit(release)
        for spec, release in (("12", "12.10.0"), ("12.4", "12.4.1"), ("latest", "13.0.2"), ("auto", "13.0.2"), ("v13.0", "13.0.2")):
            file = self.select(spec)
            self.assert_prints(self.cudaenv("version"), f"{release} (set by {file}:1)\n")

    def test_order_of_what_selects(self):
        self.assert_prints(self.cudaenv("version"), "system (nothing selects a toolkit here)\n")
        above = self.box.write(self.box.root / "version", "12.4")
        self.assert_prints(self.cudaenv("version"), f"12.4.1 (set by {above}:1)\n")
        file = self.select("12.8", self.box.home)
        self.assert_prints(self.cudaenv("version"), f"12.8.1 (set by {file}:1)\n")
        self.assert_prints(self.cudaenv("version", env={"CUDAENV_VERSION": "12.4"}),
                           "12.4.1 (set by the variable CUDAENV_VERSION)\n")
        self.assert_prints(self.cudaenv("version", env={"CUDAENV_VERSION": "system"}),
                           "system (set by the variable CUDAENV_VERSION)\n")

    def test_what_is_skipped_is_told_once(self):
        above = self.select("12.4", self.box.home)
        file = self.box.project / ".cuda-version"
        expected = f"12.4.1 (set by {above}:1)\n"
        self.select("# only a comment\n")
        self.assert_prints(self.cudaenv("version"), expected, f"cudaenv: warning: {file} is empty and is skipped\n")
        file.unlink()
        os.mkfifo(file)
        self.assert_prints(self.cudaenv("version"), expected, f"cudaenv: warning: {file} is not a file and is skipped\n")
        file.unlink()
        file.mkdir()
        self.assert_prints(self.cudaenv("-q", "version"), expected, f"cudaenv: warning: {file} is not a file and is skipped\n")

    def test_further_word_is_told(self):
        file = self.select("12.4\n\n12.8\n")
        self.assert_prints(self.cudaenv("version"), f"12.4.1 (set by {file}:1)\n",
                           f'cudaenv: warning: {file}:3: only the first version counts, "12.8" is ignored\n')


class Versions(ProgramTest):
    def test_selected_one_is_starred_with_its_origin(self):
        file = self.select("12.4")
        self.assert_prints(self.cudaenv("versions"), f"* 12.4.1 (set by {file}:1)\n  12.8.1\n")
        self.assert_prints(self.cudaenv("list"), f"* 12.4.1 (set by {file}:1)\n  12.8.1\n")

    def test_system_is_starred_where_nothing_selects(self):
        self.assert_prints(self.cudaenv("versions"), "* system (nothing selects a toolkit here)\n  12.4.1\n  12.8.1\n")

    def test_order_is_numeric_and_leftovers_are_none(self):
        self.box.toolkit("12.10.0")
        self.box.tool(self.box.root / "versions" / "12.9.0" / "bin", "nvcc")  # no receipt
        self.box.toolkit(".staging-1")
        self.assert_prints(self.cudaenv("versions", "--bare"), "12.4.1\n12.8.1\n12.10.0\n")

    def test_adopted_ones_show_where_they_are(self):
        self.box.tool("opt/cuda/bin", "nvcc")
        (self.box.root / "versions" / "distro").symlink_to(self.box.top / "opt" / "cuda")
        self.select("12.8")
        self.assertIn(f"  distro -> {self.box.top}/opt/cuda\n", self.cudaenv("versions").stdout.decode())

    def test_shared_ones_are_marked_and_own_ones_hide_them(self):
        shared = self.box.top / "sw"
        self.box.toolkit("13.0.2", root=shared)
        self.box.toolkit("12.4.1", root=shared)
        file = self.select("13")
        self.assert_prints(self.cudaenv("versions", env={"CUDAENV_SHARED_ROOT": str(shared)}),
                           f"  12.4.1\n  12.8.1\n* 13.0.2 (shared) (set by {file}:1)\n")

    def test_missing_selection_is_a_warning(self):
        file = self.select("11.8")
        self.assert_prints(self.cudaenv("versions"), "  12.4.1\n  12.8.1\n",
                           f"cudaenv: warning: CUDA 11.8 is not installed (set by {file}:1)\n")

    def test_empty_list_says_what_to_type(self):
        result = self.cudaenv("versions", env={"CUDAENV_ROOT": str(self.box.top / "none")})
        self.assertEqual((result.returncode, result.stdout), (0, b"* system (nothing selects a toolkit here)\n"))
        self.assertIn(b"cudaenv install --list", result.stderr)
        self.assert_prints(self.cudaenv("versions", "--bare", "--quiet", env={"CUDAENV_ROOT": str(self.box.top / "none")}), "")

    def test_json_has_stable_keys(self):
        file = self.select("# c\n12.4\n")
        result = self.cudaenv("versions", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(json.loads(result.stdout), {
            "versions": [{"name": release, "release": release, "directory": str(self.box.root / "versions" / release),
                          "adopted_from": None, "shared": False, "missing": False, "selected": release == "12.4.1"}
                         for release in ("12.4.1", "12.8.1")],
            "selected": {"spec": "12.4", "name": "12.4.1",
                         "origin": {"kind": "project", "path": str(file), "line": 2}}})
        nothing = json.loads(self.cudaenv("versions", "--json", env={"CUDAENV_ROOT": str(self.box.top / "none"),
                                                                     "CUDAENV_VERSION": "12.9"}).stdout)
        self.assertEqual(nothing, {"versions": [], "selected": {"spec": "12.9", "name": None, "origin": {
            "kind": "variable", "path": "CUDAENV_VERSION", "line": None}}})

    def test_adopted_one_whose_directory_is_gone(self):
        for name in ("distro", "13.0.2"):
            (self.box.root / "versions" / name).symlink_to("/gone/cuda")
        file = self.select("13.0")
        result = self.cudaenv("versions")
        self.assertEqual(result.stdout.decode(), "  distro -> /gone/cuda (missing)\n  12.4.1\n  12.8.1\n"
                                                 "  13.0.2 -> /gone/cuda (missing)\n")
        self.assert_fails(self.cudaenv("version"), 4, f"CUDA 13.0 is not installed (set by {file}:1)")
        self.assert_prints(self.cudaenv("versions", "--bare"), "12.4.1\n12.8.1\n")
        listed = json.loads(self.cudaenv("versions", "--json").stdout)["versions"]
        self.assertEqual([(entry["name"], entry["selected"]) for entry in listed if entry["missing"]],
                         [("distro", False), ("13.0.2", False)])

    def test_missing_one_does_not_hide_a_shared_one(self):
        shared = self.box.top / "sw"
        self.box.toolkit("13.0.2", root=shared)
        (self.box.root / "versions" / "13.0.2").symlink_to("/gone/cuda")
        file = self.select("13.0.2")
        self.assert_prints(self.cudaenv("versions", env={"CUDAENV_SHARED_ROOT": str(shared)}),
                           "  12.4.1\n  12.8.1\n  13.0.2 -> /gone/cuda (missing)\n"
                           f"* 13.0.2 (shared) (set by {file}:1)\n")

    def test_SYS_03_shared_root_that_others_lock_up(self):
        shared = self.box.top / "sw"
        self.box.toolkit("13.0.2", root=shared)
        env = {"CUDAENV_SHARED_ROOT": str(shared)}
        shared.chmod(0)
        self.addCleanup(shared.chmod, 0o755)
        file = self.select("12.4")
        self.assert_prints(self.as_user("version", env=env), f"12.4.1 (set by {file}:1)\n")
        self.assert_prints(self.as_user("versions", env=env), f"* 12.4.1 (set by {file}:1)\n  12.8.1\n")
        self.assert_prints(self.as_user("whence", "nvcc", env=env), "12.4.1\n12.8.1\n")

    def test_origin_with_terminal_codes_is_escaped(self):
        odd = self.box.project / "x\x1b[2J"
        self.select("12.4", odd)
        self.assertNotIn(b"\x1b", self.cudaenv("versions", cwd=odd).stdout)

    def test_json_of_odd_names_is_json(self):
        odd = self.box.project / os.fsdecode(b"caf\xe9 \"\\\n")
        self.select("12.4", odd)
        document = json.loads(self.cudaenv("versions", "--json", cwd=odd).stdout.decode("utf-8"))
        self.assertEqual(document["selected"]["name"], "12.4.1")

    def test_bare_and_json_exclude_each_other(self):
        self.assert_fails(self.cudaenv("versions", "--bare", "--json"), 2, "--bare excludes --json")


class Places(ProgramTest):
    def test_root_is_home_or_the_variable(self):
        self.assert_prints(self.cudaenv("root"), f"{self.box.root}\n")
        self.assert_prints(self.cudaenv("root", env={"CUDAENV_ROOT": "/x/y//"}), "/x/y\n")
        self.assert_prints(self.cudaenv("root", env={"CUDAENV_ROOT": ""}), f"{self.box.root}\n")
        for bad in ("x", ".", "~/x", "/x\ny"):
            self.assert_fails(self.cudaenv("root", env={"CUDAENV_ROOT": bad}), 2, "CUDAENV_ROOT is ", "absolute path")
        self.assert_fails(self.cudaenv("root", env={"CUDAENV_SHARED_ROOT": "x"}), 2, "CUDAENV_SHARED_ROOT is ")

    def test_home_that_says_nothing_usable_is_looked_up(self):
        home = pwd.getpwuid(os.geteuid()).pw_dir
        before = self.tree()
        for value in (None, "", "relative", "."):
            self.assert_prints(self.cudaenv("root", env={"HOME": value}), f"{home.rstrip('/')}/.cudaenv\n")
        self.assertEqual(self.tree(), before)

    def test_SYS_03_read_only_root_prints_nothing_extra(self):
        shared = self.box.top / "sw"
        self.box.toolkit("13.0.2", root=shared)
        file = self.select("12.4")
        for place, _, _ in os.walk(self.box.top):
            os.chmod(place, 0o555)
        before, env = self.tree(), {"CUDAENV_SHARED_ROOT": str(shared)}
        self.assert_prints(self.as_user("version", env=env), f"12.4.1 (set by {file}:1)\n")
        self.assert_prints(self.as_user("versions", env=env), f"* 12.4.1 (set by {file}:1)\n  12.8.1\n  13.0.2 (shared)\n")
        self.assert_prints(self.as_user("which", "nvcc", env=env), f"{self.old}/bin/nvcc\n")
        self.assert_prints(self.as_user("exec", "nvcc", env=env), f"{self.old}/bin/nvcc\n")
        self.assert_prints(self.as_user("exec", "-v", "13", "nvcc", env=env), f"{shared}/versions/13.0.2/bin/nvcc\n")
        self.assertEqual(self.as_user("env", env=env).stderr, b"")
        self.assertEqual(self.tree(), before)


class Printing(ProgramTest):
    def on_a_terminal(self, *arguments, **env):
        """What stderr shows on a terminal."""
        self.select("11.8")
        leader, follower = pty.openpty()
        variables = {**self.box.environment, "PWD": str(self.box.project), **env}
        subprocess.run([PROGRAM, *arguments, "version"], cwd=self.box.project, env=variables, stderr=follower, timeout=DEADLINE)
        os.close(follower)
        with open(leader, "rb") as terminal:
            text = terminal.readline()
        self.assertIn(b"CUDA 11.8 is not installed", text)
        return text

    def colored(self, *arguments, **env):
        self.select("11.8")
        return b"\x1b[" in self.cudaenv(*arguments, "version", env=env).stderr

    def test_SYS_07_no_colour_without_a_terminal(self):
        self.assertFalse(self.colored())
        self.assertFalse(self.colored(TERM="xterm"))
        self.assertFalse(self.colored("--color", "auto"))

    def test_colour_on_a_terminal(self):
        self.assertIn(b"\x1b[", self.on_a_terminal(TERM="xterm"))
        self.assertNotIn(b"\x1b[", self.on_a_terminal(TERM="dumb"))
        self.assertNotIn(b"\x1b[", self.on_a_terminal())  # SYS-07: TERM unset
        self.assertNotIn(b"\x1b[", self.on_a_terminal(TERM="xterm", NO_COLOR="1"))
        self.assertNotIn(b"\x1b[", self.on_a_terminal("--color=never", TERM="xterm"))

    def test_colour_by_word(self):
        self.assertTrue(self.colored("--color", "always"))
        self.assertTrue(self.colored("--color=always", NO_COLOR="1"))
        self.assertTrue(self.colored(CLICOLOR_FORCE="1"))
        self.assertFalse(self.colored(CLICOLOR_FORCE="0"))
        self.assertFalse(self.colored(CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertFalse(self.colored("--color", "never", CLICOLOR_FORCE="1"))

    def test_data_is_never_coloured(self):
        self.assertNotIn(b"\x1b", self.cudaenv("--color", "always", "versions").stdout)

    def test_stdout_that_is_full(self):
        for command in (["version"], ["versions", "--json"], ["help"], ["env", "12.4"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, env=self.box.environment,
                                        cwd=self.box.project, timeout=DEADLINE)
            self.assertEqual((result.returncode, result.stderr),
                             (8, b"cudaenv: cannot write to stdout: No space left on device\n"))

    def test_reader_that_has_gone(self):
        for index in range(300):  # more than one buffer
            self.box.toolkit(f"name-{index:050}")
        for prepare in ("", "trap '' PIPE; "):
            reader, writer = os.pipe()
            os.close(reader)
            result = self.box.run("/bin/sh", "-c", f"{prepare}\"$0\" versions >&{writer}", PROGRAM, pass_fds=[writer])
            os.close(writer)
            self.assertEqual(re.sub(rb"(?i).*broken pipe.*\n", b"", result.stderr), b"")
            self.assertIn(result.returncode, (0, 141))


class Sizes(ProgramTest):
    """`versions --size`."""

    def setUp(self):
        super().setUp()
        self.large = self.box.write(self.old / "lib/large", b"x" * (1 << 20))

    def sizes(self):
        result = self.cudaenv("versions", "--size", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        return {toolkit["name"]: (toolkit["size"], toolkit["shared_size"]) for toolkit in document["versions"]}, document

    def blocks(self, *tops):
        """What the system says that these take, each file once."""
        files = {(info.st_dev, info.st_ino): info.st_blocks * 512
                 for top in tops for path in [top, *top.rglob("*")] for info in [path.lstat()]}
        return sum(files.values())

    def test_own_shared_and_in_all(self):
        sizes, document = self.sizes()
        self.assertEqual(sizes, {"12.4.1": (self.blocks(self.old), 0), "12.8.1": (self.blocks(self.new), 0)})
        own, size = self.blocks(self.new), self.large.stat().st_blocks * 512
        os.link(self.large, self.new / "bin/large")
        os.link(self.large, self.new / "bin/again")
        sizes, document = self.sizes()
        self.assertEqual(sizes, {"12.4.1": (self.blocks(self.old) - size, size), "12.8.1": (own, size)})
        self.assertEqual(document["total_size"], self.blocks(self.old, self.new))

    def test_own_is_what_uninstalling_frees(self):
        os.link(self.large, self.new / "bin/large")
        before = self.blocks(self.box.root / "versions")
        own = self.sizes()[0]["12.8.1"][0]
        self.assertEqual(self.cudaenv("uninstall", "12.8.1").returncode, 0)
        after = self.blocks(self.box.root / "versions")
        self.assertLessEqual(abs(before - after - own), 4096)  # the directory of all may shrink as well

    def test_in_words(self):
        os.link(self.large, self.new / "large")
        self.select("12.8")
        adopted = self.box.tool("theirs/bin", "nvcc").parent.parent
        self.box.write(adopted / "bin/nvcc.profile")
        self.assertEqual(self.cudaenv("adopt", str(adopted), "--name", "theirs").returncode, 0)
        lines = self.cudaenv("versions", "--size").stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["own", "shared", "toolkit"])
        self.assertRegex(lines[1], r"^ +- +-    theirs -> ")
        self.assertRegex(lines[2], r"^ +[\d.]+ k?B +1\.0 MB    12\.4\.1$")
        self.assertRegex(lines[3], r"^ +[\d.]+ k?B +1\.0 MB  \* 12\.8\.1 \(set by ")
        self.assertRegex(lines[4], r"^ +1\.\d MB +in all, each file once$")
        self.assertEqual(self.sizes()[0]["theirs"], (None, None))

    def test_only_when_asked_for(self):
        document = json.loads(self.cudaenv("versions", "--json").stdout)
        self.assertNotIn("size", document["versions"][0])
        self.assertNotIn("total_size", document)
        self.assert_fails(self.cudaenv("versions", "--size", "--bare"), 2, "excludes")


if __name__ == "__main__":
    unittest.main()
