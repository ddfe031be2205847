# SPDX-License-Identifier: Apache-2.0
"""Every #include of the product against the table in dependencies.txt, so that arrows between folders go one way."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("dependencies.txt")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# What does input or output, or asks the machine. Names of C++ headers and the usual POSIX ones.
IO_HEADERS = {"fstream", "iostream", "filesystem", "thread", "cstdio", "stdio.h", "fcntl.h", "unistd.h", "dirent.h",
              "chrono", "ctime", "random", "future", "mutex", "csignal", "sys/stat.h", "sys/types.h", "dlfcn.h"}
SYSTEM = re.compile(r"^(sys/|arpa/|netinet/|linux/|[a-z_0-9]+$|[a-z_0-9]+\.h$)")


class Rule:
    def __init__(self, folder, allowed):
        self.folder, self.allowed, self.third_party, self.only, self.no_io = folder, allowed, {}, None, False


def read_table(text):
    rules = []
    for line in text.splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        if not line.startswith(" "):
            folder, _, allowed = line.partition(":")
            rules.append(Rule(folder, allowed.split()))
        elif line.strip() == "no i/o":
            rules[-1].no_io = True
        elif line.strip().startswith("only "):
            rules[-1].only = set(line.split()[1:])
        else:
            header, _, files = line.strip().partition(" -> ")
            rules[-1].third_party[header] = files.split()
    return rules


def faults_of(rule, file, text):
    """What is wrong with the includes of one file, as lines."""
    own = rule.folder.split("/")[-1]
    for style, header in INCLUDE.findall(text):
        named = next((key for key in rule.third_party if header == key or (key.endswith("/") and header.startswith(key))), None)
        if named:
            files = rule.third_party[named]
            if files != ["any"] and file not in files:
                yield f"{file}: {header} belongs in {', '.join(files)}"
        elif style == '"':
            folder = header.split("/")[0] if "/" in header else own
            if folder != own and folder not in rule.allowed:
                yield f"{file}: {rule.folder} may not include {header}"
            elif folder != own and rule.only is not None and header not in rule.only:
                yield f"{file}: of {folder}, {rule.folder} may not include {header}"
        elif not SYSTEM.match(header):
            yield f"{file}: {header} is not in the table"
        elif header in ("archive.h", "archive_entry.h"):
            yield f"{file}: {header} is not in the table"
        elif rule.no_io and header in IO_HEADERS:
            yield f"{file}: {rule.folder} does no input or output, so not {header}"


class Includes(unittest.TestCase):
    def test_every_include_is_allowed_by_the_table(self):
        faults = []
        for rule in read_table(TABLE.read_text()):
            files = [path for path in (ROOT / rule.folder).iterdir() if path.suffix in (".hpp", ".cpp")]
            self.assertTrue(files, f"{rule.folder} has no files")
            for path in files:
                faults += faults_of(rule, path.relative_to(ROOT).as_posix(), path.read_text())
        self.assertEqual(faults, [], "\n".join(faults))

    def test_every_folder_with_code_is_in_the_table(self):
        folders = {path.parent.relative_to(ROOT).as_posix()
                   for top in ("src", "shims", "registry") for path in (ROOT / top).rglob("*.cpp")}
        self.assertEqual(folders, {rule.folder for rule in read_table(TABLE.read_text())})

    def test_a_wrong_include_is_seen(self):
        rule = read_table("src/core: base\n  fmt/ -> any\n  no i/o\n  only base/text.hpp\n")[0]
        for include in ('"store/roots.hpp"', '"base/files.hpp"', "<fstream>", "<curl/curl.h>", "<archive.h>"):
            with self.subTest(include):
                self.assertTrue(list(faults_of(rule, "src/core/x.cpp", f"#include {include}\n")))
        self.assertEqual(list(faults_of(rule, "src/core/x.cpp", '#include "base/text.hpp"\n#include <string>\n')), [])


if __name__ == "__main__":
    unittest.main()
