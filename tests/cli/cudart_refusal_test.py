#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A selection that libcudart cannot follow: the program is told so by the loader, before anything of it has run."""

import os
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import CudartTest, SONAMES, linked, opening, program, stand_in, workshop
from support.elf import Elf
from support.program import AS_USER, IS_ROOT

TELLING = r"""
#include <stdio.h>
#include <unistd.h>
int cudaRuntimeGetVersion(int *);
__attribute__((constructor)) static void construct(void) { write(1, "constructed\n", 12); }
int main(void) {
  int version = 0, result = cudaRuntimeGetVersion(&version);
  printf("%d %d\n", result, version);
  return 0;
}
"""


class Refusals(CudartTest):
    def telling(self, *flags):
        return linked("telling" + "".join(flags), "13.5.0", *flags, source=TELLING)

    def check(self, *patterns, **options):
        """The same words by the loader's error of a linked program and by dlerror."""
        error = self.assert_refused(self.box.run(self.telling(), **options), "symbol lookup error",
                                    "undefined symbol: cudaenv: ", *patterns)
        self.assertEqual(self.box.run(self.telling("-Wl,-z,now"), **options).returncode, 127)
        opened = self.box.run(opening(), "libcudart.so.13", **options)
        self.assertEqual((opened.returncode, opened.stderr), (1, b""), opened.stdout)
        words = error[error.index("undefined symbol: "):]
        self.assertTrue(opened.stdout.decode().endswith(words), (opened.stdout, words))
        return words

    def test_toolkit_of_another_soname(self):
        file = self.select("12.4")
        words = self.check("this program needs libcudart.so.13, but CUDA 12.4.1", f"set by {file}:1",
                           "provides libcudart.so.12")
        self.assertIn("  installed toolkits that have it: 13.5.0, 13.9.0\n", words)
        self.assertIn("try: cudaenv exec -v 13.9.0 -- PROGRAM\n", words)

    def test_not_installed(self):
        file = self.select("13.7")
        self.check(f"CUDA 13.7 is not installed (set by {file}:1)", "installed: 11.8.0, 12.4.1, 12.8.1, 13.5.0, 13.9.0",
                   "try: cudaenv install 13.7")

    def test_set_by_the_variable(self):
        self.check("CUDA 13.7 is not installed (set by the variable CUDAENV_VERSION)", env={"CUDAENV_VERSION": "13.7"})

    def test_no_version(self):
        for text in ("../13.5.0", "13.5.0/lib", "..", "/etc", "13.05"):
            with self.subTest(text):
                file = self.select(text)
                self.check(f'{file}:1: "{text}" is not a version')

    def test_file_that_cannot_be_obeyed(self):
        file = self.select(b"\xff\xfe1\x003\x00")
        self.check(f"{file} is saved as UTF-16")
        self.select("13.5\n" + "#" * 65536)
        self.check(f"{file} is larger than 64 KiB")

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_file_that_cannot_be_read(self):
        file = self.select("13.5")
        file.chmod(0)
        try:
            result = self.box.run(self.telling(), **AS_USER)
        except PermissionError:
            self.skipTest("another user cannot reach the program")
        self.assert_refused(result, f"cannot read {file}: Permission denied")

    def test_root_that_is_none(self):
        self.check('CUDAENV_ROOT is "some/where"', env={"CUDAENV_ROOT": "some/where"})

    def test_toolkit_without_a_libcudart(self):
        self.box.toolkit("13.6.0")
        self.select("13.6")
        self.check("this program needs libcudart.so.13, but CUDA 13.6.0", "has no such library")

    def test_library_for_another_machine(self):
        library = self.box.root / "versions" / "13.9.0" / "lib" / "libcudart.so.13"
        content = bytearray(library.read_bytes())
        content[18:20] = b"\x08\x00"
        library.write_bytes(content)
        self.select("13.9")
        self.check("CUDA 13.9.0", "has no such library")

    def test_toolkit_that_the_gate_has_refused(self):
        file = self.select("13.5")
        old = {"CUDAENV_OVERRIDE_DRIVER": "535.54.03"}  # of CUDA 12
        # What was never asked is not refused.
        self.assertEqual(self.box.run(self.telling(), env=old).returncode, 0)
        self.assertEqual(self.cudaenv("exec", "true", env=old).returncode, 5)
        self.check(f"CUDA 13.5.0 is refused on this machine (set by {file}:1)", "driver",
                   "try: cudaenv check 13.5.0", env=old)
        self.assertEqual(self.box.run(self.telling()).returncode, 0)  # with the other driver
        self.assertEqual(self.box.run(self.telling(), env={**old, "CUDAENV_GATE": "off"}).returncode, 0)
        self.assertEqual(self.cudaenv("local", "--force", "13.5", env=old).returncode, 0)
        self.assertEqual(self.box.run(self.telling(), env=old).returncode, 0)

    def test_control_bytes_are_not_told(self):
        directory = self.box.project / "a\x1b[2Jb"
        self.select("nothing-of-the-kind", directory)
        error = self.check("no toolkit is called nothing-of-the-kind", "a\\x1b[2Jb", cwd=directory)
        self.assertNotIn("\x1b", error)

    def test_soname_that_no_toolkit_has(self):
        shutil.rmtree(self.box.root / "versions" / "11.8.0")
        self.rehash()
        self.assertEqual(sorted(os.listdir(self.library_shims)), sorted(SONAMES))
        self.select("13.5")
        built = linked("telling11", "11.8.0", source=TELLING)
        self.assert_refused(self.box.run(built), "this program needs libcudart.so.11.0, but CUDA 13.5.0",
                            "try: cudaenv install 11\n")

    def test_second_try_in_the_same_process(self):
        self.select("12.4")
        for _ in range(2):
            result = self.box.run(opening(), "libcudart.so.13", "13.5")
            self.assertEqual(result.returncode, 0)
            self.assertIn(b"needs libcudart.so.13", result.stdout)
            self.assertTrue(result.stdout.endswith(b"0 13050\n"), result.stdout)

    def test_python_tells_it_as_an_error_of_the_system(self):
        self.select("12.4")
        script = ("import ctypes, os\n"
                  "try: ctypes.CDLL('libcudart.so.13')\n"
                  "except OSError as error: print('needs libcudart.so.13' in str(error))\n"
                  "os.environ['CUDAENV_VERSION'] = '13.9'\n"
                  "number = ctypes.c_int()\n"
                  "print(ctypes.CDLL('libcudart.so.13').cudaRuntimeGetVersion(ctypes.byref(number)), number.value)\n")
        result = self.box.run(sys.executable, "-c", script)
        self.assertEqual((result.stdout, result.stderr), (b"True\n0 13090\n", b""))

    def test_in_a_thread_with_a_small_stack(self):
        self.select("12.4")
        built = program("small_stack", r"""
            #include <dlfcn.h>
            #include <limits.h>
            #include <pthread.h>
            #include <stdio.h>
            #include <string.h>
            static void *run(void *unused) {
              void *library = dlopen("libcudart.so.13", RTLD_NOW);
              printf("%d\n", library == NULL && strstr(dlerror(), "needs libcudart.so.13") != NULL);
              return unused;
            }
            int main(void) {
              pthread_t thread;
              pthread_attr_t attributes;
              pthread_attr_init(&attributes);
              if (pthread_attr_setstacksize(&attributes, 64 * 1024)) return 1;
              if (pthread_create(&thread, &attributes, run, NULL)) return 1;
              return pthread_join(thread, NULL);
            }""", "-pthread", "-ldl")
        self.assert_version(self.box.run(built), 1)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_program_with_more_rights_than_its_user_obeys_the_global_selection_alone(self):
        # The loader ignores LD_LIBRARY_PATH for it, so it finds the shim by its run path.
        built = linked("privileged", "13.5.0", f"-Wl,-rpath,{self.library_shims}")
        copy = self.box.top / "privileged"
        shutil.copy(built, copy)
        copy.chmod(0o4755)
        self.box.write(self.box.root / "version", "13.5")
        self.select("13.9")
        try:
            result = self.box.run(copy, env={"CUDAENV_VERSION": "13.9"}, **AS_USER)
        except PermissionError:
            self.skipTest("another user cannot reach the program")
        self.assert_version(result, 13050, 13050)
        self.assertEqual(self.box.run(copy, env={"CUDAENV_VERSION": "13.9"}).stdout, b"13090 13090\n")


