#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where `cudaenv install` fetches from: mirrors, their order, their index pages and the digests of their manifests."""

import hashlib
import shutil
import socket
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import MirrorTest, redist

PINNED = "249e28a83008d711d5f72880541c8be6253f6d61608461de4fcb715554a6cf17"  # registry/releases.toml, 12.8.1


def closed_port():
    """An address on the loopback interface where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def no_index(path):
    return {"404": ""} if path == "/" else {}


class Mirrors(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1", "13.3.1")

    def test_over_http_from_this_machine(self):
        server = self.serve()
        self.install("12.8.1")
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertIn("GET /redistrib_12.8.1.json - 200", server.requests)

    def test_the_option_comes_before_the_variable_and_that_before_the_setting(self):
        self.done("config", "set", "mirror", closed_port())
        self.install("12.8.0")
        self.install("12.8.1", "--mirror", self.mirror, env={"CUDAENV_MIRROR": closed_port()})
        self.assertEqual(self.names(), ["12.8.0", "12.8.1"])

    def test_the_setting(self):
        self.done("config", "set", "mirror", str(self.mirror))
        self.install("12.8.1", env={"CUDAENV_MIRROR": None})

    def test_plain_http_from_elsewhere_is_refused_before_any_connection(self):
        for address in ("http://192.0.2.1/cuda", "http://localhost.example/", "http://127.0.0.1.example/",
                        "HTTP://192.0.2.1", "http://user:secret@192.0.2.1/", "http://[2001:db8::1]/", "http://2130706433/"):
            with self.subTest(address=address), self.unchanged():
                start = time.monotonic()
                result = self.fails(2, "install", "12.8.1", "--mirror", address,
                                    says=("plain http is only used on this machine itself", "an https:// address",
                                          "try: cudaenv config set network.allow_http true\n"))
                self.assertLess(time.monotonic() - start, 2)
                self.assertNotIn("secret", result.stderr)

    def test_what_is_no_address(self):
        for address in ("ftp://example.com/", "https://", "file://host/x", "http://127.0.0.1:99999/", "https://a b/"):
            with self.subTest(address=address), self.unchanged():
                self.fails(2, "install", "12.8.1", "--mirror", address, says="cannot download from")

    def test_a_directory_that_is_not_there(self):
        with self.unchanged():
            self.fails(3, "install", "12.8.1", "--mirror", self.box.top / "none", says=f"no directory {self.box.top}/none")

    def test_the_next_mirror_where_one_is_down(self):
        down, server = closed_port(), self.serve()
        self.done("config", "set", "mirror", down, str(self.box.top / "none"), server.url)
        result = self.install("12.8.1", env={"CUDAENV_MIRROR": None})
        warnings = [line for line in result.stderr.splitlines() if line.endswith("; trying the next mirror")]
        self.assertEqual(len(warnings), 2, result.stderr)
        self.assertIn(down, warnings[0])
        self.assertEqual(self.names(), ["12.8.1"])

    def test_the_next_mirror_where_one_lacks_the_release(self):
        small = self.box.top / "small"
        small.mkdir()
        redist.write_manifest(small, "11.8.0", self.manifest("12.8.0"))
        result = self.install("12.8.1", env={"CUDAENV_MIRROR": f"{small} {self.mirror}"})
        self.assertIn(f"CUDA 12.8.1 is not among the releases published here ({small}); trying the next mirror", result.stderr)
        self.assertEqual(self.names(), ["12.8.1"])

    def other_mirror(self):
        """A copy of the mirror, and the variable that names both."""
        other = self.box.top / "other mirror"
        shutil.copytree(self.mirror, other)
        return other, {"CUDAENV_MIRROR": f"{other}\n{self.mirror}"}

    def warnings(self, result):
        return [line for line in result.stderr.splitlines() if line.endswith("; trying the next mirror")]

    def test_the_next_mirror_where_one_lists_a_manifest_that_it_lacks_or_has_broken(self):
        other, both = self.other_mirror()
        manifest = other / "redistrib_12.8.1.json"
        manifest.unlink()
        for spoil in (manifest.mkdir, manifest.rmdir, lambda: manifest.write_text("<html>")):
            spoil()
            result = self.install("12.8.1", "--force", env=both)
            self.assertEqual(len(self.warnings(result)), 1, result.stderr)
            self.assertIn(str(other), self.warnings(result)[0])
        server = self.serve("redistrib_*=503", directory=other)
        self.install("12.8.1", "--force", env={"CUDAENV_MIRROR": f"{server.url} {self.mirror}"})

    def test_a_broken_manifest_of_the_last_mirror_is_the_error(self):
        (self.mirror / "redistrib_12.8.1.json").write_text("{")
        with self.unchanged():
            self.fails(7, "install", "12.8.1", env={"CUDAENV_MIRROR": f"{closed_port()} {self.mirror}"},
                       says="the manifest is not usable")

    def test_an_archive_that_one_mirror_lacks_comes_from_the_next_with_the_same_manifest(self):
        other, both = self.other_mirror()
        path = self.archive("12.8.1", "cuda_nvcc").relative_to(self.mirror)
        (other / path).unlink()
        self.archive("12.8.1", "libcublas").unlink()  # of the second one: the first is not done with
        result = self.install("12.8.1", env=both)
        self.assertEqual(len(self.warnings(result)), 1, result.stderr)
        self.assertIn(f"there is no {other / path}; trying", result.stderr)
        self.assertEqual(self.names(), ["12.8.1"])

    def test_a_mirror_that_goes_down_meanwhile_is_asked_no_more(self):
        other, _ = self.other_mirror()
        server = self.serve("cuda_nvcc/*=close", directory=other)
        result = self.install("12.8.1", env={"CUDAENV_MIRROR": f"{server.url} {self.mirror}"})
        self.assertEqual(len(self.warnings(result)), 1, result.stderr)
        tries = [request for request in server.requests if "cuda_nvcc" in request]
        self.assertLessEqual(len(tries), 10, "libcurl tries a dead connection twice")
        self.assertEqual(self.names(), ["12.8.1"])

    def test_an_archive_is_not_taken_from_a_mirror_with_another_manifest(self):
        other, both = self.other_mirror()
        (other / self.archive("12.8.1", "cuda_nvcc").relative_to(self.mirror)).unlink()
        self.change_manifest("12.8.1", lambda manifest: manifest.update(release_date="2001-01-01"))
        with self.unchanged():
            result = self.fails(3, "install", "12.8.1", env=both, says="component cuda_nvcc")
        self.assertEqual(self.warnings(result), [])

    def test_a_damaged_archive_is_final(self):
        other, both = self.other_mirror()
        archive = other / self.archive("12.8.1", "cuda_nvcc").relative_to(self.mirror)
        bytes_of = archive.read_bytes()
        for damaged in (bytes_of[:-1] + b"x", bytes_of[:-1]):
            archive.write_bytes(damaged)
            with self.unchanged():
                result = self.fails(7, "install", "12.8.1", env=both, says="component cuda_nvcc")
            self.assertEqual(self.warnings(result), [])

    def test_the_variable_may_name_a_directory_with_a_blank(self):
        other, _ = self.other_mirror()
        for value in (str(other), f"{other}\n{self.mirror}", f"\n {other} \n"):
            with self.subTest(value=value):
                self.assertIn(f"from {other}\n", self.install("12.8.1", "--dry-run", env={"CUDAENV_MIRROR": value}).stdout)

    def test_all_mirrors_down(self):
        with self.unchanged():
            result = self.fails(6, "install", "12.8.1", env={"CUDAENV_MIRROR": f"{closed_port()} {closed_port()}"},
                                says=("cannot download", "--mirror URL_OR_DIRECTORY"))
        self.assertEqual(result.stderr.count("trying the next mirror"), 1)

    def test_a_number_that_was_never_released_is_told_once(self):
        both = {"CUDAENV_MIRROR": f"{self.mirror} {self.mirror}"}
        result = self.fails(3, "install", "12.7", env=both, says="never released")
        self.assertNotIn("trying the next mirror", result.stderr)

    def test_without_an_index_page_the_registry_lists(self):
        self.serve().faults.of = no_index
        listed = self.install("--list", "12.8")
        self.assertEqual(listed.stdout, "12.8.0\n12.8.1\n12.8.2\n")
        self.assertIn("lists nothing; these are the releases known to cudaenv", listed.stderr)
        self.install("12.8.1")
        self.assertEqual(self.names(), ["12.8.1"])

    def test_DL_02_without_an_index_page_a_whole_number_is_tried(self):
        manifest = self.manifest("12.8.1")
        manifest["release_label"] = "14.2.7"
        redist.write_manifest(self.mirror, "14.2.7", manifest)
        self.serve().faults.of = no_index
        self.install("14.2.7")
        self.assertEqual(self.names(), ["14.2.7"])
        self.fails(3, "install", "14.2.8", says="14.2.8")

    def test_a_page_that_lists_nothing(self):
        server = self.serve()
        server.faults.of = lambda path: {"html200": ""} if path == "/" else {}
        with self.unchanged():
            self.fails(3, "install", "12.8.1", says="there are no releases at all")

    def test_credentials_are_never_printed(self):
        server = self.serve()
        address = server.url.replace("http://", "http://user:secret@")
        result = self.install("12.8.1", "--mirror", address)
        receipt = (self.toolkit("12.8.1") / "receipt.json").read_text()
        self.assertNotIn("secret", result.stdout + result.stderr + receipt)

    def test_a_redirect_away_from_this_machine_is_refused(self):
        self.serve("cuda_nvcc/*=redirect:http://192.0.2.1%s")
        with self.unchanged():
            self.fails(6, "install", "12.8.1", says=("the server redirects to http://192.0.2.1", "cuda_nvcc"))

    def test_a_redirect_on_this_machine_is_followed(self):
        other = self.serve()
        self.serve(f"cuda_nvcc/*=redirect:{other.url}%s")
        self.install("12.8.1")
        self.assertTrue([request for request in other.requests if "cuda_nvcc" in request])

    def test_a_server_that_is_busy_is_asked_again(self):
        self.serve("cuda_nvcc/*=503@1", "redistrib_*=close@1")
        self.install("12.8.1")
        self.assertEqual(self.names(), ["12.8.1"])


class Manifests(MirrorTest):
    RELEASES = ("12.8.1", "13.3.1")

    def setUp(self):
        super().setUp()
        del self.box.environment["CUDAENV_ACCEPT_MANIFEST"]
        self.server = self.serve()
        self.digest = hashlib.sha256((self.mirror / "redistrib_12.8.1.json").read_bytes()).hexdigest()

    def requests(self):
        return self.server.requests.count("GET /redistrib_12.8.1.json - 200")

    def test_another_than_the_published_one_is_fetched_anew_and_refused(self):
        with self.unchanged():
            self.fails(7, "install", "12.8", says=(
                "the manifest of CUDA 12.8.1 from", f"expected sha256 {PINNED}", f"found    sha256 {self.digest}",
                f"try: cudaenv install 12.8.1 --accept-manifest {self.digest}"))
        self.assertEqual(self.requests(), 2)
        self.assertFalse([request for request in self.server.requests if "archive" in request])

    def test_another_than_the_published_one_does_not_make_way_for_the_next_mirror(self):
        with self.unchanged():
            result = self.fails(7, "install", "12.8.1", "--profile", "minimal", "--mirror", self.mirror, "--mirror",
                                self.server.url, says=f"--accept-manifest {self.digest} --profile minimal --mirror ")
        self.assertNotIn("trying the next", result.stderr)

    def test_accepted_by_its_digest(self):
        self.install("12.8.1", "--accept-manifest", self.digest)
        self.assertEqual(self.requests(), 1)

    def test_accepted_by_any(self):
        self.install("12.8.1", "--accept-manifest", "any")

    def test_accepted_by_the_variable(self):
        self.install("12.8.1", env={"CUDAENV_ACCEPT_MANIFEST": self.digest})

    def test_not_accepted_by_another_digest(self):
        with self.unchanged():
            for digest in ("0" * 64, PINNED, "yes", self.digest[:8]):
                self.fails(7, "install", "12.8.1", "--accept-manifest", digest)

    def test_one_whose_digest_nobody_knows(self):
        self.install("13.3.1")

    def test_from_a_directory_it_is_checked_too(self):
        self.fails(7, "install", "12.8.1", "--mirror", self.mirror, says=PINNED)


if __name__ == "__main__":
    unittest.main()
