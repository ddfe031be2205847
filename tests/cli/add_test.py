#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv add`, `remove` and `install --add`: which version of a product fits a toolkit, and what becomes of its tree."""

import hashlib
import json
import random
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import MirrorTest, listing, redist
from support import products


class ProductTest(MirrorTest):
    RELEASES = ("12.8.1", "13.0.2")

    def setUp(self):
        super().setUp()
        products.write(self.mirror)

    def product_manifest(self, product, version):
        return redist.read_manifest(products.folder(self.mirror, product), version)

    def receipt(self, name):
        return json.loads((self.toolkit(name) / "receipt.json").read_text())

    def added(self, name):
        """The products of a toolkit, by name, with their versions."""
        return {component["product"]: component["product_version"]
                for component in self.receipt(name)["components"] if "product" in component}

    def tree(self, name):
        """All of a toolkit but its receipt."""
        found = listing(self.toolkit(name))
        found.pop("receipt.json")
        return found

    def text(self, name, path):
        return (self.toolkit(name) / path).read_text()


class WhatFits(ProductTest):
    """What is chosen; nothing is changed by it."""

    def setUp(self):
        super().setUp()
        self.install("12.8.1", "--profile", "minimal")
        self.install("13.0.2", "--profile", "minimal")

    def chosen(self, typed, release):
        with self.unchanged():
            return self.done("add", typed, "--to", release, "--dry-run").stdout

    def test_the_newest_for_the_toolkits_cuda(self):
        for typed, release, archive in (("cudnn", "12.8.1", "cudnn 9.14.0 "), ("cudnn", "13.0.2", "cudnn 9.14.0 "),
                                        ("cudnn@8", "12.8.1", "cudnn 8.9.7 "), ("cudnn@9.13", "12.8.1", "cudnn 9.13.0 "),
                                        ("cudnn@9.13.0.50", "13.0.2", "cudnn 9.13.0 "),
                                        ("cudnn@latest", "12.8.1", "cudnn 9.14.0 "),
                                        ("libcudnn", "12.8.1", "cudnn 9.14.0 "),
                                        ("cutensor@2.0", "12.8.1", "cutensor 2.0.2.1 "),
                                        ("cuSPARSELt@0.7", "12.8.1", "cusparselt 0.7.1 "),
                                        ("cudnn-samples", "13.0.2", "cudnn_samples 9.14.0 ")):
            with self.subTest(typed=typed, release=release):
                self.assertTrue(self.chosen(typed, release).startswith(archive))

    def test_components_with_version_and_size(self):
        lines = self.chosen("cudnn", "12.8.1").splitlines()
        self.assertEqual(lines[0], f"cudnn 9.14.0 from {self.mirror}/cudnn/redist/")
        self.assertRegex(lines[1], r"^  cudnn +9\.14\.0\.64 +\d")
        self.assertEqual(len(lines), 2)

    def test_what_has_nothing_for_the_cuda_names_what_would_do(self):
        for typed, says in (("cudnn@8.9", ("cudnn@8.9 has no archive for CUDA 13.0.2", "8.9.7: for CUDA 11 and 12",
                                           "try: cudaenv add cudnn@9.14.0 --to 13.0.2\n")),
                            ("cusparselt@0.7", ("0.7.1: for CUDA 12", "try: cudaenv add cusparselt@0.8.1 --to 13.0.2\n")),
                            ("cutensor@2.0", ("2.0.2.1: for CUDA 11 and 12",))):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(3, "add", typed, "--to", "13.0.2", says=says)

    def test_a_flat_archive_of_which_nobody_knows_the_cuda(self):
        products.cusparselt("0.7.9", "0.7.9.0", []).write(products.folder(self.mirror, "cusparselt"))
        with self.unchanged():
            self.fails(3, "add", "cusparselt@0.7.9", "--to", "12.8.1", says="none that is known to fit")

    def test_a_version_that_is_not_published(self):
        with self.unchanged():
            self.fails(3, "add", "cudnn@7", "--to", "12.8.1",
                       says=("cudnn 7 is not published", "published: 8.9.7 to 9.14.0", "try: cudaenv add cudnn@"))
            self.fails(3, "add", "cudnn@9.14.0.65", "--to", "12.8.1", says="cudnn 9.14.0.65 is not published")

    def test_what_is_no_product(self):
        for typed, status, says in (("nccl", 3, ("no manifest of nccl", "try: pip install nvidia-nccl-cu12\n")),
                                    ("TensorRT", 3, "try: pip install tensorrt-cu12\n"),
                                    ("libcublas", 3, "try: cudaenv install 12.8.1 --with libcublas --force\n"),
                                    ("cudn", 3, ('there is no product "cudn"', "try: cudaenv add cudnn\n")),
                                    ("../cudnn", 3, "known: cublasmp, cudnn, "),
                                    ("cudnn@x", 2, "cudnn@9.14"), ("cudnn@", 2, "is no product")):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(status, "add", typed, "--to", "12.8.1", says=says)

    def test_two_versions_of_one(self):
        with self.unchanged():
            self.fails(2, "add", "cudnn@9.13", "libcudnn@9.14", "--to", "12.8.1", says="cannot both be in one toolkit")

    def test_another_platform(self):
        manifest = self.product_manifest("cudnn", "9.14.0")
        manifest["cudnn"]["linux-ppc64le"] = manifest["cudnn"].pop(products.PLATFORM)
        redist.write_manifest(products.folder(self.mirror, "cudnn"), "9.14.0", manifest)
        self.assertTrue(self.chosen("cudnn", "12.8.1").startswith("cudnn 9.13.0 "))