ANSWERING = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
struct channel { int x, y, z, w, kind; };
int main(void) {
  void *library = dlopen("libcudart.so.13", RTLD_NOW);
  if (!library) { printf("%s\n", dlerror()); return 1; }
  int version = 0;
  struct channel (*channel)(int, int, int, int, int) = dlsym(library, "cudaCreateChannelDesc");
  const char *(*text)(int) = dlsym(library, "cudaGetErrorString");
  printf("%d %d %d %d\n", ((int (*)(int *))dlsym(library, "cudaRuntimeGetVersion"))(&version),
         strstr(text(303), "needs libcudart.so.13") != NULL, channel(1, 2, 3, 4, 5).y,
         ((void *(*)(void *))dlsym(library, "__cudaRegisterFatBinary"))(&version) != NULL);
  return version;
}
"""


class Fallback(CudartTest):
    """What happens under a loader that does not let the refusal through."""

    def setUp(self):
        super().setUp()
        self.telling = linked("telling", "13.5.0", source=TELLING)
        self.shim = self.library_shims / "libcudart.so.13"

    def disable(self, part):
        shim = Elf(self.shim)
        getattr(shim, f"disable_{part}")()
        shim.save()

    def check_refused(self):
        self.select("12.4")
        words = "cudaenv: this program needs libcudart.so.13, but CUDA 12.4.1"
        result = self.box.run(self.telling)
        self.assertEqual((result.returncode, result.stdout), (127, b""))
        self.assertTrue(result.stderr.decode().startswith(words), result.stderr)
        result = self.box.run(program("answering", ANSWERING, "-ldl"))
        self.assertEqual((result.returncode, result.stdout), (0, b"303 1 0 1\n"), result.stderr)
        self.assertTrue(result.stderr.decode().startswith(words), result.stderr)

    def check_followed(self):
        for spec, version in (("13.5", 13050), ("13.9", 13090)):
            self.select(spec)
            result = self.box.run(self.telling)
            self.assertEqual((result.stdout.decode(), result.stderr), (f"constructed\n0 {version}\n", b""))

    def test_sentinel_that_is_not_seen(self):
        self.disable("sentinel")
        self.check_refused()
        self.check_followed()

    def test_resolver_that_is_not_called(self):
        self.disable("resolver")
        self.check_refused()
        self.check_followed()

    def test_neither(self):
        self.disable("sentinel")
        self.disable("resolver")
        self.check_refused()
        self.check_followed()

    def test_library_that_cannot_be_opened(self):
        absent = stand_in(workshop() / "absent" / "libabsent.so", "libabsent.so", 1)
        library = stand_in(workshop() / "needing" / "libcudart.so.13", "libcudart.so.13", 13090, "-Wl,--no-as-needed", absent)
        shutil.copy2(library, self.box.root / "versions" / "13.9.0" / "lib")
        self.select("13.9")
        words = "cudaenv: cannot open the selected library: libabsent.so: cannot open shared object file"
        result = self.box.run(self.telling)
        self.assertEqual((result.returncode, result.stdout), (127, b""))
        self.assertIn(words, result.stderr.decode())
        result = self.box.run(opening(), "libcudart.so.13")
        self.assertEqual((result.returncode, result.stdout), (0, b"303 0\n"))
        self.assertIn(words, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
