#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv mirror`: a directory that serves as --mirror where there is no network."""

import hashlib
import os
import shutil
import re
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import PLATFORM, MirrorTest, listing, redist, wait_until

OTHER = "linux-sbsa" if PLATFORM == "linux-x86_64" else "linux-x86_64"


class MirroringTest(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1")

    def setUp(self):
        super().setUp()
        self.copy = self.box.top / "copy"

    def mirror_to_copy(self, *arguments, **options):
        return self.done("mirror", self.copy, *arguments, **options)

    def files(self):
        return {str(path.relative_to(self.copy)) for path in self.copy.rglob("*") if not path.is_dir()}

    def archives(self):
        return {name for name in self.files() if ".tar." in name}

    def whole(self):
        return {name for name in self.archives() if not name.endswith(".part")}

    def fetched(self, server):
        return [request.split()[1] for request in server.requests if request.startswith("GET") and ".tar." in request]

    def copied(self, component, release="12.8.1"):
        return self.copy / self.archive(release, component).relative_to(self.mirror)

    def hostile(self, change):
        """A release of one component, whose manifest lies."""
        manifest = self.manifest("12.8.1")
        manifest = {key: value for key, value in manifest.items() if not isinstance(value, dict) or key == "cuda_nvcc"}
        change(manifest["cuda_nvcc"][PLATFORM])
        redist.write_manifest(self.mirror, "12.8.1", manifest)


class Filling(MirroringTest):
    def test_serves_as_a_directory(self):
        result = self.mirror_to_copy("12.8")
        self.assertEqual(result.stdout, "")
        self.assertIn("NVIDIA's licence applies", result.stderr)
        self.assertRegex(result.stderr, rf"{self.copy} has CUDA 12.8.1 for {PLATFORM}: \d+ archives, [\d.]+ .?B fetched; "
                         r"there already: 0 archives, 0 B")
        self.assertIn(f"to install from it: cudaenv install 12.8.1 --mirror {self.copy}\n", result.stderr)
        self.install("12.8", "--mirror", self.copy, env={"CUDAENV_MIRROR": None})
        self.assertEqual(self.install("--list", "--mirror", self.copy).stdout, "12.8.1\n")
        self.assertEqual((self.copy / "redistrib_12.8.1.json").read_bytes(),
                         (self.mirror / "redistrib_12.8.1.json").read_bytes())

    def test_serves_behind_a_server_that_refuses_to_list(self):
        """Many answer 403 for a directory without an index page: a spec is to stand for what is here all the same."""
        self.mirror_to_copy("12.8.0")
        server = self.serve(directory=self.copy)
        listed = server.RequestHandlerClass.answer_directory
        index = (self.copy / "index.html").read_bytes()
        self.addCleanup(setattr, server.RequestHandlerClass, "answer_directory", listed)
        server.RequestHandlerClass.answer_directory = lambda handler, path, directory: handler.answer(
            *((200, index, {}) if path == "/" else (403, b"forbidden\n", {})))
        self.assertEqual(self.install("--list").stdout, "12.8.0\n")
        self.install("12.8")
        self.assertEqual(self.names(), ["12.8.0"])

    def test_everybody_may_read_it(self):
        self.mirror_to_copy("12.8.1", preexec_fn=lambda: os.umask(0o077))
        for name, (kind, mode, _) in {**listing(self.copy)}.items():
            self.assertEqual(mode, 0o755 if kind == 0o040000 else 0o644, name)
        self.assertEqual(self.copy.stat().st_mode & 0o777, 0o755)

    def test_holds_what_was_asked_for_and_nothing_else(self):
        self.mirror_to_copy("12.8.1", "--profile", "minimal", "--with", "cuda_gdb", "--without", "cuda_cccl")
        planned = self.install("12.8.1", "--profile", "minimal", "--with", "cuda_gdb", "--without", "cuda_cccl", "--dry-run")
        components = re.findall(r"(?m)^  ([a-z]\w+) ", planned.stdout)
        self.assertEqual({name.split("/")[0] for name in self.archives()}, set(components))
        self.assertEqual(self.files() - self.archives(), {"index.html", "redistrib_12.8.1.json"})

    def test_platforms(self):
        self.mirror_to_copy("12.8.1", "--profile", "minimal", "--platform", f"{PLATFORM},{OTHER}")
        self.assertEqual({name.split("/")[1] for name in self.archives()}, {PLATFORM, OTHER})
        self.mirror_to_copy("12.8.1", "--profile", "minimal", "--platform", "all")
        self.assertGreaterEqual({name.split("/")[1] for name in self.archives()}, {PLATFORM, OTHER})
        self.assertFalse([name for name in self.archives() if "windows" in name])

    def test_from_a_directory_and_from_several_mirrors(self):
        other = self.box.top / "other"
        other.mkdir()
        (other / "redistrib_12.8.1.json").write_bytes((self.mirror / "redistrib_12.8.1.json").read_bytes())
        result = self.mirror_to_copy("12.8.1", "--mirror", other, "--mirror", self.mirror)
        self.assertIn("trying the next mirror", result.stderr)
        self.done("mirror", "--verify", self.copy)

    def test_into_a_directory_with_an_index_page_of_its_own(self):
        self.copy.mkdir()
        (self.copy / "index.html").write_text("mine")
        self.mirror_to_copy("12.8.1")
        self.assertEqual((self.copy / "index.html").read_text(), "mine")

    def test_mistakes(self):
        with self.unchanged():
            self.fails(2, "mirror", self.copy, says=("no release was given", f"try: cudaenv mirror {self.copy} 12.8\n"))
            self.fails(2, "mirror", says="directory")
            self.fails(2, "mirror", self.mirror, "12.8", says="cannot be filled from itself")
            self.fails(3, "mirror", self.copy, "12.7", says="never released")
            self.fails(3, "mirror", self.copy, "12.8.7", says=f"try: cudaenv mirror {self.copy} 12.8.1\n")
            self.fails(3, "mirror", self.copy, "12.8", "--with", "libcubla",
                       says=f"try: cudaenv mirror {self.copy} 12.8 --with libcublas\n")
            self.fails(3, "mirror", self.copy, "12.8", "--platform", "linux-riscv64", says="linux-riscv64")
            self.fails(2, "mirror", "--verify", self.copy, "12.8", says="--verify takes the directory and nothing else")
            self.fails(7, "mirror", self.copy, "12.8.1", env={"CUDAENV_ACCEPT_MANIFEST": None},
                       says=("is not the one that NVIDIA published",
                             f"try: cudaenv mirror {self.copy} 12.8.1 --accept-manifest "))
        self.assertFalse(self.copy.exists())

    def test_dry_run(self):
        result = self.mirror_to_copy("12.8.1", "--profile", "minimal", "--dry-run")
        self.assertIn(f"CUDA 12.8.1 for {PLATFORM} from {self.mirror}: ", result.stdout)
        self.assertIn(str(self.copied("cuda_nvcc").relative_to(self.copy)), result.stdout)
        self.assertRegex(result.stdout, r"\nto fetch: \d+ archives, .*; there already: 0 archives, 0 B\n$")
        self.assertFalse(self.copy.exists())
        self.mirror_to_copy("12.8.1", "--profile", "minimal")
        result = self.mirror_to_copy("12.8.1", "--profile", "minimal", "--dry-run")
        self.assertIn("to fetch: 0 archives, 0 B; there already: ", result.stdout)

    def test_not_enough_room(self):
        self.change_manifest("12.8.1", lambda m: m["cuda_nvcc"][PLATFORM].update(size="60000000000"))
        info = os.statvfs(self.box.top)
        if info.f_bavail * info.f_frsize > 60_000_000_000:
            self.skipTest("the disk has room for all")
        self.fails(8, "mirror", self.copy, "12.8.1", says=("not enough space in", "needed: 60.0 GB", "free: "))
        self.assertEqual(self.files(), set())


class Sources(MirroringTest):
    def other(self, *without):
        """A directory with the same release, less some components' archives."""
        other = self.box.top / "other"
        shutil.copytree(self.mirror, other, ignore=shutil.ignore_patterns(*without))
        return other

    def assert_filled(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.done("mirror", "--verify", self.copy)
        for component in ("cuda_nvcc", "cuda_cudart"):
            self.assertEqual(self.copied(component).read_bytes(), self.archive("12.8.1", component).read_bytes())
        self.assertEqual([path for path in self.copy.rglob("*") if path.suffix in (".part", ".copy")], [])

    def test_a_server_that_lacks_an_archive_which_a_directory_has(self):
        other = self.other()
        server = self.serve("cuda_nvcc/*=404")
        self.assert_filled(self.cudaenv("mirror", self.copy, "12.8.1", "--profile", "minimal", "--mirror", server.url,
                                        "--mirror", other))

    def test_a_server_that_breaks_off_before_a_directory(self):
        other = self.other()
        server = self.serve("cuda_nvcc/*=truncate:100")
        self.assert_filled(self.cudaenv("mirror", self.copy, "12.8.1", "--profile", "minimal", "--mirror", server.url,
                                        "--mirror", other))

    def test_wrong_bytes_everywhere_come_to_an_end(self):
        other = self.other()
        archive = other / self.archive("12.8.1", "cuda_nvcc").relative_to(self.mirror)
        archive.write_bytes(bytes(255 - byte for byte in archive.read_bytes()))
        server = self.serve("cuda_nvcc/*=404")
        self.fails(7, "mirror", self.copy, "12.8.1", "--profile", "minimal", "--mirror", server.url, "--mirror", other,
                   says=("cuda_nvcc", "expected sha256"))
        self.assertFalse(self.copied("cuda_nvcc").exists())

    def test_what_a_killed_run_had_for_itself_goes(self):
        archive = self.copied("cuda_nvcc")
        for name in (f"{archive.name}.4711.part", f"{archive.name}.4711.copy"):
            self.box.write(archive.parent / name, "x")
        self.assert_filled(self.cudaenv("mirror", self.copy, "12.8.1", "--profile", "minimal"))


class Again(MirroringTest):
    def test_nothing_is_fetched_twice(self):
        self.mirror_to_copy("12.8.1", "--profile", "minimal")
        before = listing(self.copy)
        stamps = {name: (self.copy / name).stat().st_mtime_ns for name in self.files()}
        server = self.serve()
        result = self.mirror_to_copy("12.8.1", "--profile", "minimal")
        self.assertIn(f"nothing to fetch: {self.copy} has CUDA 12.8.1 for {PLATFORM} (", result.stderr)
        self.assertNotIn("licence", result.stderr)
        self.assertEqual(self.fetched(server), [])
        self.assertEqual(listing(self.copy), before)
        self.assertEqual({name: (self.copy / name).stat().st_mtime_ns for name in self.files()}, stamps)

    def test_a_larger_profile_fetches_the_rest(self):
        self.mirror_to_copy("12.8.1", "--profile", "minimal")
        had = self.archives()
        server = self.serve()
        self.mirror_to_copy("12.8.1")
        self.assertEqual({path.lstrip("/") for path in self.fetched(server)}, self.archives() - had)

    def test_releases_share_archives(self):
        server = self.serve()
        shared = self.manifest("12.8.1")["libcublas"]
        self.change_manifest("12.8.0", lambda manifest: manifest.update(libcublas=shared))
        result = self.mirror_to_copy("12.8.0", "12.8.1", "12.8", "--profile", "full")
        self.assertEqual(self.fetched(server).count("/" + shared[PLATFORM]["relative_path"]), 1)
        self.assertEqual(len(self.fetched(server)), len(set(self.fetched(server))))
        self.assertRegex(result.stderr, f"has CUDA 12.8.0 for {PLATFORM}; CUDA 12.8.1 for {PLATFORM}: ")
        self.assertEqual({name for name in self.files() if name.startswith("redistrib")},
                         {"redistrib_12.8.0.json", "redistrib_12.8.1.json"})
        index = (self.copy / "index.html").read_text()
        self.assertEqual(re.findall(r'href="([^"]*)"', index), ["redistrib_12.8.0.json", "redistrib_12.8.1.json"])

    def test_what_is_damaged_is_fetched_anew(self):
        self.mirror_to_copy("12.8.1")
        nvcc, cublas = self.copied("cuda_nvcc"), self.copied("libcublas")
        nvcc.write_bytes(nvcc.read_bytes()[:-1] + b"x")
        cublas.write_bytes(cublas.read_bytes()[:-1])
        server = self.serve()
        result = self.mirror_to_copy("12.8.1")
        self.assertIn(f"{nvcc} is damaged (its sha256 is another one) and is fetched anew", result.stderr)
        self.assertRegex(result.stderr, rf"{cublas} is damaged \(\d+ bytes instead of \d+\)")
        self.assertEqual(len(self.fetched(server)), 2)
        self.done("mirror", "--verify", self.copy)


class Stopped(MirroringTest):
    def assert_not_listed(self):
        self.assertEqual(list(self.copy.glob("redistrib*")), [])
        self.assertFalse((self.copy / "index.html").exists())

    def stalled(self):
        """A run that has fetched something and waits for libcublas."""
        server = self.serve("libcublas/*=stall:100")
        process = self.start("mirror", self.copy, "12.8.1")
        wait_until(lambda: [r for r in server.requests if "libcublas/" in r and ".tar." in r], "libcublas is asked for")
        wait_until(self.whole, "something is there")
        return process

    def goes_on(self):
        had = self.whole()
        self.assert_not_listed()
        server = self.serve()
        self.mirror_to_copy("12.8.1")
        self.assertFalse(had & {path.lstrip("/") for path in self.fetched(server)})
        self.assertEqual(list(self.copy.rglob("*.part")), [])
        self.assertEqual(list(self.copy.glob(".*")), [])
        self.install("12.8.1", "--mirror", self.copy)
        self.done("mirror", "--verify", self.copy)

    def test_killed(self):
        process = self.stalled()
        process.kill()
        process.wait()
        self.goes_on()

    def test_interrupted(self):
        status, _, error, _ = self.interrupt(self.stalled(), signal.SIGINT)
        self.assertEqual(status, 130)
        self.assertIn("what has arrived stays; the same command goes on from there", error)
        self.goes_on()

    def test_an_archive_that_is_not_there(self):
        self.serve("libcublas/*=404")
        self.fails(3, "mirror", self.copy, "12.8.1", says=("component libcublas",))
        self.goes_on()

    def test_a_damaged_archive_is_never_put_in_place(self):
        self.serve("libcublas/*=swap")
        self.fails(7, "mirror", self.copy, "12.8.1", says=("component libcublas", "expected sha256", "found    sha256"))
        self.assertFalse(self.copied("libcublas").exists())
        self.goes_on()

    def test_two_at_once(self):
        first = self.stalled()
        second = self.start("mirror", self.copy, "12.8.1", env={"CUDAENV_MIRROR": str(self.mirror)})
        self.assertTrue(any("waiting for process" in line for line in iter(second.stderr.readline, "")))
        self.interrupt(first)
        _, error = second.communicate()
        self.assertEqual(second.returncode, 0, error)


class Hostile(MirroringTest):
    def test_paths_that_leave_the_directory_or_mean_something_else(self):
        archive = self.archive("12.8.1", "cuda_nvcc").read_bytes()
        for path in ("../outside.tar.xz", "/tmp/outside.tar.xz", "a/../../outside.tar.xz", "redistrib_12.8.0.json", "index.html",
                     "cuda_nvcc/x.tar.xz.part", ".hidden/x.tar.xz", "a\\..\\b", "file:a/b"):
            with self.subTest(path=path):
                self.hostile(lambda entry: entry.update(relative_path=path))
                target = self.mirror / path if not path.startswith("/") and ".." not in path else None
                if target and not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive)
                with self.unchanged(self.box.top):
                    self.fails(7, "mirror", self.copy, "12.8.1", "--without", "cuda_cudart", says="the manifest is not usable")

    def test_a_path_for_two_archives(self):
        path = self.archive("12.8.0", "cuda_nvcc").relative_to(self.mirror)
        self.hostile(lambda entry: entry.update(relative_path=str(path)))
        self.fails(7, "mirror", self.copy, "12.8.0", "12.8.1", says=f"different archives at {path}")
        self.assertFalse(self.copy.exists())

    def test_a_link_in_place_of_an_archive_is_replaced_not_followed(self):
        precious = self.box.write("precious", "precious")
        self.mirror_to_copy("12.8.1", "--profile", "minimal")
        nvcc = self.copied("cuda_nvcc")
        nvcc.unlink()
        nvcc.symlink_to(precious)
        Path(f"{nvcc}.part").symlink_to(precious)
        self.mirror_to_copy("12.8.1", "--profile", "minimal")
        self.assertEqual(precious.read_text(), "precious")
        self.assertFalse(nvcc.is_symlink())


class Verify(MirroringTest):
    def setUp(self):
        super().setUp()
        self.mirror_to_copy("12.8.1", "--profile", "minimal")

    def verify(self, *arguments, **options):
        return self.done("mirror", "--verify", self.copy, *arguments, **options)

    def damaged(self, *says, **options):
        return self.fails(7, "mirror", self.copy, "--verify", says=(f"{self.copy} is damaged", *says), **options)

    def test_whole(self):
        with self.unchanged(self.copy):
            result = self.verify()
        count = len(self.archives())
        self.assertRegex(result.stderr, rf"^cudaenv: {self.copy}: 1 manifest, {count} archives \(.*B\) are right, "
                         r"\d+ that they name are absent\n$")

    def test_needs_no_network(self):
        self.verify(env={"CUDAENV_MIRROR": "https://192.0.2.1/"})

    def test_an_archive_that_is_absent_is_no_fault(self):
        before = int(re.search(r"(\d+) that they name", self.verify().stderr)[1])
        self.copied("cuda_nvcc").unlink()
        self.assertIn(f"{before + 1} that they name are absent", self.verify().stderr)

    def test_damaged_archives_are_named(self):
        nvcc, cudart = self.copied("cuda_nvcc"), self.copied("cuda_cudart")
        nvcc.write_bytes(nvcc.read_bytes()[:-1] + b"x")
        cudart.unlink()
        cudart.mkdir()
        result = self.damaged(f"{nvcc.relative_to(self.copy)}: its sha256 is another one",
                              f"{cudart.relative_to(self.copy)}: it is not a file", "fetched anew by the command")
        self.assertNotIn("cuda_cccl", result.stderr)

    def test_damaged_manifests(self):
        manifest = self.copy / "redistrib_12.8.1.json"
        for text in ("", "{", "<html>", '{"cuda_nvcc": {"linux-x86_64": {"relative_path": "../x"}}}'):
            with self.subTest(text=text):
                manifest.write_text(text)
                self.damaged("redistrib_12.8.1.json: ")

    def test_a_manifest_that_is_not_the_published_one(self):
        found = hashlib.sha256((self.copy / "redistrib_12.8.1.json").read_bytes()).hexdigest()
        self.damaged("not the one that NVIDIA published", f"found    sha256 {found}", env={"CUDAENV_ACCEPT_MANIFEST": None})
        self.verify("--accept-manifest", found, env={"CUDAENV_ACCEPT_MANIFEST": None})

    def test_strays_are_named(self):
        for name in ("notes.txt", "cuda_nvcc/old-archive.tar.xz", "cuda_nvcc/new-archive.tar.xz.part"):
            self.box.write(self.copy / name)
        self.box.write(self.copy / "cuda_nvcc/LICENSE.txt")
        result = self.verify()
        self.assertEqual(re.findall(r"belongs to no manifest: (.*)", result.stderr),
                         [str(self.copy / name) for name in ("cuda_nvcc/new-archive.tar.xz.part",
                                                             "cuda_nvcc/old-archive.tar.xz", "notes.txt")])

    def test_nothing_to_verify(self):
        empty = self.box.top / "empty"
        self.fails(3, "mirror", "--verify", empty, says=f"there is no directory {empty}")
        empty.mkdir()
        self.fails(3, "mirror", "--verify", empty, says=f"there is no manifest in {empty}")

    def test_control_bytes_of_names_never_reach_a_terminal(self):
        self.box.write(self.copy / "cuda_nvcc/\x1b[31m.tar.xz")
        self.assertIn(r"\x1b[31m.tar.xz", self.verify().stderr)


if __name__ == "__main__":
    unittest.main()
