#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rehash`, `adopt` and `uninstall`: what lies in ROOT/shims/lib."""

import os
import shutil
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import (ASKING, BUILD, CudartTest, SONAMES, STAND_IN, TEMPLATE, compile_c, linked, opening, program,
                            stand_in, standard_library, workshop)
from support.program import IS_ROOT
from support.sandbox import PROGRAM


class RehashTest(CudartTest):
    releases = ("12.4.1", "13.5.0")

    def names(self):
        return sorted(os.listdir(self.library_shims)) if self.library_shims.exists() else []

    def shim(self, soname="libcudart.so.13"):
        return self.library_shims / soname

    def library(self, release, soname="libcudart.so.13"):
        return self.box.root / "versions" / release / "lib" / soname

    def remove(self, *releases):
        for release in releases:
            shutil.rmtree(self.box.root / "versions" / release)

    def assert_works(self, *versions):
        for spec, version in versions:
            result = self.box.run(linked("asking", "13.5.0"), env={"CUDAENV_VERSION": spec})
            self.assert_version(result, version, version)


class Rehash(RehashTest):
    def test_one_for_each_soname_and_refusing_ones_for_the_others(self):
        self.assertEqual(self.names(), sorted(SONAMES))
        result = self.box.run(opening(), "libcudart.so.11.0", env={"CUDAENV_VERSION": "13.5"})
        self.assertIn(b"needs libcudart.so.11.0, but CUDA 13.5.0", result.stdout)

    def test_open_to_all(self):
        for name in self.names():
            self.assertEqual(self.shim(name).stat().st_mode & 0o777, 0o755)

    def test_soname_of_a_minor_release(self):
        library = stand_in(workshop() / "ten" / "libcudart.so.10.2", "libcudart.so.10.2", 10020)
        self.give("10.2.0", library)
        self.rehash()
        self.assertEqual(self.names(), sorted((*SONAMES, "libcudart.so.10.2")))
        result = self.box.run(opening(), "libcudart.so.10.2", env={"CUDAENV_VERSION": "10.2"})
        self.assert_version(result, 0, 10020)

    def test_functions_of_a_new_toolkit_are_added(self):
        before = self.shim().read_bytes()
        self.give("13.9.0", standard_library("13.9.0"))
        self.rehash()
        self.assertNotEqual(self.shim().read_bytes(), before)
        self.assert_works(("13.5", 13050), ("13.9", 13090))

    def test_second_time_changes_no_file(self):
        before = self.tree(self.box.shims)
        self.assertEqual(self.rehash(), "")
        self.assertEqual(self.tree(self.box.shims), before)

    def test_the_same_toolkits_give_the_same_bytes(self):
        before = self.shim().read_bytes()
        shutil.rmtree(self.library_shims)
        self.rehash()
        self.assertEqual(self.shim().read_bytes(), before)

    def test_broken_ones_are_replaced(self):
        good = self.shim().read_bytes()
        for broken in (b"", good[:-100], good[:5000] + b"X" + good[5001:]):
            self.box.write(self.shim(), broken)
            self.rehash()
            self.assertEqual(self.shim().read_bytes(), good)

    def test_link_is_replaced_and_never_written_through(self):
        precious = self.box.write("precious", "precious")
        self.shim().unlink()
        self.shim().symlink_to(precious)
        self.rehash()
        self.assertFalse(self.shim().is_symlink())
        self.assertEqual(precious.read_text(), "precious")
        self.assert_works(("13.5", 13050))

    def test_of_a_removed_toolkit_only_the_refusing_one_stays(self):
        self.remove("13.5.0")
        self.rehash()
        self.assertEqual(self.names(), sorted(SONAMES))
        result = self.box.run(linked("asking", "13.5.0"), env={"CUDAENV_VERSION": "12.4"})
        self.assert_refused(result, "libcudart.so.13", "try: cudaenv install 13")

    def test_last_toolkit_gone(self):
        self.remove(*self.releases)
        self.rehash()
        self.assertEqual(self.names(), [])

    def test_toolkits_without_a_libcudart_have_no_library_shims(self):
        root = self.box.top / "other"
        self.box.toolkit("12.4.1", root=root)
        self.rehash(env={"CUDAENV_ROOT": str(root)})
        self.assertEqual(os.listdir(root / "shims"), ["nvcc"])

    def test_what_is_not_ours_stays(self):
        other = self.box.write(self.library_shims / "notes.txt", "notes")
        self.remove(*self.releases)
        self.rehash()
        self.assertEqual((self.names(), other.read_text()), (["notes.txt"], "notes"))

    def test_shared_and_adopted_toolkits_count(self):
        shared = self.box.top / "sw"
        self.give("13.9.0", standard_library("13.9.0"), root=shared)
        self.rehash(env={"CUDAENV_SHARED_ROOT": str(shared)})
        result = self.box.run(linked("asking", "13.5.0"),
                              env={"CUDAENV_VERSION": "13.9", "CUDAENV_SHARED_ROOT": str(shared)})
        self.assert_version(result, 13090, 13090)

    def test_verbose_says_what_changed(self):
        self.remove("12.4.1")
        self.shim().unlink()
        self.rehash()
        self.remove("13.5.0")
        self.assertIn("cudaenv: library shim removed: libcudart.so.12\n", self.rehash("--verbose"))
        self.give("13.5.0", standard_library("13.5.0"))
        self.assertIn("cudaenv: library shim written: libcudart.so.13\n", self.rehash("--verbose"))

    def test_without_the_template(self):
        alone = self.box.top / "alone"
        for part in ("bin/cudaenv", "libexec/cudaenv/cudaenv-shim"):
            (alone / part).parent.mkdir(parents=True)
            shutil.copy(BUILD / part, alone / part)
        result = self.box.run(alone / "bin" / "cudaenv", "rehash")
        self.assert_fails(result, 1, "the template of the library shims is missing: ")

    def test_damaged_template(self):
        alone = self.box.top / "alone"
        for part in ("bin/cudaenv", "libexec/cudaenv/cudaenv-shim"):
            (alone / part).parent.mkdir(parents=True)
            shutil.copy(BUILD / part, alone / part)
        for content in (b"", b"\x7fELF", TEMPLATE.read_bytes()[:-2000]):
            self.box.write(alone / "libexec" / "cudaenv" / TEMPLATE.name, content)
            self.assert_fails(self.box.run(alone / "bin" / "cudaenv", "rehash"), 1,
                              "the template of the library shims is damaged")

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_read_only_root(self):
        self.shim().unlink()
        self.library_shims.chmod(0o555)
        self.assert_fails(self.as_user("rehash"), 8, self.box.shims, "Permission denied")


