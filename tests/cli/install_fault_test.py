#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server, a manifest or an archive can do wrong to `cudaenv install`: message, exit code, and that nothing
is left behind. Disks, signals and other processes are install_disk_test.py."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import PLATFORM, Dir, File, Link, MirrorTest, hostile, listing

HARMLESS = ("setuid", "readonly-dirs", "hardlinks")


class FaultTest(MirrorTest):
    RELEASES = ("12.8.1",)

    def refused(self, status, *says):
        """An install that fails, leaves nothing, and works once the fault is gone."""
        with self.unchanged():
            result = self.fails(status, "install", "12.8.1", says=says)
        self.assertEqual(self.names(), [])
        return result


class Network(FaultTest):
    def address(self, server, component="cuda_nvcc"):
        return f"{server.url}/{self.manifest('12.8.1')[component][PLATFORM]['relative_path']}"

    def test_server_that_is_down(self):
        server = self.serve()
        server.server_close()
        self.refused(6, f"cannot download {server.url}/", "try: cudaenv install 12.8.1 --mirror URL_OR_DIRECTORY\n")

    def test_DL_01_archive_that_is_not_there(self):
        for page in ("404", "404html"):
            server = self.serve(f"cuda_nvcc/*={page}")
            self.refused(3, f"there is no {self.address(server)} (status 404)", "component cuda_nvcc")

    def test_DL_01_page_in_place_of_an_archive(self):
        server = self.serve("cuda_nvcc/*=html200")
        self.refused(7, self.address(server), "were expected", "the server sent a web page", "component cuda_nvcc")

    def test_DL_01_other_bytes(self):
        server = self.serve()
        self.box.write("mirror/.faults", "cuda_nvcc/* swap\n")
        self.refused(7, f"component cuda_nvcc from {self.address(server)} is damaged",
                     f"expected sha256 {self.manifest('12.8.1')['cuda_nvcc'][PLATFORM]['sha256']}", "found    sha256 ",
                     "try: cudaenv install 12.8.1\n")
        self.box.write("mirror/.faults", "")
        self.install("12.8.1")
        self.assertEqual(server.requests.count("GET /redistrib_12.8.1.json - 200"), 2)

    def test_DL_01_digest_that_was_corrected_under_the_same_label(self):
        server = self.serve()
        right = self.manifest("12.8.1")["cuda_nvcc"][PLATFORM]["sha256"]
        self.change_manifest("12.8.1", lambda manifest: manifest["cuda_nvcc"][PLATFORM].update(sha256="0" * 64))
        self.refused(7, f"expected sha256 {'0' * 64}", f"found    sha256 {right}")
        self.change_manifest("12.8.1", lambda manifest: manifest["cuda_nvcc"][PLATFORM].update(sha256=right))
        self.install("12.8.1")

    def test_archive_that_ends_early(self):
        server = self.serve("cuda_nvcc/*=truncate:1000")
        self.refused(6, f"cannot download {self.address(server)}", "component cuda_nvcc", "--mirror")

    def test_archive_with_more_bytes(self):
        server = self.serve("cuda_nvcc/*=extra")
        size = int(self.manifest("12.8.1")["cuda_nvcc"][PLATFORM]["size"])
        self.refused(7, f"{self.address(server)} has {size + 23} bytes, {size} were expected")

    def test_connection_that_is_closed(self):
        server = self.serve("cuda_nvcc/*=close")
        self.refused(6, f"cannot download {self.address(server)}", "tried 4 times")

    def test_a_file_of_a_directory_that_is_too_short_or_gone(self):
        archive = self.archive("12.8.1", "cuda_nvcc")
        archive.write_bytes(archive.read_bytes()[:-1])
        self.refused(7, f"{archive} has", "were expected", "component cuda_nvcc")
        archive.unlink()
        self.refused(3, f"there is no {archive}", "component cuda_nvcc")
        archive.mkdir()
        result = self.refused(8, f"{archive} is not a file", "component cuda_nvcc")
        self.assertNotIn("CUDAENV_ROOT", result.stderr)


