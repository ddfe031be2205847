#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What developers' tools make of the shims: sanitizers, valgrind, gdb, ldd, nm, ldconfig, linkers."""

import platform
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import ASKING, BUILD, CudartTest, TEMPLATE, compile_c, linked, standard_library, workshop

# All that a shim may import, and from where; versions that every glibc in use has.
IMPORTS = {"x86_64": {"dlopen": "GLIBC_2.2.5", "dlsym": "GLIBC_2.2.5", "dlerror": "GLIBC_2.2.5", "environ": "GLIBC_2.2.5",
                      "getauxval": "GLIBC_2.16", "_r_debug": "GLIBC_2.2.5", "__libc_stack_end": "GLIBC_2.2.5"}}
IMPORTS["aarch64"] = dict.fromkeys(IMPORTS["x86_64"], "GLIBC_2.17")


def machine():
    return platform.machine()


def output_of(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


class Tools(CudartTest):
    def setUp(self):
        super().setUp()
        self.shim = self.library_shims / "libcudart.so.13"
        self.select("13.5")
        self.asking = linked("asking", "13.5.0")

    def run_tool(self, *command, **options):
        return self.box.run(*command, **options)

    def test_address_sanitizer(self):
        for binding in ("lazy", "now"):
            try:
                built = linked(f"asan-{binding}", "13.5.0", "-fsanitize=address", f"-Wl,-z,{binding}")
            except AssertionError as error:
                self.skipTest(f"no address sanitizer: {error}")
            result = self.run_tool(built, env={"ASAN_OPTIONS": "detect_leaks=0"})
            if b"ReserveShadowMemoryRange" in result.stderr or b"Shadow memory range" in result.stderr:
                self.skipTest("the address sanitizer does not work here")
            self.assert_version(result, 13050, 13050)
            refused = self.run_tool(built, env={"ASAN_OPTIONS": "detect_leaks=0", "CUDAENV_VERSION": "12.4"})
            self.assert_refused(refused, "needs libcudart.so.13")

    def test_valgrind(self):
        self.need("valgrind")
        result = self.run_tool(shutil.which("valgrind"), "-q", "--error-exitcode=99", self.asking)
        if result.returncode not in (0, 99) and b"valgrind:" in result.stderr:
            self.skipTest(f"valgrind does not work here: {result.stderr.decode()[:300]}")
        self.assertEqual((result.returncode, result.stdout), (0, b"13050 13050\n"), result.stderr.decode())

    def test_gdb_stops_in_the_real_function_without_a_frame_of_the_shim(self):
        self.need("gdb")
        built = linked("asking-debug", "13.5.0", "-g", "-O0")
        result = self.run_tool(shutil.which("gdb"), "-batch", "-nx", "-ex", "set debuginfod enabled off",
                               "-ex", "break main", "-ex", "run", "-ex", "break cudaRuntimeGetVersion",
                               "-ex", "continue", "-ex", "bt", "-ex", "continue", "-ex", "bt", built)
        text = result.stdout.decode()
        if "ptrace" in result.stderr.decode():
            self.skipTest(f"gdb does not work here: {result.stderr.decode()}")
        traces = re.findall(r"^#0 .*?^#1 .*?$", text, re.MULTILINE | re.DOTALL)
        self.assertTrue(any(f"{self.box.root}/versions/13.5.0/" in trace and "in main" in trace for trace in traces), text)

    def test_ldd_shows_the_shim(self):
        self.need("ldd")
        result = self.run_tool(shutil.which("ldd"), self.asking)
        self.assertIn(f"libcudart.so.13 => {self.shim}", result.stdout.decode())

    def test_ldd_of_what_would_be_refused(self):
        self.need("ldd")
        self.select("12.4")
        self.assertIn(f"libcudart.so.13 => {self.shim}", self.run_tool(shutil.which("ldd"), self.asking).stdout.decode())

    def test_nm_shows_the_functions_with_their_versions(self):
        self.need("nm")
        for release in ("13.5.0", "13.9.0"):
            wanted = set(re.findall(r" T (\S+)$", output_of("nm", "-D", standard_library(release)), re.MULTILINE))
            found = set(re.findall(r" T (\S+)$", output_of("nm", "-D", self.shim), re.MULTILINE))
            self.assertLessEqual(wanted, found)

    def test_readelf_finds_nothing_wrong(self):
        self.need("readelf")
        result = subprocess.run(["readelf", "-aW", "--dyn-syms", self.shim], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Library soname: [libcudart.so.13]", result.stdout)

    def test_ldconfig_takes_it_for_the_library(self):
        self.need("ldconfig")
        conf = self.box.write(self.box.top / "ld.so.conf", f"{self.library_shims}\n")
        cache = self.box.top / "ld.so.cache"
        made = subprocess.run(["ldconfig", "-X", "-f", conf, "-C", cache], capture_output=True, text=True)
        if made.returncode:
            self.skipTest(f"ldconfig does not work here: {made.stderr}")
        shown = output_of("ldconfig", "-C", cache, "-p")
        self.assertIn(f"libcudart.so.13 (libc6,{'x86-64' if machine() == 'x86_64' else 'AArch64'}) => {self.shim}", shown)

    def test_start_by_the_loader_by_name(self):
        self.need("readelf")
        loader = re.search(r"interpreter: (\S+)\]", output_of("readelf", "-lW", self.asking))[1]
        self.assert_version(self.run_tool(loader, self.asking), 13050, 13050)

    def test_under_unusual_conditions(self):
        for prefix in (("setarch", "-R"), ("prlimit", "--stack=unlimited")):
            with self.subTest(prefix[0]):
                self.need(prefix[0])
                result = self.run_tool(shutil.which(prefix[0]), *prefix[1:], self.asking)
                if b"setarch: " in result.stderr or b"prlimit: " in result.stderr:
                    self.skipTest(result.stderr.decode())
                self.assert_version(result, 13050, 13050)

    def test_audit_module_of_others(self):
        module = compile_c(workshop() / "audit" / "audit.so", "-shared", "-fPIC",
                           source="unsigned int la_version(unsigned int version) { return version; }\n")
        self.assert_version(self.run_tool(self.asking, env={"LD_AUDIT": str(module)}), 13050, 13050)


class Linkers(CudartTest):
    def check(self, linker):
        # The compiler says by itself which linker it cannot find.
        try:
            built = compile_c(self.box.top / "linked", "-L", self.library_shims, "-l:libcudart.so.13", f"-fuse-ld={linker}",
                              source=ASKING)
        except AssertionError as error:
            if re.search(r"cannot find|unrecognized|invalid linker", str(error)):
                self.skipTest(f"no {linker}")
            raise
        for spec, version in (("13.5", 13050), ("13.9", 13090)):
            self.select(spec)
            self.assert_version(self.box.run(built), version, version)
        readelf = shutil.which("readelf")
        if readelf:
            self.assertIn("[libcudart.so.13]", output_of(readelf, "-dW", built))
            self.assertRegex(output_of(readelf, "-VW", built), r"Name: libcudart\.so\.13 ")
        self.assertEqual(self.box.run(built, env={"LD_LIBRARY_PATH": str(standard_library("13.9.0").parent)}).stdout,
                         b"13090 13090\n")

    def test_bfd(self):
        self.check("bfd")

    def test_gold(self):
        self.check("gold")

    def test_lld(self):
        self.check("lld")


class Template(unittest.TestCase):
    def setUp(self):
        if not TEMPLATE.exists():
            self.skipTest(f"{TEMPLATE} is not built")
        if not shutil.which("nm"):
            self.skipTest("no nm")

    def test_imports_nothing_but_what_every_glibc_has(self):
        found = dict(re.findall(r" [Uw] (\S+?)@(\S+)$", output_of("nm", "-D", TEMPLATE), re.MULTILINE))
        self.assertEqual(found, IMPORTS[machine()])

    def test_needs_libdl_by_its_own_name(self):
        text = output_of("readelf", "-dVW", TEMPLATE)
        self.assertIn("[libdl.so.2]", text)
        self.assertRegex(text, r"File: libdl\.so\.2")
        self.assertNotRegex(text, r"GLIBC_2\.(3\d|2\d)|NODELETE|TEXTREL")

    def test_exports_nothing(self):
        self.assertNotRegex(output_of("nm", "-D", TEMPLATE), r" [TDBVWi] ")

    def test_what_runs_while_relocating_calls_nothing_of_libc(self):
        objects = BUILD / "shims" / "cudart" / "CMakeFiles" / "cudaenv_library_shim.dir"
        for name in ("resolver", "choice"):
            file = objects / f"{name}.cpp.o"
            if not file.exists():
                self.skipTest(f"no {file}")
            undefined = set(re.findall(r" U (\S+)$", output_of("nm", file), re.MULTILINE))
            of_ours = {symbol for symbol in undefined if symbol.startswith(("cudaenv_", "_ZN7cudaenv6cudart")) or
                       symbol in ("_DYNAMIC", "memcpy", "memset", "memcmp", "memmove", "strlen")}  # shims/raw/memory.cpp
            self.assertEqual(undefined - of_ours - {"_GLOBAL_OFFSET_TABLE_"}, set(), name)


if __name__ == "__main__":
    unittest.main()