class OddLibraries(RehashTest):
    """What a shim cannot stand for is said; the others are made all the same."""

    def check_left_out(self, *words, soname="libcudart.so.13"):
        told = self.rehash()
        for word in ("cudaenv: warning: ", *words):
            self.assertIn(str(word), told)
        self.assertEqual(told.count("\n"), 1)
        self.assertEqual(self.names(), sorted(set(SONAMES) - {soname}))
        self.assert_version(self.box.run(opening(), "libcudart.so.12", env={"CUDAENV_VERSION": "12.4"}), 0, 12040)

    def replace(self, name, **options):
        library = stand_in(workshop() / name / "libcudart.so.13", "libcudart.so.13", 13050, **options)
        shutil.copy2(library, self.library("13.5.0"))

    def test_data(self):
        self.replace("data", exports="cuda*; __cuda*; standInsOwnVersion;")
        self.check_left_out("libcudart.so.13 gets no library shim", "offers more than functions (standInsOwnVersion)")

    def test_function_that_is_chosen_when_loaded(self):
        source = "static int one(void) { return 1; }\nstatic void *choose(void) { return one; }\n" \
                 "int cudaChosen(void) __attribute__((ifunc(\"choose\")));\n"
        self.replace("ifunc", source=source)
        self.check_left_out("offers more than functions (cudaChosen)")

    def test_function_in_several_versions(self):
        map_file = self.box.write("versions.map", "libcudart.so.13 { global: cudaA; local: *; };\nNEWER { cudaA; };\n")
        source = "int a1(void) { return 1; }\nint a2(void) { return 2; }\n" \
                 "__asm__(\".symver a1,cudaA@libcudart.so.13\\n.symver a2,cudaA@@NEWER\");\n"
        library = compile_c(self.box.top / "versions" / "libcudart.so.13", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13",
                            f"-Wl,--version-script={map_file}", source=source)
        shutil.copy2(library, self.library("13.5.0"))
        self.check_left_out("offers a function in several versions (cudaA)")

    def test_more_functions_than_there_is_room_for(self):
        source = "".join(f"int cudaOne{i}(void) {{ return {i}; }}\n" for i in range(4096))
        self.replace("many", source=source)
        self.check_left_out("libcudart.so.13 gets no library shim", "4096 functions are more than a shim has room for")

    def test_as_many_functions_as_there_is_room_for(self):
        count = 4095
        source = "".join(f"int cudaOne{i}(void) {{ return {i}; }}\n" for i in range(count))
        self.replace("as_many", source=source)
        self.assertEqual(self.rehash(), "")
        calls = "".join(f"  if (cudaOne{i}() != {i}) return 1;\n" for i in range(count))
        declared = "".join(f"int cudaOne{i}(void);\n" for i in range(count))
        built = program("as_many", f"#include <stdio.h>\n{declared}int main(void) {{\n{calls}  printf(\"all\\n\");\n  return 0;\n}}\n",
                        self.shim())
        self.assert_version(self.box.run(built, env={"CUDAENV_VERSION": "13.5"}), "all")

    def test_library_without_versions(self):
        library = stand_in(workshop() / "plain" / "libcudart.so.13", None, 13050)
        shutil.copy2(library, self.library("13.5.0"))
        self.assertEqual(self.rehash(), "")
        built = compile_c(self.box.top / "plain", self.shim(), source=ASKING)
        self.assert_version(self.box.run(built, env={"CUDAENV_VERSION": "13.5"}), 13050, 13050)

    def test_functions_of_two_versions(self):
        map_file = self.box.write("two.map", "libcudart.so.13 { global: cudaRuntime*; local: *; };\n"
                                  "NEWER { cudaNumbered*; } libcudart.so.13;\n")
        library = compile_c(self.box.top / "two" / "libcudart.so.13", "-shared", "-fPIC", "-DVERSION=13050",
                            "-Wl,-soname,libcudart.so.13", f"-Wl,--version-script={map_file}", source=STAND_IN)
        shutil.copy2(library, self.library("13.5.0"))
        self.assertEqual(self.rehash(), "")
        source = "#include <stdio.h>\nint cudaNumbered42(void); int cudaRuntimeGetVersion(int *);\n" \
                 "int main(void) { int v = 0; cudaRuntimeGetVersion(&v); printf(\"%d %d\\n\", v, cudaNumbered42()); return 0; }\n"
        for name, by in (("by_the_library", library), ("by_the_shim", self.shim())):
            built = compile_c(self.box.top / name, by, source=source)
            self.assert_version(self.box.run(built, env={"CUDAENV_VERSION": "13.5"}), 13050, 42)

    def test_damaged_library_is_passed_over(self):
        self.give("13.9.0", standard_library("13.9.0"))
        whole = self.library("13.9.0").read_bytes()
        for content in (b"", b"\x7fELF", whole[:1000], b"no library" * 100, whole[:64] + b"\xff" * (len(whole) - 64)):
            self.library("13.9.0").write_bytes(content)
            told = self.rehash()
            self.assertIn(f"{self.box.root}/versions/13.9.0/lib64/libcudart.so.13 gets no library shim: ", told)
            self.assert_works(("13.5", 13050))

    def test_library_for_another_machine_is_nothing(self):
        content = bytearray(standard_library("13.9.0").read_bytes())
        content[18:20] = b"\x08\x00"
        self.give("13.9.0", standard_library("13.9.0"))
        self.library("13.9.0").write_bytes(content)
        before = self.shim().read_bytes()
        self.assertEqual(self.rehash(), "")
        self.assertEqual(self.shim().read_bytes(), before)

    def test_names_that_are_no_sonames_are_nothing(self):
        place = self.library("13.5.0").parent
        self.library("13.5.0").rename(place / "libcudart.so.13.5.29")
        self.library("13.5.0").symlink_to("libcudart.so.13.5.29")
        (place / "libcudart_static.a").write_text("!<arch>\n")
        (place / "libcudart.so.backup").symlink_to("libcudart.so.13")
        (place / "libcudart.so.99").mkdir()
        self.assertEqual(self.rehash(), "")
        self.assertEqual(self.names(), sorted(SONAMES))
        self.assert_works(("13.5", 13050))

    def test_shim_in_a_toolkit_is_no_library(self):
        self.give("13.9.0", standard_library("13.9.0"))
        shutil.copy2(self.shim(), self.library("13.9.0"))
        self.assertEqual(self.rehash(), "")
        result = self.box.run(linked("asking", "13.5.0"), env={"CUDAENV_VERSION": "13.9"})
        self.assert_refused(result, "CUDA 13.9.0", "has no such library")