class Manifest(FaultTest):
    def test_that_is_not_there(self):
        server = self.serve("redistrib_*=404")
        self.refused(3, f"there is no {server.url}/redistrib_12.8.1.json")

    def test_that_is_no_manifest(self):
        file = self.mirror / "redistrib_12.8.1.json"
        whole = file.read_text()
        for text in ("", "{", whole[:-30], "[]", "null", '"x"', "{}", '{"release_date": "2025-01-01"}', "<html></html>",
                     "\0" * 100, "[" * 100_000):
            with self.subTest(text=text[-20:]):
                file.write_text(text)
                self.refused(7, "the manifest is not usable", f"read from {file}")

    def test_that_lacks_a_digest_or_has_a_bad_one(self):
        for digest in (None, "", "0" * 63, "0" * 65, "g" * 64, 7):
            with self.subTest(digest=digest):
                self.change_manifest("12.8.1", lambda manifest: manifest["cuda_nvcc"][PLATFORM].update(sha256=digest))
                self.refused(7, "the manifest is not usable", f"cuda_nvcc {PLATFORM} has no valid sha256")

    def test_that_lacks_a_size_or_has_a_bad_one(self):
        for size in (None, "", "0", "-1", "12k", "99999999999999999999", 1 << 60, [1]):
            with self.subTest(size=size):
                self.change_manifest("12.8.1", lambda manifest: manifest["cuda_nvcc"][PLATFORM].update(size=size))
                self.refused(7, "the manifest is not usable", f"cuda_nvcc {PLATFORM} has no valid size")

    def test_whose_paths_leave_the_base(self):
        for path in ("../x.tar.xz", "/etc/passwd", "a/../../x", "http://192.0.2.1/x", "a//b", "", "a\\b", "a%2e%2e/b", "x?y",
                     "a\nb"):
            with self.subTest(path=path):
                self.change_manifest("12.8.1", lambda manifest: manifest["cuda_nvcc"][PLATFORM].update(relative_path=path))
                self.refused(7, "the manifest is not usable", f"cuda_nvcc {PLATFORM} has the path")

    def test_whose_components_would_leave_the_toolkit(self):
        for name in ("../x", "/x", "a/b", ".x", "", "a\nb"):
            with self.subTest(name=name):
                self.change_manifest("12.8.1", lambda manifest: manifest.update({name: manifest["cuda_nvcc"]}))
                self.refused(7, "a name that cannot be a component's")
                self.change_manifest("12.8.1", lambda manifest: manifest.pop(name))

    def test_of_another_release(self):
        self.change_manifest("12.8.1", lambda manifest: manifest.update(release_label="12.8.0"))
        self.refused(7, "the manifest of CUDA 12.8.1 says that it is that of 12.8.0")

    def test_with_control_bytes(self):
        self.change_manifest("12.8.1", lambda manifest: manifest.update(release_label="\x1b]0;owned\x07"))
        self.assertNotIn("\x1b", self.refused(7, "\\x1b]0;owned\\x07").stderr)
        self.change_manifest("12.8.1", lambda manifest: manifest.update(
            release_label="12.8.1", cuda_x={"version": "\x1b[2J", PLATFORM: manifest["cuda_nvcc"][PLATFORM]}))
        result = self.install("12.8.1", "--profile", "minimal", "--with", "cuda_x", "--dry-run")
        self.assertNotIn("\x1b", result.stdout + result.stderr)


class Archives(FaultTest):
    def put(self, kind):
        self.outside = self.box.top / "outside"
        self.outside.mkdir(exist_ok=True)
        hostile.put_into(self.mirror, "12.8.1", "cuda_nvcc", [PLATFORM], kind, str(self.outside))

    def test_ARC_01_hostile_archives(self):
        for kind in [kind for kind in hostile.KINDS if kind not in HARMLESS]:
            with self.subTest(kind=kind):
                self.put(kind)
                self.refused(7, "the archive cuda_nvcc-", "-archive.tar.xz is refused: \"")
                self.assertEqual([path for path in listing(self.box.top) if "escaped" in path], [])

    def test_ARC_01_broken_archives(self):
        for kind in hostile.BROKEN:
            with self.subTest(kind=kind):
                self.put(kind)
                self.refused(7, "cuda_nvcc")

    def test_ARC_01_harmless_oddities(self):
        self.put("readonly-dirs")
        self.install("12.8.1", "--profile", "minimal", "--without", "cuda_cccl")
        self.assertEqual(self.names(), ["12.8.1"])
        self.done("uninstall", "12.8.1")
        self.assertEqual(list((self.box.root / "versions").iterdir()), [])

    def test_ARC_01_a_failure_after_read_only_directories_leaves_nothing(self):
        self.publish("12.8.1", "cuda_cudart", {"include": Dir(0o555), "include/a.h": File(b"a", 0o444)})
        self.archive("12.8.1", "libcublas").unlink()
        self.refused(3, "component libcublas")

    def test_ARC_01_names_are_told_without_control_bytes(self):
        self.publish("12.8.1", "libcublas", {"lib/\x1b[2J": File(b"")})
        self.assertNotIn("\x1b", self.refused(7, "\\x1b[2J").stderr)

    def test_ARC_01_links_that_leave(self):
        for target in ("/etc/passwd", "../../../../etc/passwd", "../..", "../bin/../../x", ""):
            with self.subTest(target=target):
                self.publish("12.8.1", "libcublas", {"lib/link": Link(target)})
                self.refused(7, "lib/link")


if __name__ == "__main__":
    unittest.main()