class Toolkits(ProductTest):
    """Which toolkit it is for."""

    def test_what_has_no_manifest_is_answered_without_one(self):
        with self.unchanged():
            self.fails(3, "add", "nccl", says="try: pip install nvidia-nccl-cu")

    def test_none_is_selected(self):
        with self.unchanged():
            self.fails(2, "add", "cudnn", says=("no toolkit was named", "try: cudaenv add cudnn --to 12.8\n"))

    def test_not_installed(self):
        with self.unchanged():
            self.fails(4, "add", "cudnn", "--to", "12.8.1", says="cudaenv install 12.8.1")
            self.fails(4, "remove", "cudnn", "--from", "12.8.1", says="cudaenv install 12.8.1")

    def test_the_selected_one(self):
        self.install("12.8.1", "--profile", "minimal")
        self.install("13.0.2", "--profile", "minimal")
        self.done("local", "12.8")
        self.assertIn("cudnn 8.9.7", self.done("add", "cudnn@8", "--dry-run").stdout)
        self.fails(3, "add", "cudnn@8", "--dry-run", env={"CUDAENV_VERSION": "13.0"}, says="no archive for CUDA 13.0.2")

    def test_an_adopted_one(self):
        self.install("12.8.1", "--profile", "minimal")
        shutil.move(self.toolkit("12.8.1"), self.box.top / "other")
        self.done("adopt", self.box.top / "other", "--name", "mine")
        with self.unchanged():
            self.fails(2, "add", "cudnn", "--to", "mine",
                       says=(f"mine is adopted from {self.box.top}/other", "changes only what it has installed itself"))

    def test_one_of_the_shared_root(self):
        shared = self.box.top / "shared"
        self.install("12.8.1", "--profile", "minimal", env={"CUDAENV_ROOT": str(shared)})
        with self.unchanged():
            self.fails(8, "add", "cudnn", "--to", "12.8.1", env={"CUDAENV_SHARED_ROOT": str(shared)},
                       says=("is in the shared root", f"try: CUDAENV_ROOT={shared} cudaenv add cudnn --to 12.8.1\n"))


