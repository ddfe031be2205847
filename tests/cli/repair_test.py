#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv repair`: what is damaged comes back, what is not stays, and what others have is not touched."""

import json
import os
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import File, MirrorTest, listing, wait_until


class RepairTest(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1")

    def setUp(self):
        super().setUp()
        self.install("12.8.1")
        self.whole = self.tree()

    def tree(self, name="12.8.1"):
        """The toolkit but for its receipt, which tells when it was made."""
        return {path: what for path, what in listing(self.toolkit(name)).items() if path != "receipt.json"}

    def repaired(self, *arguments):
        result = self.done("repair", "12.8.1", *arguments)
        self.assertEqual(self.tree(), self.whole)
        self.done("verify", "12.8.1")
        self.assertEqual([name for name in os.listdir(self.box.root / "versions") if name.startswith(".")], [])
        return result


class Repairs(RepairTest):
    def test_a_whole_toolkit_is_left_alone(self):
        inode = (self.toolkit("12.8.1") / "receipt.json").stat().st_ino
        shutil.rmtree(self.mirror)
        self.assertIn("CUDA 12.8.1 is as it was installed", self.done("repair", "12.8.1").stderr)
        self.assertEqual((self.toolkit("12.8.1") / "receipt.json").stat().st_ino, inode)

    def test_each_kind_of_damage(self):
        toolkit = self.toolkit("12.8.1")
        for what, harm in (
                ("content", lambda: self.damage("12.8.1", "cuda_nvcc")),
                ("missing", lambda: (toolkit / "bin/ptxas").unlink()),
                ("mode", lambda: (toolkit / "bin/nvcc").chmod(0o644)),
                ("a link", lambda: (toolkit / "lib64").unlink()),
                ("a file in a directory's place", lambda: (shutil.rmtree(toolkit / "nvvm"),
                                                           (toolkit / "nvvm").write_text("x"))),
                ("version.json", lambda: (toolkit / "version.json").write_text("{}")),
                ("nearly all", lambda: [shutil.rmtree(toolkit / name) for name in ("bin", "include", "lib")])):
            with self.subTest(what):
                harm()
                self.fails_to_verify()
                self.assertIn("CUDA 12.8.1 is whole again", self.repaired().stderr)

    def fails_to_verify(self):
        self.assertEqual(self.cudaenv("verify", "12.8.1").returncode, 7)

    def test_only_what_is_damaged_is_fetched(self):
        self.damage("12.8.1", "cuda_nvcc")
        server = self.serve()
        kept = (self.toolkit("12.8.1") / "lib/libcudart_static.a").stat().st_ino
        self.repaired()
        fetched = [request.split()[1] for request in server.requests]
        self.assertEqual(len(fetched), 1, fetched)
        self.assertIn("cuda_nvcc", fetched[0])
        self.assertEqual((self.toolkit("12.8.1") / "lib/libcudart_static.a").stat().st_ino, kept)

    def test_from_another_toolkit_where_that_has_the_same(self):
        tree = {"include/extra.h": File(b"extra")}
        for release in ("12.8.0", "12.8.1"):
            self.publish(release, "libextra", tree)
        self.install("12.8.1", "--with", "libextra", "--force")
        self.whole = self.tree()
        self.install("12.8.0", "--with", "libextra")
        archives = [{entry["name"]: entry["archive_sha256"] for entry in self.receipt(name)["components"]}
                    for name in ("12.8.0", "12.8.1")]
        same = {name for name in archives[0] if archives[0][name] == archives[1].get(name)}
        shared = [file["path"] for file in self.receipt("12.8.1")["files"]
                  if file.get("component") in same and file.get("size")]
        self.assertTrue(shared, "the samples share nothing")
        path = self.toolkit("12.8.1") / shared[0]
        mode = path.stat().st_mode & 0o7777
        path.unlink()
        path.write_bytes(b"damaged")
        path.chmod(mode)
        server = self.serve()
        before = self.tree("12.8.0")
        self.repaired()
        self.assertEqual(server.requests, [])
        self.assertEqual(self.tree("12.8.0"), before)

    def test_what_was_put_into_the_toolkit_stays(self):
        toolkit = self.toolkit("12.8.1")
        self.box.write(toolkit / "include/mine/own.h", "own")
        (toolkit / "lib/libmine.so").symlink_to("libcudart.so")
        self.damage("12.8.1", "cuda_nvcc")
        self.done("repair", "12.8.1")
        self.assertEqual((toolkit / "include/mine/own.h").read_text(), "own")
        self.assertEqual(os.readlink(toolkit / "lib/libmine.so"), "libcudart.so")
        self.done("verify", "12.8.1")

    def test_one_that_was_installed_without_static_libraries(self):
        self.done("uninstall", "12.8.1")
        self.install("12.8.1", "--without", "static")
        self.whole = self.tree()
        self.damage("12.8.1", "cuda_nvcc")
        self.repaired()
        self.assertEqual(self.receipt("12.8.1")["without"], ["static"])

    def test_the_selected_one(self):
        self.done("global", "12.8.1")
        self.damage("12.8.1", "cuda_nvcc")
        self.done("repair")
        self.assertEqual(self.tree(), self.whole)


class Fails(RepairTest):
    def test_without_a_mirror_nothing_is_changed(self):
        self.damage("12.8.1", "cuda_nvcc")
        shutil.rmtree(self.mirror / "cuda_nvcc")
        with self.unchanged():
            self.fails(3, "repair", "12.8.1", says=("cuda_nvcc", "there is no"))

    def test_with_an_archive_that_is_not_the_one(self):
        self.damage("12.8.1", "cuda_nvcc")
        archive = self.archive("12.8.1", "cuda_nvcc")
        archive.write_bytes(bytes(255 - byte for byte in archive.read_bytes()))
        with self.unchanged():
            self.fails(7, "repair", "12.8.1", says=("expected sha256", "found    sha256", "cudaenv repair 12.8.1"))

    def test_one_that_is_not_installed(self):
        self.fails(4, "repair", "12.8.0", says="12.8.0 is not installed")

    def test_one_that_is_adopted(self):
        other = self.box.top / "other"
        shutil.copytree(self.toolkit("12.8.1"), other, symlinks=True)
        self.done("adopt", other, "--name", "mine")
        self.fails(2, "repair", "mine", says=("mine", "adopted"))

    def test_killed_and_run_again(self):
        self.damage("12.8.1", "cuda_nvcc")
        server = self.serve("cuda_nvcc/*=stall:100@1")
        before = self.tree()
        process = self.start("repair", "12.8.1")
        wait_until(lambda: any("cuda_nvcc" in request for request in server.requests), "the request")
        self.interrupt(process, signal.SIGKILL)
        self.assertEqual(self.tree(), before)
        self.repaired()


class Refuses(RepairTest):
    """A receipt is a file like any other: one that names what is not the toolkit's own is not acted on."""

    def write_receipt(self, change):
        receipt = self.receipt("12.8.1")
        change(receipt)
        (self.toolkit("12.8.1") / "receipt.json").write_text(json.dumps(receipt))

    def component(self, **changes):
        return lambda receipt: receipt["components"][0].update(changes)

    def file(self, path):
        return lambda receipt: receipt["files"][0].update(path=path)

    def link(self, path, target):
        return lambda receipt: receipt["files"].insert(0, {"path": path, "target": target,
                                                           "component": receipt["components"][0]["name"]})

    def changes(self):
        outside = self.box.home / "outside"
        up = os.path.relpath(outside, self.toolkit("12.8.1"))
        deep = "../" * 12 + str(outside)[1:]
        return {
            "component, going up": self.component(name=f"../../../{up}"),
            "component, absolute": self.component(name=str(outside)),
            "archive": self.component(archive=f"{deep}/file"),
            "digest": self.component(archive_sha256=f"{deep}/file"),
            "product's version": self.component(product="cudnn", product_version=f"{deep}/file"),
            "library directory": self.component(product="cudnn", product_version="9.0.0", lib_directory=deep),
            "platform": lambda receipt: receipt.update(platform=f"linux-{deep}"),
            "file, going up": self.file(f"{up}/file"),
            "file, absolute": self.file(str(outside / "file")),
            "file, beyond a link": self.file("lib64/file"),
            "the receipt itself": self.file("receipt.json"),
            "mode": lambda receipt: next(file for file in receipt["files"] if "mode" in file).update(mode="4755"),
            "link, going up": self.link("bin/away", f"../{up}"),
            "link, absolute": self.link("bin/away", str(outside)),
            "link, by way of a link": self.link("bin/away", f"../lib64/../{up}"),
        }

    def refused(self, *command):
        with self.unchanged():
            self.fails(7, *command, says=("12.8.1/receipt.json is not usable: ", "cudaenv install 12.8.1 --force"))

    def test_names_that_lead_out_of_the_tree(self):
        outside = self.box.home / "outside"
        self.box.write(outside / "file", "precious")
        self.box.write(outside / "deep/file", "precious")
        self.damage("12.8.1", "cuda_nvcc")
        whole = (self.toolkit("12.8.1") / "receipt.json").read_text()
        for what, change in self.changes().items():
            with self.subTest(what):
                (self.toolkit("12.8.1") / "receipt.json").write_text(whole)
                self.write_receipt(change)
                self.refused("repair", "12.8.1")
        self.refused("add", "cudnn", "--to", "12.8.1")
        self.refused("remove", "cudnn", "--from", "12.8.1")

    def test_installed_anew_nothing_is_taken_from_it(self):
        outside = self.box.home / "outside"
        self.box.write(outside / "file", "precious")
        toolkit = self.toolkit("12.8.1")
        for what, change in self.changes().items():
            with self.subTest(what):
                self.write_receipt(change)
                self.box.write(toolkit / "mine", "x")
                inode = (toolkit / "lib/libcudart_static.a").stat().st_ino
                with self.unchanged(outside):
                    self.done("install", "12.8.1", "--force")
                self.assertEqual(self.tree(), self.whole)
                self.assertNotEqual((toolkit / "lib/libcudart_static.a").stat().st_ino, inode)
                self.done("verify", "12.8.1")

    def test_a_receipt_of_another_release(self):
        self.install("12.8.0")
        self.write_receipt(lambda receipt: receipt.update(release="12.8.0"))
        self.damage("12.8.1", "cuda_nvcc")
        with self.unchanged():
            self.fails(7, "repair", "12.8.1", says=("the receipt of 12.8.1 is that of CUDA 12.8.0",
                                                    "cudaenv install 12.8.1 --force"))


if __name__ == "__main__":
    unittest.main()
