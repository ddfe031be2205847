#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an install leaves on disk: the tree, its links, modes, receipt and version.json."""

import hashlib
import json
import os
import shutil
import stat
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import PLATFORM, TARGET, Dir, File, Hard, Link, MirrorTest, hostile, listing
from support.sandbox import NOBODY


class TreeTest(MirrorTest):
    RELEASES = ("12.8.1", "13.3.1")
    RELEASE = "12.8.1"

    @property
    def tree(self):
        return self.toolkit(self.RELEASE)

    def receipt(self):
        return json.loads((self.tree / "receipt.json").read_text())

    def install_with(self, tree, component="cuda_nvml_dev"):
        """Installs the compiler and one component with these files."""
        self.publish(self.RELEASE, component, tree)
        self.install(self.RELEASE, "--profile", "minimal", "--with", component)

    def links(self):
        return {path: content for path, (kind, _, content) in listing(self.tree).items() if kind == stat.S_IFLNK}

    def assert_links_resolve_inside(self):
        for path, target in self.links().items():
            self.assertFalse(target.startswith("/"), f"{path} -> {target}")
            real = (self.tree / path).resolve(strict=True)
            self.assertTrue(real.is_relative_to(self.tree.resolve()), f"{path} -> {target}")

    def assert_receipt_is_the_tree(self):
        """Every file and link is in the receipt, with its mode, size and digest; and nothing else is."""
        recorded = {}
        for file in self.receipt()["files"]:
            target = file.get("target")
            recorded[file["path"]] = (stat.S_IFLNK, None, target) if target else (
                stat.S_IFREG, int(file["mode"], 8), file["sha256"])
            if not target:
                self.assertEqual(file["size"], (self.tree / file["path"]).stat().st_size, file["path"])
        found = {path: (kind, None if kind == stat.S_IFLNK else mode, content)
                 for path, (kind, mode, content) in listing(self.tree).items() if kind != stat.S_IFDIR}
        del found["receipt.json"]
        self.assertEqual(found, recorded)