class Bases(ProductTest):
    """Where a product is fetched from, and which manifests are believed."""

    def setUp(self):
        super().setUp()
        self.install("12.8.1", "--profile", "minimal")

    def plan(self, *arguments, **options):
        return self.done("add", "cudnn", "--to", "12.8.1", "--dry-run", *arguments, **options)

    def test_beside_a_base_that_is_laid_out_as_nvidias(self):
        nvidia = self.box.top / "nvidia" / "compute"
        shutil.copytree(self.mirror, nvidia / "cuda" / "redist", ignore=shutil.ignore_patterns("cudnn"))
        shutil.copytree(self.mirror / "cudnn", nvidia / "cudnn")
        self.assertIn(f"from {nvidia}/cudnn/redist/", self.plan("--mirror", nvidia / "cuda" / "redist").stdout)

    def test_over_http_only_what_is_needed(self):
        server = self.serve()
        self.plan()
        self.assertIn("GET /cudnn/redist/redistrib_9.14.0.json - 200", server.requests)
        self.assertNotIn("9.13.0", "".join(server.requests))

    def test_without_an_index_those_that_the_registry_knows(self):
        server = self.serve("=404", "*/redist/=404")  # no page that lists anything
        self.assertIn("cudnn 9.14.0", self.plan().stdout)
        self.assertIn("GET /cudnn/redist/redistrib_9.14.0.json - 200", server.requests)

    def test_the_next_mirror_where_one_lacks_the_product(self):
        bare = self.box.top / "bare"
        shutil.copytree(self.mirror, bare, ignore=shutil.ignore_patterns("cudnn"))
        result = self.plan("--mirror", bare, "--mirror", self.mirror)
        self.assertIn("; trying the next mirror", result.stderr)
        self.assertIn(f"from {self.mirror}/cudnn/redist/", result.stdout)
        with self.unchanged():
            self.fails(3, "add", "cudnn", "--to", "12.8.1", "--mirror", bare, says=("there is no directory", "while looking for cudnn"))

    def test_a_manifest_other_than_the_known_one(self):
        strict = {"CUDAENV_ACCEPT_MANIFEST": None}
        server = self.serve()
        with self.unchanged():
            result = self.fails(7, "add", "cudnn", "--to", "12.8.1", env=strict,
                                says=("the manifest of cudnn 9.14.0", "expected sha256", "found    sha256",
                                      "try: cudaenv add cudnn --to 12.8.1 --accept-manifest "))
        self.assertEqual("".join(server.requests).count("redistrib_9.14.0.json"), 2)
        digest = result.stderr.split("--accept-manifest ")[1].split()[0]
        self.plan("--accept-manifest", digest, env=strict)

    def test_a_manifest_of_another_version_or_product(self):
        where = products.folder(self.mirror, "cudnn")
        manifest = self.product_manifest("cudnn", "9.14.0")
        redist.write_manifest(where, "9.14.0", {**manifest, "release_product": "cudnn-v9"})
        self.assertIn('calls its product "cudnn-v9"', self.plan().stderr)
        redist.write_manifest(where, "9.14.0", {**manifest, "release_label": "9.15.0"})
        self.fails(7, "add", "cudnn", "--to", "12.8.1", says="says that it is that of 9.15.0")


