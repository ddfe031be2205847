#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv lock`, and `install --locked`, which obeys it bit for bit or fails."""

import hashlib
import json
import os
import re
import shutil
import socket
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import PLATFORM, File, MirrorTest, listing, redist
from support import products

OTHER = "linux-sbsa" if PLATFORM == "linux-x86_64" else "linux-x86_64"


class LockTest(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1", "13.0.2")

    def setUp(self):
        super().setUp()
        self.lock_file = self.box.project / "cuda.lock"

    def select(self, text, directory=None):
        return self.box.write((directory or self.box.project) / ".cuda-version", text)

    def lock(self, *arguments, **options):
        return self.done("lock", *arguments, **options)

    def text(self):
        return self.lock_file.read_text()

    def locked(self, *arguments, **options):
        return self.done("install", "--locked", *arguments, **options)

    def value(self, key):
        return re.search(rf"(?m)^{key} = (.*)$", self.text())[1]

    def archives(self, platform=PLATFORM):
        """Name to the rest, of the lines of a platform."""
        table = self.text().split(f'[[platform]]\nname = "{platform}"\n')[1].split("]\n")[0]
        return dict(re.findall(r'(?m)^  \{ name = "([^"]+)", (.*) \},$', table))

    def edit(self, old, new):
        self.assertIn(old, self.text())
        self.lock_file.write_text(self.text().replace(old, new))


class Lock(LockTest):
    def test_holds_what_an_install_takes(self):
        result = self.lock("12.8")
        self.assertEqual(result.stdout, "")
        self.assertIn(f"{self.lock_file} is written: CUDA 12.8.1, profile default: ", result.stderr)
        self.assertEqual((self.value("format"), self.value("release"), self.value("profile"), self.value("with"),
                          self.value("without")), ("1", '"12.8.1"', '"default"', "[]", "[]"))
        digest = hashlib.sha256((self.mirror / "redistrib_12.8.1.json").read_bytes()).hexdigest()
        self.assertEqual(self.value("manifest_sha256"), f'"{digest}"')
        planned = [line.split()[0] for line in self.install("12.8.1", "--dry-run").stdout.splitlines()]
        self.assertEqual(list(self.archives()), [name for name in planned if name in self.manifest("12.8.1")])
        entry = self.manifest("12.8.1")["cuda_nvcc"]
        archive = entry[PLATFORM]
        self.assertEqual(self.archives()["cuda_nvcc"],
                         f'version = "{entry["version"]}", path = "{archive["relative_path"]}", '
                         f'size = {archive["size"]}, sha256 = "{archive["sha256"]}"')
        self.assertTrue(self.text().startswith("# "))
        self.assertIn("`cudaenv lock` makes it anew", self.text().splitlines()[1])

    def test_is_written_once_and_read_by_everybody(self):
        self.lock("12.8")
        os.utime(self.lock_file, ns=(1, 1))
        os.chmod(self.lock_file, 0o600)
        self.assertIn("is up to date", self.lock().stderr)
        self.assertEqual(self.lock_file.stat().st_mtime_ns, 1)
        self.lock("--profile", "full")
        self.assertNotEqual(self.lock_file.stat().st_mtime_ns, 1)
        self.assertEqual(self.lock_file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.box.project)), ["cuda.lock"])

    def test_lies_beside_the_version_file(self):
        self.select("12.8.0\n")
        below = self.box.project / "src/kernels"
        below.mkdir(parents=True)
        self.lock(cwd=below)
        self.assertEqual(self.value("release"), '"12.8.0"')

    def test_lies_here_where_no_project_selects(self):
        self.box.write(self.box.root / "version", "12.8\n")
        self.lock()
        self.lock_file.unlink()
        self.lock(env={"CUDAENV_VERSION": "12.8"})
        self.assertEqual(self.value("release"), '"12.8.1"')

    def test_lies_where_it_is_told(self):
        self.select("12.8\n")
        self.lock("13.0", "--output", "other.lock")
        self.assertIn('release = "13.0.2"', (self.box.project / "other.lock").read_text())
        self.assertFalse(self.lock_file.exists())

    def test_nothing_that_asks_for_a_release(self):
        with self.unchanged():
            self.fails(2, "lock", says=("no version was given", "try: cudaenv lock 12.8"))
            self.fails(2, "lock", "system", says="is not a release")
            self.fails(3, "lock", "12.7", says="never released")

    def test_an_adopted_toolkit_cannot_be_locked(self):
        self.install("12.8.1")
        shutil.copytree(self.toolkit("12.8.1"), self.box.top / "own")
        (self.box.top / "own/receipt.json").unlink()
        self.done("adopt", self.box.top / "own", "--name", "mine")
        self.select("mine\n")
        self.fails(2, "lock", says="mine is an adopted toolkit")

    def test_components(self):
        self.lock("12.8", "--profile", "minimal", "--with", "cuda_gdb,cuda_nvrtc", "--without", "cuda_cccl")
        self.assertEqual((self.value("profile"), self.value("with"), self.value("without")),
                         ('"minimal"', '["cuda_gdb", "cuda_nvrtc"]', '["cuda_cccl"]'))
        self.assertIn("cuda_gdb", self.archives())
        self.assertNotIn("cuda_cccl", self.archives())
        self.assertNotIn("libcublas", self.archives())

    def test_platforms(self):
        self.lock("12.8", "--profile", "minimal", "--platform", OTHER, "--platform", PLATFORM)
        names = re.findall(r'(?m)^\[\[platform\]\]\nname = "(.*)"', self.text())
        self.assertEqual(names, sorted([OTHER, PLATFORM]))
        both = self.text()
        self.lock("--platform", f"{PLATFORM},{OTHER},{PLATFORM}")
        self.assertEqual(self.text(), both)
        self.lock("--platform", "all")
        self.assertGreaterEqual(set(re.findall(r'(?m)^\[\[platform\]\]\nname = "(.*)"', self.text())), set(names))
        self.fails(3, "lock", "--platform", "linux-riscv64", says="no archives for linux-riscv64")

    def test_keeps_what_it_has_unless_told_otherwise(self):
        self.select("12\n")
        self.lock("12.8.0", "--profile", "minimal", "--with", "cuda_gdb", "--platform", f"{OTHER},{PLATFORM}")
        before = self.text()
        self.lock()  # 12.8.1 is published, and .cuda-version would allow it
        self.assertEqual(self.text(), before)
        self.lock("12.8")
        self.assertEqual((self.value("release"), self.value("profile"), self.value("with")),
                         ('"12.8.1"', '"minimal"', '["cuda_gdb"]'))
        self.assertIn("cuda_gdb", self.archives(OTHER))
        self.select("13\n")
        self.lock()
        self.assertEqual(self.value("release"), '"13.0.2"')

    def test_without_a_version_file_it_stays_whatever_is_selected_for_everywhere(self):
        self.lock("12.8.0")
        self.box.write(self.box.root / "version", "13.0\n")
        self.assertIn("is up to date", self.lock().stderr)
        self.lock(env={"CUDAENV_VERSION": "13.0"})
        self.assertEqual(self.value("release"), '"13.0.2"')

    def test_stays_with_what_is_installed(self):
        self.install("12.8.0")
        self.select("12.8\n")
        self.lock()
        self.assertEqual(self.value("release"), '"12.8.0"')

    def test_a_spec_that_the_project_contradicts(self):
        self.select("12.8\n")
        with self.unchanged():
            self.fails(2, "lock", "13.0", says=("13.0.2, but 12.8 is asked for", f"set by {self.box.project}/.cuda-version:1",
                                                "try: cudaenv lock\n"))

    def test_what_a_mirror_says_never_breaks_the_form(self):
        self.change_manifest("12.8.1", lambda m: m["cuda_nvcc"].update(version='1"\n[[platform]]\nname = "x'))
        self.lock("12.8.1")
        self.assertIn(r'version = "1\"\u000A[[platform]]\u000Aname = \"x"', self.text())
        self.locked()
        self.assertIn("is up to date", self.lock().stderr)

    def test_hints_name_this_command(self):
        self.fails(3, "lock", "12.8.1", "--with", "libcubla", says="try: cudaenv lock 12.8.1 --with libcublas\n")
        self.fails(3, "lock", "12.8.7", says="try: cudaenv lock 13.0.2\n")
        self.fails(2, "lock", "12.8", "--profile", "tiny", says="try: cudaenv lock --profile minimal\n")
        digest = hashlib.sha256((self.mirror / "redistrib_12.8.1.json").read_bytes()).hexdigest()
        without = {"CUDAENV_ACCEPT_MANIFEST": None}
        self.fails(7, "lock", "12.8", "--profile", "full", "--platform", OTHER, env=without,
                   says=f"try: cudaenv lock 12.8 --accept-manifest {digest} --profile full --platform {OTHER}\n")
        self.lock("12.8", "--accept-manifest", digest, env=without)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.fails(6, "lock", "12.8", env={"CUDAENV_MIRROR": f"http://127.0.0.1:{probe.getsockname()[1]}"},
                       says="try: cudaenv lock 12.8 --mirror URL_OR_DIRECTORY\n")


    def test_a_link_is_written_through_unless_it_leads_nowhere(self):
        real = self.box.top / "real.lock"
        self.lock_file.symlink_to(real)
        with self.unchanged():
            self.fails(2, "lock", "12.8", says=f"is a link to {real}, which is not there")
        self.lock("12.8", "--output", real)
        self.lock("12.8", "--profile", "minimal")
        self.assertTrue(self.lock_file.is_symlink())
        self.assertIn('profile = "minimal"', real.read_text())