class Commands(RehashTest):
    def test_adopt_and_uninstall_bring_them_up_to_date(self):
        opt = self.box.top / "opt"
        self.give("cuda", standard_library("13.9.0"), root=opt)
        self.box.write(opt / "versions" / "cuda" / "bin" / "nvcc.profile", "TOP = ..\n")
        adopted = self.cudaenv("adopt", opt / "versions" / "cuda", "--name", "mine")
        self.assertEqual(adopted.returncode, 0, adopted.stderr)
        self.assert_works(("mine", 13090), ("13.5", 13050))
        new = linked("calling-new", "13.9.0", source="int cudaNewIn13_9(void);\nint main(void) { return cudaNewIn13_9() != 139; }\n")
        self.assertEqual(self.box.run(new, env={"CUDAENV_VERSION": "mine"}).returncode, 0)
        removed = self.cudaenv("uninstall", "mine")
        self.assertEqual(removed.returncode, 0, removed.stderr)
        result = self.box.run(new, env={"CUDAENV_VERSION": "13.5"})
        self.assert_refused(result, "undefined symbol: cudaNewIn13_9")


class Meanwhile(RehashTest):
    def test_ten_at_once(self):
        shutil.rmtree(self.library_shims)
        command = [PROGRAM, "rehash"]
        running = [subprocess.Popen(command, env=self.box.environment, cwd=self.box.project, stderr=subprocess.PIPE)
                   for _ in range(10)]
        self.assertEqual([process.communicate() and process.returncode for process in running], [0] * 10)
        self.assertEqual(self.names(), sorted(SONAMES))
        self.assert_works(("13.5", 13050))

    def test_killed_half_way(self):
        self.need("strace")
        whole = self.shim().read_bytes()
        for call in ("write", "rename"):
            self.box.write(self.shim(), b"old")
            result = self.box.run(shutil.which("strace"), "-qq", "-o", self.box.top / "trace", "-e", f"trace=/^{call}",
                                  "-e", f"inject=/^{call}:signal=KILL:when=1", PROGRAM, "rehash")
            if b"ptrace" in result.stderr.lower():
                self.skipTest(f"strace does not work here: {result.stderr.decode()}")
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(self.shim().read_bytes(), b"old")
            self.rehash()
            self.assertEqual((self.names(), self.shim().read_bytes()), (sorted(SONAMES), whole))

    def test_programs_that_start_meanwhile_get_the_old_or_the_new_one(self):
        asking = linked("asking", "13.5.0")
        self.select("13.5")
        end = threading.Event()
        faults = []

        def start():
            while not end.is_set():
                result = self.box.run(asking)
                if (result.returncode, result.stdout) != (0, b"13050 13050\n"):
                    faults.append(result)
                    return
        starting = [threading.Thread(target=start) for _ in range(2)]
        for thread in starting:
            thread.start()
        try:
            for _ in range(15):
                self.give("13.9.0", standard_library("13.9.0"))
                self.rehash()
                self.remove("13.9.0")
                self.rehash()
        finally:
            end.set()
            for thread in starting:
                thread.join()
        self.assertEqual(faults, [])


if __name__ == "__main__":
    unittest.main()