class Adding(ProductTest):
    def setUp(self):
        super().setUp()
        self.install("12.8.1", "--profile", "minimal")

    def add(self, *typed, to="12.8.1", **options):
        return self.done("add", *typed, "--to", to, **options)

    def test_its_files_are_among_the_toolkits(self):
        before = self.tree("12.8.1")
        result = self.add("cudnn")
        self.assertIn("added to CUDA 12.8.1: cudnn 9.14.0", result.stderr)
        self.assertIn(f"licence applies to what is fetched: {self.mirror}/cudnn/redist/cudnn/LICENSE.txt", result.stderr)
        self.assertEqual(self.text("12.8.1", "lib/libcudnn.so.9"), "libcudnn 9.14.0 for CUDA 12\n")
        self.assertEqual(self.text("12.8.1", "lib64/libcudnn.so"), "libcudnn 9.14.0 for CUDA 12\n")
        self.assertTrue((self.toolkit("12.8.1") / "include/cudnn.h").exists())
        self.assertTrue((self.toolkit("12.8.1") / "share/licenses/cudnn/LICENSE").exists())
        self.assertFalse((self.toolkit("12.8.1") / "version.txt").exists())  # CMake would take it for the toolkit's
        after = self.tree("12.8.1")
        self.assertEqual({path: after.get(path) for path in before}, before)
        self.assertEqual(self.done("exec", "-v", "12.8.1", "--", "nvcc", "--version").returncode, 0)

    def test_it_is_in_the_receipt(self):
        self.add("cudnn")
        [component] = [each for each in self.receipt("12.8.1")["components"] if "product" in each]
        manifest = products.folder(self.mirror, "cudnn") / "redistrib_9.14.0.json"

        self.assertEqual({key: component[key] for key in component if key.startswith("product")},
                         {"product": "cudnn", "product_version": "9.14.0",
                          "product_manifest_sha256": hashlib.sha256(manifest.read_bytes()).hexdigest(),
                          "product_source": f"{self.mirror}/cudnn/redist/"})
        self.assertEqual(component["archive_sha256"],
                         self.product_manifest("cudnn", "9.14.0")["cudnn"][products.PLATFORM]["cuda12"]["sha256"])
        files = [file["path"] for file in self.receipt("12.8.1")["files"] if file.get("component") == "cudnn"]
        self.assertIn("lib/libcudnn.so.9", files)

    def test_the_toolkits_cuda_decides(self):
        self.install("13.0.2", "--profile", "minimal")
        self.add("cudnn", to="13.0.2")
        self.assertEqual(self.text("13.0.2", "lib/libcudnn.so.9"), "libcudnn 9.14.0 for CUDA 13\n")
        self.assertEqual(self.added("12.8.1"), {})
        self.assertFalse((self.toolkit("12.8.1") / "lib/libcudnn.so.9").exists())

    def test_of_a_flat_archive_the_libraries_for_that_cuda(self):
        self.add("cutensor@2.0", "cusparselt@0.7")
        self.assertEqual(self.text("12.8.1", "lib/libcutensor.so"), "libcutensor 2.0.2.5 for CUDA 12\n")
        for directory in ("lib/11", "lib/11.0", "lib/12"):
            self.assertFalse((self.toolkit("12.8.1") / directory).exists(), directory)
        self.assertTrue((self.toolkit("12.8.1") / "lib/cmake/cusparseLt/config.cmake").exists())
        self.assertEqual(self.added("12.8.1"), {"cutensor": "2.0.2.1", "cusparselt": "0.7.1"})
        [cutensor] = [each for each in self.receipt("12.8.1")["components"] if each.get("product") == "cutensor"]
        self.assertEqual(cutensor["lib_directory"], "12")

    def test_samples_have_a_place_of_their_own(self):
        self.add("cudnn_samples")
        self.assertEqual(self.text("12.8.1", "extras/cudnn_samples/src/cudnn_samples_v9/Makefile"), "all:\n")

    def test_twice_is_done_without_the_network(self):
        self.add("cudnn")
        was = listing(self.toolkit("12.8.1"))
        shutil.rmtree(self.mirror / "cudnn")
        for typed in ("cudnn", "cudnn@9", "cudnn@9.14.0", "cudnn@9.14.0.64"):
            self.assertIn("cudnn 9.14.0 is in CUDA 12.8.1 already", self.add(typed).stderr)
        self.assertEqual(listing(self.toolkit("12.8.1")), was)

    def test_the_newest_again(self):
        self.add("cudnn")
        self.assertIn("cudnn 9.14.0 is in CUDA 12.8.1 already", self.add("cudnn@latest").stderr)

    def test_another_version_takes_its_place(self):
        self.add("cudnn@8")
        result = self.add("cudnn@9")
        self.assertIn("cudnn 8.9.7 -> 9.14.0", result.stderr)
        self.assertEqual(self.added("12.8.1"), {"cudnn": "9.14.0"})
        self.assertEqual(sorted(path.name for path in self.toolkit("12.8.1").glob("lib/libcudnn.so*")),
                         ["libcudnn.so", "libcudnn.so.9", "libcudnn.so.9.14.0"])
        self.assertIn("cudnn 9.14.0 -> 9.13.0", self.add("cudnn@9.13").stderr)
        self.assertIn("cudnn 9.13.0 is in CUDA 12.8.1 already", self.add("cudnn").stderr)

    def test_two_that_have_the_same_files(self):
        self.add("cudnn")
        with self.unchanged(self.toolkit("12.8.1")):
            self.fails(7, "add", "cudnn_jit", "--to", "12.8.1", says=("cudnn and cudnn_jit both bring",))

    def test_a_broken_archive_changes_nothing(self):
        archives = self.product_manifest("cudnn", "9.14.0")["cudnn"][products.PLATFORM]
        path = products.folder(self.mirror, "cudnn") / archives["cuda12"]["relative_path"]
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        with self.unchanged(self.toolkit("12.8.1")):
            self.fails(7, "add", "cudnn", "--to", "12.8.1", says=("expected sha256", "found"))

    def test_the_gate_is_not_asked(self):
        self.add("cudnn", env={"CUDAENV_OVERRIDE_DRIVER": "450.80.02", "CUDAENV_OVERRIDE_GPUS": "3.5"})

    def test_two_at_once(self):
        processes = [self.start("add", product, "--to", "12.8.1") for product in ("cudnn", "cutensor", "cusparselt")]
        for process in processes:
            _, error = process.communicate()
            self.assertEqual(process.returncode, 0, error)
        self.assertEqual(set(self.added("12.8.1")), {"cudnn", "cutensor", "cusparselt"})

    def test_killed_anywhere_it_is_the_old_toolkit_or_the_new(self):
        old = listing(self.toolkit("12.8.1"))
        choice = random.Random(7)
        for _ in range(12):
            process = self.start("add", "cudnn", "--to", "12.8.1")
            time.sleep(choice.uniform(0, 0.15))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            if "cudnn" in self.added("12.8.1"):
                self.assertEqual(self.text("12.8.1", "lib/libcudnn.so.9"), "libcudnn 9.14.0 for CUDA 12\n")
                self.done("remove", "cudnn", "--from", "12.8.1")
            else:
                self.assertEqual(set(listing(self.toolkit("12.8.1"))), set(old))
        self.add("cudnn")
        self.assertEqual(list((self.box.root / "versions").glob(".staging-*")), [])