class Check(LockTest):
    def check(self, status, *arguments):
        before = listing(self.box.project)
        result = self.cudaenv("lock", "--check", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(listing(self.box.project), before)
        return result.stdout

    def test_up_to_date(self):
        self.lock("12.8")
        self.assertEqual(self.check(0), "")
        self.select("12.8\n")
        self.assertEqual(self.check(0), "")

    def test_not_there(self):
        self.assertEqual(self.check(1, "12.8"), f"there is no {self.lock_file}\n")

    def test_differences(self):
        self.lock("12.8.1")
        was = self.manifest("12.8.1")["libcublas"]["version"]
        self.publish("12.8.1", "libcublas", {"lib/libcublas.so.12": File(b"x")}, version="12.8.99")
        lines = self.check(1).splitlines()
        self.assertIn(f"libcublas {was} -> 12.8.99 ({PLATFORM})", lines)
        self.assertRegex(lines[0], "^manifest [0-9a-f]{64} -> [0-9a-f]{64}$")
        self.assertEqual(len(lines), 2)
        self.assertIn("profile default -> minimal\n", self.check(1, "--profile", "minimal"))
        self.lock()
        self.check(0)

    def test_many_differences_are_cut_short(self):
        self.lock("12.8.0", "--profile", "full", "--platform", f"{PLATFORM},{OTHER}")
        self.assertRegex(self.check(1, "12.8.1"), r"\nand \d+ more\n$")

    def test_an_edited_text(self):
        self.lock("12.8")
        self.lock_file.write_text(self.text() + "# mine\n")
        self.assertIn("its text was edited", self.check(1))
        self.lock()
        self.assertNotIn("mine", self.text())


class Broken(LockTest):
    def setUp(self):
        super().setUp()
        self.lock("12.8.1", "--profile", "minimal")

    def refused(self, *says):
        """By all that reads it, with nothing written."""
        with self.unchanged():
            for command in (["install", "--locked"], ["lock"], ["lock", "--check"]):
                self.fails(2, *command, says=(self.lock_file, *says))

    def test_a_merge_conflict(self):
        self.lock_file.write_text("<<<<<<< HEAD\n" + self.text())
        self.refused(f"{self.lock_file}: line 1, column 1: ", f"try: rm {self.lock_file}")

    def test_broken_in_the_middle(self):
        lines = self.text().splitlines()
        lines[7] = "manifest_sha256 ="
        self.lock_file.write_text("\n".join(lines))
        self.refused("line 8, ")

    def test_members(self):
        for old, new, says in (
                ("format = 1", "format = 2", "its format is 2"), ('path = "cuda_nvcc/', 'path = "../../', "not below a mirror"),
                ('sha256 = "', 'sha256 = "A', "64 lower-case hex digits"),
                ('release = "12.8.1"', 'release = "../x"', "no release"),
                ('name = "cuda_nvcc"', 'name = "\\u001b[31m"', r"\x1b[31m")):
            with self.subTest(new=new):
                before = self.text()
                self.edit(old, new)
                self.refused(says)
                self.lock_file.write_text(before)

    def test_too_large(self):
        with open(self.lock_file, "a", encoding="utf-8") as file:
            file.write("#" * (4 << 20))
        result = self.cudaenv("install", "--locked")
        self.assertEqual(result.returncode, 8)
        self.assertIn(f"{self.lock_file} is larger than 4.2 MB", result.stderr)

    def test_products_are_not_passed_over(self):
        archive = re.search(r"(?m)^  \{.*\},$", self.text())[0]
        with open(self.lock_file, "a", encoding="utf-8") as file:
            file.write(f'\n[[product]]\nname = "nosuchproduct"\nversion = "9.14.0"\nmanifest_sha256 = "{"a" * 64}"\n\n'
                       f'[[product.platform]]\nname = "{PLATFORM}"\narchives = [\n{archive}\n]\n')
        self.refused("nosuchproduct 9.14.0")

    def test_a_directory_or_a_pipe_of_that_name(self):
        self.lock_file.unlink()
        os.mkfifo(self.lock_file)
        self.fails(8, "install", "--locked", says="is not a file")


class Install(LockTest):
    def setUp(self):
        super().setUp()
        self.lock("12.8.1", "--profile", "minimal", "--with", "cuda_gdb")

    def receipt(self):
        return (self.toolkit("12.8.1") / "receipt.json").read_text()

    def test_installs_what_is_locked(self):
        below = self.box.project / "a/b"
        below.mkdir(parents=True)
        self.locked(cwd=below)
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertEqual(sorted(re.findall(r'"archive_sha256": "(\w+)"', self.receipt())),
                         sorted(re.findall(r'sha256 = "(\w+)" \}', self.text())))
        self.assertIn('"profile": "minimal"', self.receipt())

    def test_asks_for_no_list(self):
        server = self.serve()
        self.locked()
        self.assertNotIn("GET / - 200", server.requests)

    def test_once_installed_no_network_is_needed(self):
        self.locked()
        self.assertIn("is installed already", self.locked(env={"CUDAENV_MIRROR": str(self.box.top / "none")}).stderr)

    def test_dry_run_and_options_that_agree(self):
        output = self.locked("12.8", "--profile", "minimal", "--with", "cuda_gdb", "--platform", PLATFORM, "--dry-run").stdout
        self.assertIn("  cuda_gdb ", output)
        self.assertNotIn("libcublas ", output)
        self.assertEqual(self.names(), [])

    def test_options_that_contradict(self):
        with self.unchanged():
            for typed, says, hint in (
                    (["12.8.0"], "has CUDA 12.8.1, not 12.8.0", "cudaenv lock 12.8.0"),
                    (["13"], "has CUDA 12.8.1, not 13", "cudaenv lock 13"),
                    (["mine"], "has CUDA 12.8.1, not mine", "cudaenv lock mine"),
                    (["--profile", "full"], "has the profile minimal, not full", "cudaenv lock --profile full"),
                    (["--with", "libcublas"], "has no with of that name, not libcublas", "cudaenv lock --with libcublas"),
                    (["--without", "cuda_gdb"], "has no without of that name, not cuda_gdb", "cudaenv lock --without cuda_gdb"),
                    (["--list"], "do not go together", "cudaenv install --list")):
                with self.subTest(typed=typed):
                    self.fails(2, "install", "--locked", *typed, says=(says, f"try: {hint}\n"))

    def test_without_a_lock(self):
        self.lock_file.unlink()
        self.fails(3, "install", "--locked", says=(f"there is no cuda.lock in {self.box.project} or above it",
                                                   "try: cudaenv lock\n"))

    def test_a_version_file_that_disagrees(self):
        self.select("13.0\n")
        with self.unchanged():
            self.fails(2, "install", "--locked", says=("is of CUDA 12.8.1, but 13.0 is asked for", ".cuda-version:1",
                                                       "try: cudaenv lock\n"))
        self.lock()
        self.locked()
        self.assertEqual(self.names(), ["13.0.2"])

    def test_a_version_file_between_and_one_above(self):
        self.select("13.0\n", self.box.home)
        below = self.box.project / "below"
        below.mkdir()
        self.locked("--dry-run", cwd=below)
        self.select("13.0\n", below)
        self.fails(2, "install", "--locked", cwd=below, says="but 13.0 is asked for")
        self.select("auto\n", below)
        self.locked("--dry-run", cwd=below)

    def test_a_platform_that_is_not_locked(self):
        self.fails(3, "install", "--locked", "--platform", OTHER, says=(
            f"has nothing for {OTHER}", f"it is for {PLATFORM}", f"try: cudaenv lock --platform {PLATFORM} --platform {OTHER}\n"))
        self.lock("--platform", PLATFORM, "--platform", OTHER)
        self.assertIn(f"for {OTHER}", self.locked("--platform", OTHER, "--dry-run").stdout)
        self.lock("--platform", OTHER)
        self.fails(3, "install", "--locked", says=f"has nothing for {PLATFORM}")

    def other_manifest(self):
        """Another manifest of the same release, and the digests of both."""
        was = hashlib.sha256((self.mirror / "redistrib_12.8.1.json").read_bytes()).hexdigest()
        self.change_manifest("12.8.1", lambda manifest: manifest.update(release_date="2001-01-01"))
        return was, hashlib.sha256((self.mirror / "redistrib_12.8.1.json").read_bytes()).hexdigest()

    def test_another_manifest(self):
        was, found = self.other_manifest()
        with self.unchanged():
            self.fails(7, "install", "--locked", says=(f"locked sha256 {was}", f"found  sha256 {found}"))

    def test_another_manifest_and_the_right_one_later_in_the_list(self):
        right = self.box.top / "right"
        shutil.copytree(self.mirror, right)
        self.other_manifest()
        server = self.serve()
        result = self.locked(env={"CUDAENV_MIRROR": f"{server.url} {right}"})
        self.assertIn("; trying the next mirror", result.stderr)
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertFalse([request for request in server.requests if "archive.tar" in request])

    def test_a_lock_makes_no_manifest_trusted(self):
        self.fails(7, "install", "--locked", env={"CUDAENV_ACCEPT_MANIFEST": None},
                   says=("is not the one that NVIDIA published", "--accept-manifest"))

    def test_archives_bit_for_bit(self):
        nvcc = self.archives()["cuda_nvcc"]
        digest = re.search(r'sha256 = "(\w+)"', nvcc)[1]
        size = re.search(r"size = (\d+)", nvcc)[1]
        line = f'  {{ name = "cuda_nvcc", {nvcc} }},\n'
        for old, new, says in (
                (f'"{digest}"', f'"{"0" * 64}"', f"cuda_nvcc: sha256 {digest}, in the lock {'0' * 64}"),
                (f"size = {size},", "size = 1,", f"cuda_nvcc: size {size}, in the lock 1"),
                ('path = "cuda_nvcc/', 'path = "elsewhere/', "cuda_nvcc: archive cuda_nvcc/"),
                (line, "", "cuda_nvcc is not in the lock"),
                (line, line + line.replace('"cuda_nvcc"', '"cuda_nvcd"'), "cuda_nvcd is missing")):
            with self.subTest(says=says):
                before = self.text()
                self.edit(old, new)
                with self.unchanged(self.box.root):
                    self.fails(7, "install", "--locked", says=says)
                self.lock_file.write_text(before)

    def test_an_exchanged_archive(self):
        archive = self.archive("12.8.1", "cuda_nvcc")
        archive.write_bytes(archive.read_bytes()[:-1] + b"x")
        self.fails(7, "install", "--locked", says="component cuda_nvcc")
        self.assertEqual(self.names(), [])

    def test_installed_otherwise(self):
        self.install("12.8.1", "--profile", "minimal")
        self.fails(7, "install", "--locked", says=("CUDA 12.8.1 is installed, but not as", "cuda_gdb is missing",
                                                   "try: cudaenv install 12.8.1 --locked --force\n"))
        self.locked("--force")
        self.assertIn("is installed already", self.locked().stderr)
        self.install("12.8.1", "--profile", "full", "--force")
        self.fails(7, "install", "--locked", says="libcublas is not in the lock")

    def test_installed_of_other_archives(self):
        self.locked()
        self.publish("12.8.1", "cuda_gdb", {"lib/cuda_gdbc.so.12": File(b"x")})
        self.lock()
        self.fails(7, "install", "--locked", says="cuda_gdb: sha256 ")
        self.locked("--force")
        self.locked()

    def test_installed_in_the_shared_root_otherwise(self):
        shared = {"CUDAENV_SHARED_ROOT": str(self.box.top / "shared")}
        self.install("12.8.1", "--profile", "full", env={"CUDAENV_ROOT": str(self.box.top / "shared")})
        self.locked(env=shared)
        self.assertTrue((self.toolkit("12.8.1") / "receipt.json").exists())

    def test_installed_in_the_shared_root_as_locked(self):
        shared = {"CUDAENV_SHARED_ROOT": str(self.box.top / "shared")}
        self.locked(env={"CUDAENV_ROOT": str(self.box.top / "shared")})
        self.assertIn("in the shared root", self.locked(env=shared).stderr)
        self.assertFalse(self.toolkit("12.8.1").exists())

    def test_adopted_under_that_name(self):
        self.locked()
        own = self.box.top / "own"
        shutil.copytree(self.toolkit("12.8.1"), own, symlinks=True)
        (own / "receipt.json").unlink()
        self.done("uninstall", "12.8.1")
        self.done("adopt", own)
        self.fails(7, "install", "--locked", says=(f"12.8.1 is adopted from {own}", "try: cudaenv uninstall 12.8.1\n"))

    def test_hints_keep_the_option(self):
        self.serve("*=503")
        self.fails(6, "install", "--locked", says="try: cudaenv install 12.8.1 --locked --mirror URL_OR_DIRECTORY\n")


class Products(LockTest):
    def setUp(self):
        super().setUp()
        products.write(self.mirror)

    def minimal(self, *arguments):
        return self.lock("12.8.1", "--profile", "minimal", *arguments)

    def locked_products(self):
        return dict(re.findall(r'(?m)^\[\[product\]\]\nname = "(.*)"\nversion = "(.*)"$', self.text()))

    def added(self):
        components = json.loads((self.toolkit("12.8.1") / "receipt.json").read_text())["components"]
        return {component["product"]: component["product_version"] for component in components if "product" in component}

    def digest(self, product, version):
        manifest = products.folder(self.mirror, product) / f"redistrib_{version}.json"
        return hashlib.sha256(manifest.read_bytes()).hexdigest()

    def test_typed_ones_are_locked_bit_for_bit(self):
        result = self.minimal("--add", "cutensor,libcudnn@9.13")
        self.assertRegex(result.stderr, r"profile minimal, cudnn 9\.13\.0, cutensor 2\.3\.1: \d+ archives for ")
        self.assertEqual(self.locked_products(), {"cudnn": "9.13.0", "cutensor": "2.3.1"})
        self.assertIn(f'manifest_sha256 = "{self.digest("cudnn", "9.13.0")}"', self.text())
        entry = redist.read_manifest(products.folder(self.mirror, "cudnn"), "9.13.0")["cudnn"][PLATFORM]["cuda12"]
        self.assertIn(f'size = {entry["size"]}, sha256 = "{entry["sha256"]}"', self.text())
        self.assertIn("is up to date", self.lock().stderr)

    def test_those_of_the_installed_toolkit_are_locked_at_first(self):
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn@9.13")
        self.minimal()
        self.assertEqual(self.locked_products(), {"cudnn": "9.13.0"})
        self.done("add", "cutensor", "cudnn", "--to", "12.8.1")
        result = self.lock()
        self.assertEqual(self.locked_products(), {"cudnn": "9.13.0"})
        self.assertIn("not all that was added to CUDA 12.8.1 is locked: "
                      "`cudaenv lock --add cudnn@9.13.0 --add cutensor@2.3.1` locks it", result.stderr)
        self.lock("--add", "cudnn@9.14")
        self.assertEqual(self.locked_products(), {"cudnn": "9.14.0"})

    def test_what_cannot_be_locked(self):
        for typed, status, says in (("cudnn@8", 3, "try: cudaenv lock 13.0 --add cudnn@9.14.0\n"),
                                    ("cudn", 3, "try: cudaenv lock 13.0 --add cudnn\n"),
                                    ("libcublas", 3, "try: cudaenv lock 13.0 --with libcublas\n"),
                                    ("cudnn@", 2, "is no product")):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(status, "lock", "13.0", "--add", typed, says=says)
        with self.unchanged():
            self.fails(3, "lock", "12.8.1", "--platform", f"{PLATFORM},{OTHER}", "--add", "cudnn", says=OTHER)

    def test_check_tells_what_has_changed(self):
        self.minimal()
        result = self.cudaenv("lock", "--check", "--add", "cudnn")
        self.assertEqual((result.returncode, result.stdout), (1, "cudnn 9.14.0 as well\n"))

    def test_installs_toolkit_and_products_as_they_are_locked(self):
        self.minimal("--add", "cudnn@9.13")
        result = self.locked()
        self.assertIn("installed CUDA 12.8.1 with cudnn 9.13.0: ", result.stderr)
        self.assertEqual(self.added(), {"cudnn": "9.13.0"})
        nowhere = {"CUDAENV_MIRROR": str(self.box.top / "none")}
        self.assertIn("is installed already", self.locked(env=nowhere).stderr)
        self.assertIn("is installed already", self.locked("--add", "cudnn@9", env=nowhere).stderr)

    def test_another_manifest_or_archive(self):
        self.minimal("--add", "cudnn")
        before = self.text()
        digest = self.digest("cudnn", "9.14.0")
        entry = redist.read_manifest(products.folder(self.mirror, "cudnn"), "9.14.0")["cudnn"][PLATFORM]["cuda12"]
        for old, new, says in ((digest, "0" * 64, (f"the manifest of cudnn 9.14.0 from", f"locked sha256 {'0' * 64}",
                                                   f"found  sha256 {digest}")),
                               (entry["sha256"], "0" * 64, f"cudnn: sha256 {entry['sha256']}, in the lock {'0' * 64}"),
                               (f"size = {entry['size']},", "size = 1,", f"cudnn: size {entry['size']}, in the lock 1")):
            with self.subTest(says=says):
                self.edit(old, new)
                with self.unchanged(self.box.root):
                    self.fails(7, "install", "--locked", says=says)
                self.lock_file.write_text(before)

    def test_a_lock_makes_no_manifest_trusted(self):
        self.minimal("--add", "cudnn")
        toolkit = hashlib.sha256((self.mirror / "redistrib_12.8.1.json").read_bytes()).hexdigest()
        self.fails(7, "install", "--locked", env={"CUDAENV_ACCEPT_MANIFEST": toolkit},
                   says=("the manifest of cudnn 9.14.0", "--accept-manifest"))
        self.assertEqual(self.names(), [])

    def test_installed_otherwise(self):
        self.minimal("--add", "cudnn@9.13")
        self.install("12.8.1", "--profile", "minimal")
        with self.unchanged():
            self.fails(7, "install", "--locked", says=("cudnn is missing", "try: cudaenv install 12.8.1 --locked --force\n"))
        self.done("add", "cudnn@9.14", "cutensor", "--to", "12.8.1")
        with self.unchanged():
            self.fails(7, "install", "--locked", says="cudnn: sha256 ")
        self.locked("--force")
        self.assertEqual(self.added(), {"cudnn": "9.13.0", "cutensor": "2.3.1"})  # another project's
        self.assertIn("is installed already", self.locked().stderr)

    def test_products_that_the_lock_has_not_are_none_of_its_business(self):
        self.minimal()
        self.install("12.8.1", "--profile", "minimal", "--add", "cudnn")
        self.assertIn("is installed already", self.locked().stderr)

    def test_typed_ones_that_contradict(self):
        self.minimal("--add", "cudnn@9.13")
        for typed, says in (("cutensor", "has no product of that name, not cutensor"),
                            ("cudnn@9.14", "has cudnn 9.13.0, not cudnn@9.14")):
            with self.subTest(typed=typed), self.unchanged():
                self.fails(2, "install", "--locked", "--add", typed, says=(says, f"try: cudaenv lock --add {typed}\n"))
        self.locked("--add", "cudnn@9.13.0.50", "--dry-run")

    def test_a_platform_that_a_product_is_not_locked_for(self):
        self.lock("12.8.1", "--platform", f"{PLATFORM},{OTHER}")
        other = self.text()
        self.lock_file.unlink()
        self.minimal("--add", "cudnn")
        product = self.text()[self.text().index("\n[[product]]"):]
        self.lock_file.write_text(other + product)
        self.fails(3, "install", "--locked", "--platform", OTHER, says=f"has no cudnn for {OTHER}")


if __name__ == "__main__":
    unittest.main()
