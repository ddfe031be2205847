#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library shim selects as everything else does: one more column of agreement_test.py."""

import functools
import os
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import agreement_test
from agreement_test import CASES, Column, TOOL, answer_of
from support.cudart import Missing, TEMPLATE, compile_c, stand_in, workshop
from support.sandbox import PROGRAM, Sandbox

SONAME = "libcudart.so.13"
# Answers with the path that it was opened by.
TELLING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
static int here;
const char *cudaPath(void) {
  Dl_info info;
  return dladdr(&here, &info) ? info.dli_fname : "?";
}
"""
ASKING = r"""
#include <stdio.h>
const char *cudaPath(void);
int main(void) { puts(cudaPath()); return 0; }
"""


@functools.lru_cache(maxsize=None)
def library():
    return stand_in(workshop() / "telling" / SONAME, SONAME, 13000, "-ldl", source=TELLING)


@functools.lru_cache(maxsize=None)
def shim():
    """As rehash makes it, in a root that is not there any more."""
    box = Sandbox()
    try:
        directory = box.toolkit("13.0.2") / "lib64"
        directory.mkdir()
        shutil.copy2(library(), directory)
        made = box.run(PROGRAM, "rehash", env={"CUDAENV_HOST_ROOT": str(box.top)})
        if made.returncode:
            raise AssertionError(made.stderr.decode())
        return shutil.copy2(box.shims / "lib" / SONAME, workshop() / SONAME)
    finally:
        box.close()


@functools.lru_cache(maxsize=None)
def asking(*flags):
    return compile_c(workshop() / f"asking-path{len(flags)}", library(), *flags, source=ASKING)


class Library(Column):
    """What a program that needs libcudart is given. Where the tool of a toolkit is, there is the library too."""

    serves_privileged = True

    @staticmethod
    def why_not(tree):
        if not TEMPLATE.exists() or not PROGRAM.exists():
            return f"{TEMPLATE} is not built"
        try:
            library()
        except Missing as missing:
            return str(missing)
        return agreement_test.Shim.why_not(tree)

    @classmethod
    def ask(cls, tree):
        for directory, _, names in os.walk(tree.top):
            if TOOL in names and directory.endswith("/bin"):
                place = Path(directory).parent / "lib64"
                place.mkdir()
                shutil.copy2(library(), place)
        shutil.copy2(library(), tree.top / "usr")
        shims = tree.box.shims / "lib"
        shims.mkdir()
        shutil.copy2(shim(), shims)
        tree.box.environment["LD_LIBRARY_PATH"] = f"{shims}:{tree.top}/usr"
        tree.box.environment["CUDAENV_HOST_ROOT"] = str(tree.top)
        answer = answer_of(tree.run(cls.program(tree, shims)))
        tool = answer.tool and answer.tool.replace(f"/lib64/{SONAME}", f"/bin/{TOOL}").replace(SONAME, TOOL)
        return answer._replace(tool=tool)

    @staticmethod
    def program(tree, shims):
        if not tree.case.get("privileged"):
            return asking()
        # The loader ignores the library path for it.
        built = compile_c(tree.top / "asking", library(), "-Wl,--disable-new-dtags", f"-Wl,-rpath,{shims}:{tree.top}/usr",
                          source=ASKING)
        built.chmod(0o4755)
        return built

    @staticmethod
    def status(_kind):
        return 127


class LibraryAgreement(unittest.TestCase):
    prepare, check, check_error = (getattr(agreement_test.Agreement, name) for name in ("prepare", "check", "check_error"))


def add_tests():
    for each in CASES:
        def test(self, case=each):
            self.check(case, Library)
        setattr(LibraryAgreement, f"test_{each['name']}", test)


add_tests()

if __name__ == "__main__":
    unittest.main()
