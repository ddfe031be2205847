#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv install`: which release and which components, from real archives. What the tree then holds is
install_tree_test.py, what can go wrong is install_fault_test.py, where it comes from is install_mirror_test.py."""

import json
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import PLATFORM, MirrorTest, listing, redist
from support.sandbox import PROGRAM

BAD_SPECS = ("../x", "/tmp/x", "12.4/../../x", ".", "..", "$(id)", "12.4;id", "12.08", "12.8.1.1", "", " ", "1" * 60000)


class Choosing(MirrorTest):
    def test_exact(self):
        result = self.install("12.8.0")
        self.assertEqual(self.names(), ["12.8.0"])
        self.assertIn("installed CUDA 12.8.0", result.stderr)
        self.assertIn("to use it here: cudaenv local 12.8.0\n", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_the_licence_is_named_before_the_download(self):
        error = self.install("12.8.0").stderr
        self.assertLess(error.index("NVIDIA's licence applies"), error.index("[1/"))

    def test_it_never_selects(self):
        self.install("12.8.0")
        self.assertFalse((self.box.root / "version").exists())
        self.assertEqual(list(self.box.project.iterdir()), [])

    def test_prefixes_of_a_version(self):
        for spec in ("v12.8.0", "cuda-12.8.0"):
            self.assertIn("CUDA 12.8.0", self.install(spec, "--dry-run").stdout)

    def test_VER_09_partial_takes_the_newest_as_numbers(self):
        for release in ("12.9.0", "12.10.0", "12.10.2", "12.10.11"):
            self.publish_sample(release)
        for spec, release in (("12.8", "12.8.1"), ("12.10", "12.10.11"), ("12", "12.10.11"), ("latest", "13.3.1"),
                              ("auto", "13.3.1"), ("13.0", "13.0.2")):
            self.assertIn(f"CUDA {release} for", self.install(spec, "--dry-run").stdout, spec)

    def publish_sample(self, release):
        manifest = self.manifest("12.8.1")
        manifest["release_label"] = release
        redist.write_manifest(self.mirror, release, manifest)

    def test_DL_02_a_release_that_no_table_knows(self):
        self.publish_sample("14.2.7")
        self.install("14.2")
        self.assertEqual(self.names(), ["14.2.7"])

    def test_DL_02_a_number_that_was_never_released(self):
        with self.unchanged():
            self.fails(3, "install", "12.7", says=("CUDA 12.7 was never released", "nearest: 12.4.1, 12.8.1\n",
                                                   "try: cudaenv install 12.8.1\n"))

    def test_DL_02_the_nearest_releases_are_those_of_this_mirror(self):
        for number in ("12.7", "12.7.1", "11.2"):
            result = self.fails(3, "install", number)
            command = result.stderr.split("try: ")[1].split()
            self.assertIn(f"CUDA {command[-1]} for", self.done(*command[1:], "--dry-run").stdout, number)

    def test_DL_02_before_the_archives(self):
        with self.unchanged():
            self.fails(3, "install", "11.2", says=("CUDA 11.2 was published without redistributable archives", "11.4.2",
                                                   "cudaenv adopt"))

    def test_VER_09_number_of_a_component(self):
        with self.unchanged():
            self.fails(3, "install", "12.4.131", says=("12.4.131 is the number of", "the release is 12.4.1",
                                                       "try: cudaenv install 12.4.1"))

    def test_a_release_that_is_not_there(self):
        with self.unchanged():
            self.fails(3, "install", "12.6", says=("CUDA 12.6 is not among the releases published here",
                                                   "nearest: 12.4.1, 12.8.1", "try: cudaenv install 12.8.1\n"))

    def test_VER_02_text_that_is_no_version(self):
        with self.unchanged(self.box.home, self.box.top / "tmp", self.mirror):
            for spec in BAD_SPECS:
                with self.subTest(spec=spec[:20]):
                    self.fails(2, "install", spec, says="is not a version")
            self.fails(2, "install", "-rf")
            self.fails(2, "install", "--", "-rf", says="is not a version")
            self.fails(2, "install", "12.4", "12.8")

    def test_a_name_is_no_release(self):
        for spec in ("system", "distro"):
            self.fails(2, "install", spec, says="is not a release that can be installed")

    def test_VER_07_without_a_spec_it_takes_what_the_project_asks_for(self):
        self.box.write("home/project/.cuda-version", "12.8\n")
        result = self.install()
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertIn("to use it here: cudaenv local 12.8.1\n", result.stderr)
        self.assertIn("V12.8.93", self.done("exec", "nvcc", "--version").stdout)

    def test_VER_07_without_a_spec_and_a_selection(self):
        with self.unchanged():
            self.fails(2, "install", says=("no version was given", "try: cudaenv install 12.8"))

    def test_without_a_spec_a_bad_file_is_named(self):
        file = self.box.write("home/project/.cuda-version", "../x\n")
        self.fails(2, "install", says=(f"{file}:1", "../x"))


class Listing(MirrorTest):
    ALL = "12.4.1\n12.8.0\n12.8.1\n13.0.2\n13.3.1\n"

    def test_from_a_directory_an_address_and_a_server(self):
        server = self.serve()
        for mirror in (self.mirror, f"file://{self.mirror}", "../../mirror", server.url, server.url + "/"):
            with self.subTest(mirror=str(mirror)):
                result = self.install("--list", "--mirror", mirror)
                self.assertEqual((result.stdout, result.stderr), (self.ALL, ""))

    def test_available_is_the_same(self):
        self.assertEqual(self.done("available").stdout, self.ALL)
        self.assertEqual(self.done("available", "12").stdout, "12.4.1\n12.8.0\n12.8.1\n")

    def test_of_a_number(self):
        self.assertEqual(self.install("--list", "12.8").stdout, "12.8.0\n12.8.1\n")
        self.fails(3, "install", "--list", "12.7", says="was never released")
        self.fails(2, "install", "--list", "../x", says="is not a version")

    def test_writes_nothing(self):
        with self.unchanged():
            self.install("--list")

    def test_without_the_manifests_of_before_the_archives(self):
        redist.write_manifest(self.mirror, "11.2.0", {"cuda_nvcc": {"version": "11.2.67"}})
        self.assertEqual(self.install("--list").stdout, self.ALL)


class Again(MirrorTest):
    def setUp(self):
        super().setUp()
        self.install("12.8.1")

    def test_is_done_at_once_and_without_a_network(self):
        with self.unchanged():
            for spec in ("12.8.1", "v12.8.1"):
                result = self.install(spec, "--mirror", "http://127.0.0.1:9")
                self.assertEqual((result.stdout, result.stderr), ("", "cudaenv: CUDA 12.8.1 is installed already\n"))

    def test_shims_that_a_killed_install_did_not_get_to_are_made(self):
        (self.box.shims / "nvcc").unlink()
        self.install("12.8.1")
        self.assertTrue((self.box.shims / "nvcc").exists())

    def test_what_was_asked_for_in_addition_is_not_passed_over(self):
        self.install("12.8.1", "--with", "cuda_gdb")
        with self.unchanged():
            self.fails(2, "install", "12.8.1", "--with", "nsight_systems",
                       says=("CUDA 12.8.1 is installed without nsight_systems",
                             "try: cudaenv install 12.8.1 --with nsight_systems --force\n"))

    def test_files_that_were_left_out_are_not_passed_over(self):
        self.install("12.8.1", "--force", "--without", "static")
        with self.unchanged():
            for typed in (("--profile", "default"), ("--profile", "minimal"), ("--with", "cuda_nvcc"), ("--without", "samples")):
                options = " ".join(typed)
                self.fails(2, "install", "12.8.1", *typed,
                           says=("CUDA 12.8.1 is installed without static\n",
                                 f"try: cudaenv install 12.8.1 {options} --force\n"))
            for typed in ((), ("--without", "static"), ("--profile", "default", "--without", "static")):
                self.assertIn("installed already", self.install("12.8.1", *typed).stderr)
        self.install("12.8.1", "--profile", "default", "--force")
        self.assertIn("installed already", self.install("12.8.1", "--profile", "default").stderr)

    def test_what_was_asked_away_and_is_there_is_not_passed_over(self):
        with self.unchanged():
            for word in ("static", "cuda_nvrtc"):
                self.fails(2, "install", "12.8.1", "--without", word,
                           says=(f"CUDA 12.8.1 is installed with {word}\n",
                                 f"try: cudaenv install 12.8.1 --without {word} --force\n"))
        self.install("12.8.1", "--without", "cuda_nvrtc", "--force")
        self.assertIn("installed already", self.install("12.8.1", "--without", "cuda_nvrtc").stderr)

    def test_another_platform_is_not_passed_over(self):
        with self.unchanged():
            self.fails(2, "install", "12.8.1", "--platform", "linux-aarch64",
                       says=(f"CUDA 12.8.1 is installed for {PLATFORM}",
                             "try: cudaenv install 12.8.1 --platform linux-aarch64 --force\n"))
            self.fails(3, "install", "12.8.1", "--platform", "bogus", says="CUDA 12.8.1 has no archives for bogus")
            self.assertIn("installed already", self.install("12.8.1", "--platform", PLATFORM).stderr)

    def test_a_hint_is_the_whole_command_and_holds_no_credentials(self):
        server = self.serve()
        server_with = server.url.replace("http://", "http://user:secret@")
        (self.box.project / "a mirror").symlink_to(self.mirror)
        for mirror, shown in ((server_with, server.url + "/"), ("a mirror", "'a mirror'")):
            self.install("12.8.1", "--force", "--profile", "default")
            result = self.fails(2, "install", "12.8.1", "--profile", "full", "--mirror", mirror)
            self.assertIn(f"try: cudaenv install 12.8.1 --profile full --mirror {shown} --force\n", result.stderr)
            typed = result.stderr.split("try: ")[1]
            again = self.box.run("sh", "-c", typed.replace("cudaenv", str(PROGRAM), 1), text=True)
            self.assertEqual(again.returncode, 0, again.stderr)

    def test_the_path_of_an_adopted_one_is_told_without_control_bytes(self):
        self.done("uninstall", "12.8.1")
        tree = self.box.top / "kit\x1b[2J"
        self.install("12.8.0")
        self.toolkit("12.8.0").rename(tree)
        tree.joinpath("receipt.json").unlink()
        self.done("adopt", tree)
        for arguments, status in (((), 0), (("--force",), 2)):
            result = self.cudaenv("install", "12.8.0", *arguments)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn("adopted from", result.stderr)
            self.assertNotIn("\x1b", result.stderr)

    def test_force_replaces_it_by_one_tree(self):
        self.toolkit("12.8.1").joinpath("bin/nvcc").write_text("broken")
        self.toolkit("12.8.1").joinpath("left-over").write_text("")
        self.install("12.8.1", "--force", "--with", "nsight_systems")
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])
        self.assertFalse(self.toolkit("12.8.1").joinpath("left-over").exists())
        self.assertIn("V12.8.93", self.box.run(self.toolkit("12.8.1") / "bin" / "nvcc", "--version", text=True).stdout)
        self.assertTrue(self.toolkit("12.8.1").joinpath("bin/nsys").exists())

    def test_force_keeps_what_was_chosen_before(self):
        self.install("12.8.1", "--force", "--profile", "minimal", "--with", "libcublas", "--without", "cuda_cccl")
        before = json.loads(self.toolkit("12.8.1").joinpath("receipt.json").read_text())
        self.install("12.8.1", "--force")
        after = json.loads(self.toolkit("12.8.1").joinpath("receipt.json").read_text())
        for key in ("profile", "with", "without", "components"):
            self.assertEqual(after[key], before[key])

    def test_force_that_fails_leaves_the_old_one(self):
        self.damage("12.8.1", "libcublas")
        self.archive("12.8.1", "libcublas").unlink()
        with self.unchanged():
            self.fails(3, "install", "12.8.1", "--force", says="libcublas")

    def test_left_overs_without_a_receipt_make_way(self):
        self.toolkit("12.8.1").joinpath("receipt.json").unlink()
        self.assertEqual(self.names(), [])
        self.install("12.8.1")
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])


class Components(MirrorTest):
    def installed(self, *arguments):
        self.install(*arguments)
        receipt = json.loads((self.toolkit(self.names()[-1]) / "receipt.json").read_text())
        return [component["name"] for component in receipt["components"]]

    def test_profiles_grow(self):
        minimal = self.installed("12.8.1", "--profile", "minimal")
        default = self.installed("12.8.1", "--profile", "default", "--force")
        full = self.installed("12.8.1", "--profile", "full", "--force")
        self.assertEqual(minimal, ["cuda_cccl", "cuda_cudart", "cuda_nvcc"])
        self.assertLess(set(minimal), set(default))
        self.assertLess(set(default), set(full))
        self.assertLessEqual({"libcublas", "cuda_gdb"}, set(default))
        self.assertLessEqual({"nsight_systems", "cuda_documentation"}, set(full))

    def test_a_profile_that_does_not_exist(self):
        with self.unchanged():
            self.fails(2, "install", "12.8", "--profile", "tiny", says=('no profile "tiny"', "minimal, default, full",
                                                                      "try: cudaenv install 12.8.1 --profile minimal\n"))

    def test_with_and_without(self):
        names = self.installed("12.8.1", "--profile", "minimal", "--with", "libcublas", "--with", "nsight_systems",
                               "--without", "cuda_cccl")
        self.assertEqual(names, ["cuda_cudart", "cuda_nvcc", "libcublas", "nsight_systems"])
        self.assertFalse(self.toolkit("12.8.1").joinpath("include/thrust").exists())

    def test_DL_03_leaving_out_what_is_needed_is_told(self):
        result = self.done("install", "13.0.2", "--without", "cuda_crt")
        self.assertIn("warning: cuda_crt is left out, and cuda_cudart, cuda_nvcc cannot work without it\n", result.stderr)
        self.assertNotIn("warning:", self.done("install", "12.8.1", "--without", "cuda_crt,libcublas").stderr)

    def test_with_and_without_the_same(self):
        self.fails(2, "install", "12.8", "--with", "libcublas", "--without", "libcublas", says="libcublas")

    def test_a_misspelt_component(self):
        for option in ("--with", "--without"):
            with self.unchanged():
                self.fails(3, "install", "12.8", option, "libcubals",
                           says=('no component "libcubals"', f"try: cudaenv install 12.8.1 {option} libcublas\n"))

    def test_an_unknown_component_is_told_and_left_out(self):
        result = self.install("12.8.1", "--profile", "full")
        self.assertIn("cudaenv: not installed, because this cudaenv does not know it: cuda_novelty", result.stderr)
        self.assertFalse(self.toolkit("12.8.1").joinpath("bin/novelty").exists())
        self.install("12.8.1", "--force", "--with", "cuda_novelty")
        self.assertTrue(self.toolkit("12.8.1").joinpath("bin/novelty").exists())

    def test_DL_04_nothing_of_the_driver_by_itself(self):
        for profile in ("default", "full"):
            names = self.installed("13.3.1", "--profile", profile, "--force")
            self.assertEqual({"nvidia_driver", "fabricmanager", "driver_assistant", "cuda_compat"} & set(names), set())
            self.assertEqual(self.libcuda("13.3.1"), {"lib/stubs/libcuda.so"})

    def libcuda(self, release):
        return {path for path in listing(self.toolkit(release)) if Path(path).name.startswith("libcuda.so")}

    def test_DL_04_the_driver_by_name_stays_apart(self):
        self.install("13.3.1", "--with", "nvidia_driver", "--with", "fabricmanager")
        self.assertEqual({path.split("/")[0] for path in self.libcuda("13.3.1")} - {"lib"}, {"extras"})
        self.assertEqual({path for path in self.libcuda("13.3.1") if path.startswith("lib/")}, {"lib/stubs/libcuda.so"})
        self.assertFalse(self.toolkit("13.3.1").joinpath("bin/nv-fabricmanager").exists())
        self.assertNotIn("nv-fabricmanager", os.listdir(self.box.shims))

    def test_compat_by_name_in_its_nested_variant(self):
        self.change_manifest("13.3.1", lambda manifest: manifest["cuda_compat"].update(
            {PLATFORM: manifest["cuda_compat"]["linux-x86_64"]}))
        self.assertEqual(list(self.manifest("13.3.1")["cuda_compat"][PLATFORM]), ["cuda13.3"])
        self.install("13.3.1", "--with", "cuda_compat")
        self.assertTrue(self.toolkit("13.3.1").joinpath("compat/libcuda.so.1").is_file())

    def test_the_variant_of_the_release_is_chosen(self):
        trees = {"12": {"include/v.h": redist.File(b"12")}, "13": {"include/v.h": redist.File(b"13")}}
        self.publish("13.0.2", "libcublas", trees, variants=["12", "13"])
        self.install("13.0.2")
        self.assertEqual(self.toolkit("13.0.2").joinpath("include/v.h").read_text(), "13")

    def test_DL_03_a_compiler_is_whole_in_every_release(self):
        split = {"cuda_crt", "libnvvm", "libnvptxcompiler", "cuda_culibos"}
        for release, extra in (("12.8.1", {"cuda_cccl"}), ("13.0.2", split | {"cuda_cccl"}), ("13.3.1", split | {"cccl"})):
            names = self.installed(release, "--profile", "minimal")
            self.assertLessEqual(extra | {"cuda_nvcc", "cuda_cudart"}, set(names))
            for path in ("bin/nvcc", "bin/nvcc.profile", "bin/ptxas", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc",
                         "include/crt/host_defines.h", "include/cuda_runtime.h", "lib/libcudadevrt.a"):
                self.assertTrue(self.toolkit(release).joinpath(path).is_file(), f"{release} {path}")
            self.assertTrue(any(self.toolkit(release).glob("include/**/nv/target")), release)

    def test_DL_03_a_component_that_was_renamed_answers_to_both_names(self):
        for name in ("cccl", "cuda_cccl"):
            for release, here in (("13.0.2", "cuda_cccl"), ("13.3.1", "cccl")):
                self.assertIn(f"  {here} ", self.install(release, "--dry-run", "--with", name).stdout)
                self.assertNotIn(f"  {here} ", self.install(release, "--dry-run", "--without", name).stdout)

    def test_DL_03_without_what_the_compiler_needs_is_a_broken_mirror(self):
        self.change_manifest("13.0.2", lambda manifest: manifest.pop("cuda_crt"))
        with self.unchanged():
            self.fails(7, "install", "13.0.2", says=("do not make a whole compiler", "include/crt/host_config.h"))

    def test_DL_06_platforms(self):
        self.install("12.8.1", "--platform", "linux-sbsa")
        receipt = json.loads(self.toolkit("12.8.1").joinpath("receipt.json").read_text())
        self.assertEqual(receipt["platform"], "linux-sbsa")
        self.assertEqual(os.listdir(self.toolkit("12.8.1") / "targets"), ["sbsa-linux"])
        self.assertIn("for linux-aarch64", self.install("12.4", "--dry-run", "--platform", "linux-aarch64").stdout)
        self.assertIn("for linux-ppc64le", self.install("12.4", "--dry-run", "--platform", "linux-ppc64le").stdout)

    def test_DL_06_a_platform_without_archives(self):
        for platform in ("linux-ppc64le", "linux-riscv64", "x86_64", "linux-all", "windows-x86_64", "../x"):
            with self.unchanged():
                self.fails(3, "install", "12.8.1", "--platform", platform,
                           says=(f"CUDA 12.8.1 has no archives for {platform}", "linux-aarch64, linux-sbsa, linux-x86_64"))


class DryRun(MirrorTest):
    def test_shows_sizes_and_fetches_only_the_manifest(self):
        server = self.serve()
        with self.unchanged():
            result = self.install("12.8", "--dry-run")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], f"CUDA 12.8.1 for {PLATFORM} from {server.url}/")
        self.assertEqual(lines[1].split(), ["download", "unpacked"])
        names = [line.split()[0] for line in lines[2:-2]]
        self.assertIn("cuda_nvcc", names)
        self.assertEqual(names, sorted(names))
        for line in lines[2:-2]:
            self.assertRegex(line, r"^  \w+ +[\d.]+ +[\d.]+ k?B +about [\d.]+ k?B$")
        self.assertRegex(lines[-2], rf"^  {len(names)} components +[\d.]+ kB +about [\d.]+ kB$")
        self.assertRegex(lines[-1], rf"^free in {self.box.root}/versions: [\d.]+ [MGT]B$")
        self.assertFalse([request for request in server.requests if "archive" in request])

    def test_of_what_is_installed(self):
        self.install("12.8.1")
        lines = self.install("12.8.1", "--dry-run").stdout.splitlines()
        self.assertRegex("\n".join(lines), r"  cuda_nvcc +[\d.]+ +shared +[\d.]+ k?B\n")
        self.assertRegex(lines[-3], r"^  13 components +0 B +0 B$")
        self.assertRegex(lines[-2], r"^shared with toolkits that are installed: [\d.]+ k?B$")

    def test_of_archives_that_are_here(self):
        entry = self.manifest("12.8.1")["libcublas"][PLATFORM]
        self.box.write(self.box.root / "cache/archives" / entry["sha256"], "x")
        self.assertRegex(self.install("12.8.1", "--dry-run").stdout, r"  libcublas +[\d.]+ +kept +about ")

    def test_groups_of_files(self):
        self.assertIn("13 components", self.install("12.8.1", "--dry-run", "--without", "static,samples").stdout)
        self.fails(3, "install", "12.8.1", "--without", "statik", says="try: cudaenv install 12.8.1 --without static")


if __name__ == "__main__":
    unittest.main()