class Removing(ProductTest):
    def setUp(self):
        super().setUp()
        self.install("12.8.1", "--profile", "minimal")

    def test_leaves_the_toolkit_as_it_was(self):
        was = self.tree("12.8.1")
        self.done("add", "cudnn", "cutensor", "--to", "12.8.1")
        result = self.done("remove", "libcudnn", "cutensor", "--from", "12.8.1")
        self.assertIn("removed from CUDA 12.8.1: cudnn 9.14.0, cutensor 2.3.1", result.stderr)
        self.assertEqual(self.tree("12.8.1"), was)
        self.assertEqual(self.added("12.8.1"), {})

    def test_leaves_the_others(self):
        self.done("add", "cudnn", "cutensor", "--to", "12.8.1")
        self.done("remove", "cudnn@9.14", "--from", "12.8.1")
        self.assertEqual(self.added("12.8.1"), {"cutensor": "2.3.1"})
        self.assertEqual(self.text("12.8.1", "lib/libcutensor.so"), "libcutensor 2.3.1.0 for CUDA 12\n")

    def test_of_one_toolkit_alone(self):
        self.install("13.0.2", "--profile", "minimal")
        for release in ("12.8.1", "13.0.2"):
            self.done("add", "cudnn", "--to", release)
        self.done("remove", "cudnn", "--from", "12.8.1")
        self.assertEqual(self.text("13.0.2", "lib/libcudnn.so.9"), "libcudnn 9.14.0 for CUDA 13\n")

    def test_what_is_not_there(self):
        for typed, says in (("cudnn", ("cudnn is not in CUDA 12.8.1", "nothing was added to it",
                                       "try: cudaenv add cudnn --to 12.8.1\n")),
                            ("cuda_nvcc", ("is a component of the toolkit itself", "--without cuda_nvcc")),
                            ("nccl", "nccl is not in CUDA 12.8.1")):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(3, "remove", typed, "--from", "12.8.1", says=says)

    def test_what_is_there_is_named(self):
        self.done("add", "cudnn", "--to", "12.8.1")
        with self.unchanged(self.toolkit("12.8.1")):
            self.fails(3, "remove", "cudn", "--from", "12.8.1",
                       says=("added to it: cudnn 9.14.0", "try: cudaenv remove cudnn\n"))
            self.fails(3, "remove", "cudnn@8", "--from", "12.8.1", says="added to it: cudnn 9.14.0")

    def test_a_toolkit_is_uninstalled_instead(self):
        for typed in ("12.8.1", "12.8", "cuda-12.8", "latest"):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(2, "remove", typed, says=f"try: cudaenv uninstall {typed}\n")