class Receipt(TreeTest):
    def test_says_what_the_toolkit_is_made_of(self):
        self.install("12.8", "--profile", "minimal", "--with", "libcublas", "--without", "cuda_gdb")
        receipt, manifest = self.receipt(), self.manifest("12.8.1")
        text = (self.mirror / "redistrib_12.8.1.json").read_bytes()
        self.assertEqual({key: receipt[key] for key in ("release", "platform", "profile", "with", "without", "source",
                                                        "manifest_sha256")},
                         {"release": "12.8.1", "platform": PLATFORM, "profile": "minimal", "with": ["libcublas"],
                          "without": ["cuda_gdb"], "source": str(self.mirror),
                          "manifest_sha256": hashlib.sha256(text).hexdigest()})
        self.assertRegex(receipt["installed"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual([component["name"] for component in receipt["components"]],
                         ["cuda_cccl", "cuda_cudart", "cuda_nvcc", "libcublas"])
        for component in receipt["components"]:
            published = manifest[component["name"]]
            licence = self.tree / "share" / "licenses" / component["name"] / "LICENSE"
            self.assertEqual(component, {
                "name": component["name"], "version": published["version"], "license": published["license"],
                "license_sha256": hashlib.sha256(licence.read_bytes()).hexdigest(),
                "archive": published[PLATFORM]["relative_path"], "archive_sha256": published[PLATFORM]["sha256"],
                "archive_size": int(published[PLATFORM]["size"]),
                "human_name": published["name"]})

    def test_lists_every_file_and_nothing_else(self):
        for self.RELEASE in ("12.8.1", "13.3.1"):
            self.install(self.RELEASE, "--profile", "full")
            self.assert_receipt_is_the_tree()

    def test_each_file_names_its_component(self):
        self.install("12.8.1")
        components = {file["path"]: file.get("component") for file in self.receipt()["files"]}
        self.assertEqual(components["bin/nvcc"], "cuda_nvcc")
        self.assertEqual(components["lib/pkgconfig/cudart-12.8.pc"], "cuda_cudart")
        self.assertIsNone(components["version.json"])
        self.assertIsNone(components["lib64"])

    def test_of_files_with_unusual_modes(self):
        self.install_with({"bin/odd": File(b"x", 0o6755), "lib/secret": File(b"x", 0o600), "lib/none": File(b"x", 0),
                           "lib/open": File(b"x", 0o777), "pkg-config/odd-12.8.pc": File(b"cudaroot=/usr/local/x\n", 0o444),
                           "lib/empty": File(b"")})
        self.assert_receipt_is_the_tree()
        modes = {name: mode for name, (_, mode, _) in listing(self.tree).items()}
        self.assertEqual([modes[name] for name in ("bin/odd", "lib/secret", "lib/none", "lib/open")],
                         [0o755, 0o644, 0o444, 0o755])


class Layout(TreeTest):
    def setUp(self):
        super().setUp()
        self.install(self.RELEASE, "--profile", "full")

    def test_ARC_06_the_names_that_tools_expect(self):
        real = (self.tree / "lib" / "libcudart.so").resolve(strict=True)
        for path in ("lib64/libcudart.so", f"targets/{TARGET}/lib/libcudart.so", "extras/CUPTI/lib64/libcudart.so"):
            self.assertEqual((self.tree / path).resolve(strict=True), real)
        for path in (f"targets/{TARGET}/include/cuda_runtime.h", "extras/CUPTI/include/cupti.h", "nvvm/lib64/libnvvm.so"):
            self.assertTrue((self.tree / path).is_file(), path)
        self.assertEqual(self.links()["lib64"], "lib")

    def test_ARC_06_links_are_relative_and_resolve(self):
        self.assert_links_resolve_inside()

    def test_ARC_06_version_json_has_the_label(self):
        versions = json.loads((self.tree / "version.json").read_text())
        self.assertEqual(versions["cuda"], {"name": "CUDA SDK", "version": "12.8.1"})
        self.assertEqual(versions["cuda_nvcc"]["version"], self.manifest("12.8.1")["cuda_nvcc"]["version"])

    def test_ARC_06_a_licence_for_each_component(self):
        for component in self.receipt()["components"]:
            text = (self.tree / "share" / "licenses" / component["name"] / "LICENSE").read_text()
            self.assertIn(component["license"], text)

    def test_pkg_config_files_have_plain_names_and_their_own_root(self):
        self.assertEqual((self.tree / "lib/pkgconfig/cudart.pc").resolve().name, "cudart-12.8.pc")
        self.assertIn("cudaroot=${pcfiledir}/../..\n", (self.tree / "pkg-config/cudart.pc").read_text())
        for file in (self.tree / "lib" / "pkgconfig").iterdir():
            self.assertNotIn("/usr/local", file.read_text())

    def test_pkg_config_finds_the_toolkit(self):
        if not shutil.which("pkg-config"):
            self.skipTest("there is no pkg-config")
        result = self.box.run("pkg-config", "--cflags", "--libs", "cudart", text=True,
                              env={"PKG_CONFIG_PATH": str(self.tree / "lib" / "pkgconfig")})
        include, library = [Path(word[2:]).resolve() for word in result.stdout.split() if word[:2] in ("-I", "-L")]
        self.assertEqual((include, library), (self.tree / "include", self.tree / "lib"))

    def test_nsight_tools_are_in_bin(self):
        self.assertIn("nsys", self.box.run(self.tree / "bin" / "nsys", "--version", text=True).stdout)

    def test_everything_works_after_the_root_has_moved(self):
        moved = self.box.top / "elsewhere"
        self.box.root.rename(moved)
        tree = moved / "versions" / "12.8.1"
        for path in self.links_of(tree):
            self.assertTrue((tree / path).exists(), path)
        result = self.box.run(tree / "bin" / "nvcc", "-v", text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"TOP={tree}/bin/..", result.stderr)
        result = self.done("exec", "-v", "12.8.1", "nvcc", "--version", env={"CUDAENV_ROOT": str(moved)})
        self.assertIn("V12.8.93", result.stdout)

    def links_of(self, tree):
        return [path for path, (kind, _, _) in listing(tree).items() if kind == stat.S_IFLNK]


class Permissions(TreeTest):
    def install_under(self, umask):
        old = os.umask(umask)
        try:
            self.install(self.RELEASE, "--profile", "full")
        finally:
            os.umask(old)

    def test_SYS_03_readable_by_all_whatever_the_umask(self):
        shutil.rmtree(self.box.root)
        self.install_under(0o077)
        for path, (kind, mode, _) in listing(self.box.root).items():
            if kind == stat.S_IFDIR:
                self.assertEqual(mode, 0o755, path)
            elif kind == stat.S_IFREG and not Path(path).name.startswith("."):
                self.assertIn(mode, (0o644, 0o755, 0o444, 0o555), path)
        self.assert_receipt_is_the_tree()

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_SYS_03_used_by_another_user(self):
        shutil.rmtree(self.box.root)
        self.install_under(0o077)
        result = self.box.run(self.box.shims / "nvcc", "--version", text=True, user=NOBODY,
                              env={"CUDAENV_VERSION": "12.8.1", "HOME": "/nonexistent", "CUDAENV_ROOT": str(self.box.root)})
        self.assertIn("V12.8.93", result.stdout, result.stderr)

    def test_not_writable_by_others_whatever_the_umask(self):
        self.install_under(0)
        for path, (kind, mode, _) in listing(self.box.root).items():
            if kind != stat.S_IFLNK and not Path(path).name.startswith("."):
                self.assertEqual(mode & 0o022, 0, path)

    def test_ARC_01_setuid_is_dropped(self):
        hostile.put_into(self.mirror, "12.8.1", "cuda_nvprof", [PLATFORM], "setuid", str(self.box.top / "out"))
        self.install("12.8.1", "--without", "cuda_nvcc", "--with", "cuda_nvprof")
        self.assertEqual(stat.S_IMODE((self.tree / "bin" / "nvcc").stat().st_mode), 0o755)


class Merging(TreeTest):
    def test_two_components_with_the_same_file(self):
        self.publish("12.8.1", "cuda_cupti", {"include/shared.h": File(b"same\n"), "include/cupti.h": File(b"")})
        self.install_with({"include/shared.h": File(b"same\n")})
        self.install("12.8.1", "--force", "--with", "cuda_cupti")
        self.assertEqual((self.tree / "include" / "shared.h").read_text(), "same\n")
        self.assert_receipt_is_the_tree()

    def test_two_components_with_another_content(self):
        for content in (File(b"other\n"), Link("cuda_runtime.h"), File(b"")):
            self.publish("12.8.1", "libcublas", {"include/shared.h": content})
            self.publish("12.8.1", "cuda_cupti", {"include/shared.h": File(b"same\n")})
            with self.unchanged():
                self.fails(7, "install", "12.8.1", says=("components cuda_cupti and libcublas both bring include/shared.h",
                                                         "--without libcublas"))

    def test_a_file_where_another_component_has_a_directory(self):
        self.publish("12.8.1", "cuda_cupti", {"include/cupti.h": File(b""), "include/thing": File(b"")})
        for tree in ({"include/thing/x.h": File(b"")}, {"include/cupti.h": File(b""), "include/thing": Link("crt")}):
            self.publish("12.8.1", "libcublas", tree)
            with self.unchanged():
                self.fails(7, "install", "12.8.1", says=("cuda_cupti", "libcublas", "include/thing"))

    def test_links_hard_links_and_modes_are_kept(self):
        self.install_with({"bin/tool": File(b"#!/bin/sh\necho tool\n", 0o755), "bin/other": Hard("bin/tool"),
                           "bin/link": Link("tool"), "lib/data": File(b"data", 0o644)})
        for name in ("tool", "other", "link"):
            self.assertEqual(self.box.run(self.tree / "bin" / name).stdout, b"tool\n")
        self.assertEqual(os.readlink(self.tree / "bin" / "link"), "tool")
        self.assertTrue((self.tree / "bin" / "tool").samefile(self.tree / "bin" / "other"))
        self.assertFalse(os.access(self.tree / "lib" / "data", os.X_OK))
        self.assert_receipt_is_the_tree()
        self.assertLessEqual({"tool", "other", "link"}, set(os.listdir(self.box.shims)))
        self.assertNotIn("data", os.listdir(self.box.shims))

    def test_ARC_01_read_only_directories_and_hard_links_are_fine(self):
        for kind in ("readonly-dirs", "hardlinks"):
            hostile.put_into(self.mirror, "12.8.1", "cuda_nvprof", [PLATFORM], kind, str(self.box.top / "out"))
            self.install("12.8.1", "--force", "--profile", "minimal", "--without", "cuda_nvcc", "--with", "cuda_nvprof")
            self.assertEqual(self.box.run(self.tree / "bin" / "nvcc").stdout, b"sample\n")
            self.assert_receipt_is_the_tree()
        self.done("uninstall", "12.8.1")
        self.assertEqual(os.listdir(self.box.root / "versions"), [])

    def test_ARC_06_a_real_lib64_is_merged(self):
        self.install_with({"lib64/libextra.so.1": File(b"extra"), "lib64/libextra.so": Link("libextra.so.1")})
        self.assertEqual((self.tree / "lib" / "libextra.so").read_bytes(), b"extra")
        self.assertEqual(self.links()["lib64"], "lib")
        self.assert_receipt_is_the_tree()

    def test_ARC_06_the_layout_of_the_installer_is_merged(self):
        target = f"targets/{TARGET}"
        self.install_with({f"{target}/lib/libextra.so.1": File(b"extra"), f"{target}/include/extra.h": File(b"h"),
                           "lib64": Link(f"{target}/lib"), "include": Link(f"{target}/include"),
                           "extras/CUPTI/lib64/libthere.so": Link(f"../../../{target}/lib/libextra.so.1")})
        self.assertEqual((self.tree / "lib64" / "libextra.so.1").read_bytes(), b"extra")
        self.assertEqual((self.tree / "include" / "extra.h").read_bytes(), b"h")
        self.assertEqual((self.tree / "extras/CUPTI/lib64/libthere.so").read_bytes(), b"extra")
        self.assert_links_resolve_inside()
        self.assert_receipt_is_the_tree()

    def test_a_link_that_moves_still_leads_to_the_same_file(self):
        target = f"targets/{TARGET}"
        self.install_with({f"{target}/lib/libmoved.so": Link("../../../nvvm/lib64/libmoved.so.1"),
                           "nvvm/lib64/libmoved.so.1": File(b"moved"), "LICENSE": File(b"licence\n"),
                           "lib64/same.txt": Link("data/same.txt"), "lib64/data/same.txt": File(b"same"),
                           "samples/LICENSE": Link("../LICENSE"), "pkg-config/x-12.8.pc": Link("../share/x.pc"),
                           "share/x.pc": File(b"Name: x\n")})
        self.assertEqual((self.tree / "lib" / "libmoved.so").read_bytes(), b"moved")
        self.assertEqual((self.tree / "samples" / "LICENSE").read_bytes(), b"licence\n")
        self.assertEqual((self.tree / "lib" / "pkgconfig" / "x-12.8.pc").read_bytes(), b"Name: x\n")
        self.assertEqual(os.readlink(self.tree / "lib" / "same.txt"), "data/same.txt")
        self.assert_links_resolve_inside()
        self.assert_receipt_is_the_tree()

    def test_ARC_01_a_link_does_not_lead_out_by_being_moved(self):
        self.box.write("home/.cudaenv/bin/secret", "secret")
        for tree in ({f"targets/{TARGET}/lib/out": Link("../../../bin"), "bin/tool": File(b"")},
                     {f"targets/{TARGET}/lib/deep/out": Link("../../../../x"), "x/y": File(b"")}):
            self.install_with(tree)
            self.assert_links_resolve_inside()
            self.done("uninstall", "12.8.1")

    def test_empty_directories_and_an_empty_component(self):
        self.install_with({"lib/empty": Dir()})
        self.assert_receipt_is_the_tree()

    def test_names_with_blanks_and_other_bytes(self):
        self.install_with({"lib/a b/'c' $(d) \"e\".txt": File(b"x"), "lib/\u00e9.txt": File(b"x"), "lib/-rf": File(b"x")})
        self.assert_receipt_is_the_tree()

    def test_a_file_where_the_receipt_goes(self):
        self.publish("12.8.1", "libcublas", {"receipt.json": File(b"{}")})
        with self.unchanged():
            self.fails(7, "install", "12.8.1", says=("receipt.json", "libcublas"))


if __name__ == "__main__":
    unittest.main()
