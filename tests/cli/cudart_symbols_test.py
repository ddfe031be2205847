#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that the selected toolkit has, and those that it does not have."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import CudartTest, linked, program, standard_library, stand_in, workshop, STAND_IN

NEW = r"""
#include <stdio.h>
int cudaNewIn13_9(void);
int main(void) { printf("%d\n", cudaNewIn13_9()); return 0; }
"""
OLD = r"""
#include <stdio.h>
int cudaOnlyIn13_5(void);
int main(void) { printf("%d", cudaOnlyIn13_5()); printf(" %d\n", cudaOnlyIn13_5()); return 0; }
"""
WEAK = r"""
#include <stdio.h>
__attribute__((weak)) int cudaNewIn13_9(void);
__attribute__((weak)) int cudaOnlyIn13_5(void);
int main(void) { printf("%d %d\n", cudaNewIn13_9 != 0, cudaOnlyIn13_5 != 0); return 0; }
"""
LOOKING_UP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) {
  void *library = dlopen(names[1], RTLD_NOW);
  int missing = 0;
  for (int i = 3; i < count; ++i)
    if (!(names[2][0] ? dlvsym(library, names[i], names[2]) : dlsym(library, names[i]))) {
      printf("%s\n", names[i]);
      ++missing;
    }
  return missing != 0;
}
"""


def names_of(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(match[1] for match in re.finditer(r" [TW] (\S+?)(?:@|$)", output, re.MULTILINE))


class Symbols(CudartTest):
    def look_up(self, *names, version="", library="libcudart.so.13", **options):
        return self.box.run(program("looking_up", LOOKING_UP, "-ldl"), library, version, *names, **options)

    def test_new_function_with_the_newer_toolkit(self):
        self.select("13.9")
        for flags in (("-Wl,-z,lazy",), ("-Wl,-z,now",)):
            self.assert_version(self.box.run(linked("new" + "".join(flags), "13.9.0", *flags, source=NEW)), 139)

    def test_new_function_with_the_older_one_is_the_loaders_error(self):
        self.select("13.5")
        result = self.box.run(linked("new-now", "13.9.0", "-Wl,-z,now", source=NEW))
        self.assert_refused(result, "undefined symbol: cudaNewIn13_9, version libcudart.so.13")
        self.assertEqual(self.box.run(linked("new-lazy", "13.9.0", "-Wl,-z,lazy", source=NEW)).returncode, 127)

    def test_weak_references_tell_which_there_are(self):
        weak = program("weak", WEAK, "-Wl,--no-as-needed", self.library_shims / "libcudart.so.13")  # which has them both
        for spec, found in (("13.5", (0, 1)), ("13.9", (1, 0))):
            self.select(spec)
            self.assert_version(self.box.run(weak), *found)

    def test_dlsym_tells_which_there_are(self):
        for spec, missing in (("13.5", "cudaNewIn13_9\n"), ("13.9", "cudaOnlyIn13_5\n")):
            self.select(spec)
            result = self.look_up("cudaNewIn13_9", "cudaRuntimeGetVersion", "cudaOnlyIn13_5")
            self.assertEqual(result.stdout.decode(), missing)

    def test_every_function_is_found_by_its_name_and_version(self):
        self.need("nm")
        for release, soname in (("11.8.0", "libcudart.so.11.0"), ("12.4.1", "libcudart.so.12"),
                                ("13.5.0", "libcudart.so.13"), ("13.9.0", "libcudart.so.13")):
            self.select(release)
            names = names_of(standard_library(release))
            self.assertGreater(len(names), 60)
            self.assertEqual(self.look_up(*names, library=soname, version=soname).stdout, b"")
            self.assertEqual(self.look_up(*names, library=soname).stdout, b"")

    def test_another_version_is_not_there(self):
        self.select("13.5")
        self.assertEqual(self.look_up("cudaRuntimeGetVersion", version="libcudart.so.12").returncode, 1)

    def test_each_function_leads_to_that_of_its_name(self):
        calls = [f"cudaNumbered{i}" for i in range(10, 70)]
        source = ("#include <stdio.h>\n" + "".join(f"int {call}(void);\n" for call in calls) +
                  "int main(void) {\n" + "".join(f"  if ({call}() != {call[12:]}) return 1;\n" for call in calls * 2) +
                  "  printf(\"all\\n\");\n  return 0;\n}\n")
        self.select("13.9")
        self.assert_version(self.box.run(linked("numbered", "13.9.0", source=source)), "all")

    def test_library_with_the_older_kind_of_hash_table(self):
        library = stand_in(workshop() / "sysv" / "libcudart.so.13", "libcudart.so.13", 13090, "-Wl,--hash-style=sysv")
        shutil.copy2(library, self.box.root / "versions" / "13.9.0" / "lib")
        self.rehash()
        self.select("13.9")
        self.assert_version(self.box.run(linked("new", "13.9.0", source=NEW)), 139)


class Alike(CudartTest):
    """Two libraries of a SONAME that agree in size and time, as reproducible builds may."""

    def setUp(self):
        super().setUp()
        libraries = [self.box.root / "versions" / release / "lib" / "libcudart.so.13" for release in ("13.5.0", "13.9.0")]
        size = max(library.stat().st_size for library in libraries)
        for library in libraries:
            os.truncate(library, size)
            os.utime(library, ns=(10**18,) * 2)
        self.rehash()

    def test_each_has_the_functions_that_it_has(self):
        self.select("13.9")
        self.assert_version(self.box.run(linked("new", "13.9.0", source=NEW)), 139)
        self.select("13.5")
        self.assert_version(self.box.run(linked("old", "13.5.0", source=OLD)), "135 135")

    def test_function_that_it_lacks_answers_with_an_error(self):
        self.select("13.9")
        self.assertEqual(self.box.run(linked("old", "13.5.0", source=OLD)).stdout, b"302 302\n")

    def test_function_that_all_of_them_lack_is_hidden(self):
        newer = stand_in(workshop() / "newer" / "libcudart.so.13", "libcudart.so.13", 13100,
                         source=STAND_IN + "int cudaNewIn14(void) { return 14; }\n")
        self.give("13.10.0", newer)
        self.rehash()
        source = "int cudaNewIn14(void);\nint main(void) { return cudaNewIn14(); }\n"
        self.select("13.5")
        self.assert_refused(self.box.run(program("newer", source, newer)), "undefined symbol: cudaNewIn14")


class Stale(CudartTest):
    """A toolkit that came after the last rehash."""

    def setUp(self):
        super().setUp()
        newer = STAND_IN + "int cudaNewIn14(void) { return 14; }\n"
        self.newer = stand_in(workshop() / "newest" / "libcudart.so.13", "libcudart.so.13", 13100, source=newer)
        self.give("13.10.0", self.newer)
        self.select("13.10")

    def test_works_with_the_functions_known(self):
        self.assert_version(self.box.run(linked("new", "13.9.0", source=NEW)), 139)

    def test_function_that_is_unknown_is_the_loaders_error_until_rehash(self):
        source = "#include <stdio.h>\nint cudaNewIn14(void);\nint main(void) { printf(\"%d\\n\", cudaNewIn14()); return 0; }\n"
        built = program("newest", source, self.newer)
        self.assert_refused(self.box.run(built), "undefined symbol: cudaNewIn14, version libcudart.so.13")
        self.rehash()
        self.assert_version(self.box.run(built), 14)

    def test_function_that_it_lacks_answers_with_an_error_and_a_word(self):
        built = linked("old", "13.5.0", source=OLD)
        result = self.box.run(built)
        library = self.box.root / "versions" / "13.10.0" / "lib64" / "libcudart.so.13"
        self.assertEqual((result.returncode, result.stdout), (0, b"302 302\n"))
        self.assertEqual(result.stderr.decode(), f"cudaenv: cudaOnlyIn13_5 is not in {library}\ntry: cudaenv rehash\n")
        self.rehash()
        self.assertEqual(self.box.run(built).returncode, 127)


if __name__ == "__main__":
    unittest.main()