class WithAnInstall(ProductTest):
    def test_in_one_command(self):
        result = self.install("12.8.1", "--profile", "minimal", "--add", "cudnn,cutensor@2.0")
        self.assertEqual(self.added("12.8.1"), {"cudnn": "9.14.0", "cutensor": "2.0.2.1"})
        self.assertIn("to use it here: cudaenv local 12.8.1", result.stderr)

    def test_into_one_that_is_there(self):
        self.install("12.8.1", "--profile", "minimal")
        self.install("12.8.1", "--add", "cudnn")
        self.assertEqual(self.added("12.8.1"), {"cudnn": "9.14.0"})
        self.assertIn("cudnn 9.14.0 is in CUDA 12.8.1 already", self.install("12.8.1", "--add", "cudnn").stderr)

    def test_made_anew_it_has_what_was_added(self):
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn@9.13")
        self.install("12.8.1", "--force")
        self.assertEqual(self.added("12.8.1"), {"cudnn": "9.13.0"})

    def test_made_anew_it_is_linked_and_not_fetched(self):
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn@9.13,cutensor")
        inode = (self.toolkit("12.8.1") / "lib/libcudnn.so.9.13.0").stat().st_ino
        server = self.serve()
        result = self.install("12.8.1", "--force")
        self.assertIn("installed CUDA 12.8.1 with cudnn 9.13.0, cutensor 2.3.1: ", result.stderr)
        self.assertIn("; 0 B fetched, ", result.stderr)
        self.assertFalse([request for request in server.requests if ".tar" in request])
        self.assertEqual((self.toolkit("12.8.1") / "lib/libcudnn.so.9.13.0").stat().st_ino, inode)
        self.assertEqual(self.added("12.8.1"), {"cudnn": "9.13.0", "cutensor": "2.3.1"})

    def test_made_anew_with_another_version(self):
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn@9.13,cutensor")
        self.install("12.8.1", "--force", "--add", "cudnn@9.14")
        self.assertEqual(self.added("12.8.1"), {"cudnn": "9.14.0", "cutensor": "2.3.1"})
        self.assertFalse((self.toolkit("12.8.1") / "lib/libcudnn.so.9.13.0").exists())

    def test_what_is_told_counts_the_products(self):
        result = self.install("12.8.1", "--profile", "minimal", "--add", "cudnn,cutensor")
        count = len(self.receipt("12.8.1")["components"])
        self.assertIn(f"installing CUDA 12.8.1 with cudnn 9.14.0, cutensor 2.3.1 for {products.PLATFORM}: {count} components, ",
                      result.stderr)
        self.assertIn(f"[{count}/{count}] ", result.stderr)
        self.assertRegex(result.stderr, r"\[\d+/\d+\] cudnn 9\.14\.0\.64 ")
        self.assertEqual(result.stderr.count("licence applies"), 1)
        self.assertIn(f"{self.mirror}/cudnn/redist/cudnn/LICENSE.txt", result.stderr)
        self.assertEqual(result.stderr.count("installed CUDA"), 1)
        self.assertNotIn("added to CUDA", result.stderr)

    def test_a_product_that_fails_leaves_no_toolkit_without_it(self):
        archives = self.product_manifest("cudnn", "9.14.0")["cudnn"][products.PLATFORM]
        path = products.folder(self.mirror, "cudnn") / archives["cuda12"]["relative_path"]
        good = path.read_bytes()
        path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        self.fails(7, "install", "12.8.1", "--profile", "minimal", "--add", "cudnn", says="cudnn")
        self.assertEqual(self.names(), [])
        path.write_bytes(good)
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn@9.13")
        path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        with self.unchanged(self.toolkit("12.8.1")):
            self.fails(7, "install", "12.8.1", "--force", "--add", "cudnn@9.14", says="cudnn")

    def test_killed_anywhere_it_never_is_without_its_products(self):
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn")
        choice = random.Random(11)
        for _ in range(10):
            process = self.start("install", "12.8.1", "--force")
            time.sleep(choice.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.assertEqual(self.added("12.8.1"), {"cudnn": "9.14.0"})
            self.assertEqual(self.text("12.8.1", "lib/libcudnn.so.9"), "libcudnn 9.14.0 for CUDA 12\n")

    def test_a_product_that_cannot_be_had_installs_nothing(self):
        for typed, status in (("nccl", 3), ("cudn", 3), ("cudnn@8", 3)):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(status, "install", "13.0.2", "--add", typed)

    def test_a_dry_run_shows_it(self):
        with self.unchanged():
            output = self.install("12.8.1", "--add", "cudnn", "--dry-run").stdout
        lines = output.splitlines()
        self.assertTrue(lines[0].startswith("CUDA 12.8.1 for "))
        self.assertEqual(lines[1], f"cudnn 9.14.0 from {self.mirror}/cudnn/redist/")
        rows = [line.split()[0] for line in lines[3:] if line.startswith("  ")]
        self.assertIn("cudnn", rows)
        self.assertIn(f"  {len(rows) - 1} components ", output)


if __name__ == "__main__":
    unittest.main()
