#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/recipes.md: each recipe that is marked with `run` is run as it stands, where its program is installed."""

import re
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import samples_of
from support.modules import MODULES, module_function
from support.program import ProgramTest
from support.sandbox import MODERN

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "recipes.md").read_text()
RUN = dict(re.findall(r"<!-- run: (\w+) -->\n```\w+\n(.*?)```\n", TEXT, re.DOTALL))
BLOCKS = re.findall(r"```(\w+)\n(.*?)```\n", TEXT, re.DOTALL)
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
# A compiler that says which one it is, to ccache too.
NVCC = """
out= source=
for word; do
  case $previous in -o) out=$word ;; esac
  case $word in *.cu | *.ii) source=$word ;; --version) echo "$0"; exit ;; -E) out=/dev/stdout ;; esac
  previous=$word
done
case $source,$out in
  ,*) echo "$0" ;;
  *,/dev/stdout) cat "$source" ;;
  *) echo "$0" >"$out" ;;
esac
"""


class Recipe(ProgramTest):
    def setUp(self):
        super().setUp()
        for toolkit in (self.old, self.new):
            self.box.tool(toolkit / "bin", "nvcc", NVCC)
        self.select("12.8")
        self.box.write(self.box.project / "Makefile", "all install:\n\t@nvcc\n")
        self.box.tool(self.box.project, "run.sh", "exec nvcc")
        (self.box.root / "bin").mkdir()
        (self.box.root / "bin/cudaenv").symlink_to(self.program)
        self.box.environment["PATH"] = f"{self.box.root}/bin:{self.box.shims}:/usr/bin:/bin"

    def needs(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"no {program}")

    def run_text(self, text, shell="bash", **options):
        return self.box.run(shutil.which(shell), *(["--norc"] if shell == "bash" else []), "-c", text, **options)

    def assert_log(self):
        """What `make` has written in the background is that the selected nvcc ran."""
        log, expected = self.box.project / "make.log", f"{self.new}/bin/nvcc\n"
        deadline = time.monotonic() + 10
        while not (log.exists() and log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(log.read_text(), expected)


class Running(Recipe):
    def test_direnvrc(self):
        self.needs("direnv")
        self.box.write(self.box.home / ".config/direnv/direnvrc", RUN["direnvrc"])
        for envrc, toolkit in ((RUN["envrc"], self.new), ("use cuda 12.4\n", self.old), ("use cuda\n", self.new)):
            self.box.write(self.box.project / ".envrc", envrc)
            result = self.run_text("direnv allow && direnv exec . nvcc && direnv exec . printenv CUDA_HOME")
            self.assertEqual(result.stdout.decode(), f"{toolkit}/bin/nvcc\n{toolkit}\n", result.stderr)
        self.box.write(self.box.project / ".envrc", "use cuda 11.8\n")
        result = self.run_text("direnv allow && direnv exec . nvcc")
        self.assertIn(b"CUDA 11.8 is not installed", result.stderr)

    test_envrc = test_direnvrc

    def test_presets(self):
        self.needs("cmake", "ninja")
        self.box.write(self.box.project / "CMakeLists.txt", "cmake_minimum_required(VERSION 3.21)\nproject(sample LANGUAGES NONE)\n"
                       "message(NOTICE $ENV{CUDACXX}:$ENV{CUDAToolkit_ROOT}:$ENV{PATH})\n")
        result = self.run_text(RUN["presets"] + "cmake --preset cuda && test -d build/12.8.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"{self.new}/bin/nvcc:{self.new}:{self.new}/bin:", result.stderr.decode())

    def test_dotenv(self):
        self.assert_prints(self.run_text(RUN["dotenv"]), "")
        self.assertIn(f"CUDACXX={self.new}/bin/nvcc\n", (self.box.project / ".env").read_text())

    def test_tmux(self):
        self.needs("tmux", "make")
        result = self.run_text(RUN["tmux"], env={"TMUX_TMPDIR": str(self.box.top), "SHELL": "/bin/sh"})
        self.assert_prints(result, "")
        self.assert_log()

    def test_docker(self):
        self.needs("docker")
        if subprocess.run(["docker", "image", "inspect", "gcc:12"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no docker daemon that has gcc:12")
        self.box.shim("nvcc")
        self.assert_prints(self.run_text(RUN["docker"]), f"{self.new}/bin/nvcc\n")

    def test_apptainer(self):
        """By a stand-in: a real one would fetch the image."""
        self.needs("make")
        self.box.tool("stand-ins", "apptainer", 'echo "$*" >&2; PATH=$APPTAINERENV_PREPEND_PATH:$PATH; shift 5; exec "$@"')
        result = self.run_text(RUN["apptainer"], env={"PATH": f"{self.box.top}/stand-ins:{self.box.environment['PATH']}"})
        self.assert_prints(result, f"{self.new}/bin/nvcc\n", f"exec --nv --bind {self.box.root} docker://gcc:12 make\n")

    def publish(self):
        """Sample releases in place of NVIDIA's, and nothing installed."""
        for toolkit in (self.old, self.new):
            shutil.rmtree(toolkit)
        mirror = samples_of(("12.8.1",))
        self.box.environment.update(CUDAENV_MIRROR=str(mirror), CUDAENV_ACCEPT_MANIFEST="any")

    def test_lock(self):
        self.needs("git", "make")
        self.publish()
        result = self.run_text("git init -q &&" + RUN["lock"] + RUN["locked"] + "git ls-files && cudaenv lock --check")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b".cuda-version\ncuda.lock\n", result.stdout)
        self.assertTrue((self.new / "receipt.json").exists())
        self.select("13.0")
        self.assertEqual(self.run_text("set -e\n" + RUN["locked"]).returncode, 2)

    test_locked = test_lock

    def test_mirror(self):
        self.publish()
        result = self.run_text(RUN["mirror"])
        self.assertEqual(result.returncode, 0, result.stderr)
        text = RUN["mirror_install"].replace("/opt/cudaenv", str(self.box.top / "opt")).replace("/srv", str(self.box.project))
        result = self.run_text("set -e\n" + text, env={"CUDAENV_MIRROR": None})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.box.top / "opt/versions/12.8.1/bin/nvcc").exists())

    test_mirror_install = test_mirror

    def test_slurm(self):
        """By a stand-in for srun, from another directory and without a PATH to cudaenv."""
        self.box.tool("stand-ins", "srun", 'exec "$@"')
        result = self.run_text(RUN["slurm"], cwd=self.box.home, env={
            "SLURM_SUBMIT_DIR": str(self.box.project), "PATH": f"{self.box.top}/stand-ins:/usr/bin:/bin"})
        self.assert_prints(result, f"{self.new}/bin/nvcc\n")

    def test_modules(self):
        for program in MODULES:
            with self.subTest(program=program):
                function = module_function(program)
                if not function:
                    self.skipTest(f"no {program}")
                result = self.run_text(function + RUN["modules"] + 'nvcc; echo "$CUDA_HOME"', env={"LC_ALL": "C.UTF-8"})
                self.assertEqual(result.stdout.decode(), f"{self.new}/bin/nvcc\n{self.new}\n", result.stderr)

    def by_sudo(self, text):
        self.needs("sudo", "make")
        if subprocess.run(["sudo", "-n", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("sudo asks for a password")
        result = self.run_text(text)
        self.assertEqual((result.returncode, result.stdout.decode()), (0, f"{self.old}/bin/nvcc\n"), result.stderr)

    def test_SYS_01_sudo(self):
        self.by_sudo(RUN["sudo"])
        self.by_sudo('eval "$(cudaenv init bash)"; ' + RUN["sudo"])

    def test_SYS_01_sudo_by_path(self):
        self.by_sudo(RUN["sudo_by_path"])

    def test_systemd(self):
        """Its command line, in the environment that a service has."""
        unit = RUN["systemd"].replace("/opt/cudaenv", str(self.box.root)).replace("/srv/app", str(self.box.project))
        entries = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line)
        name, value = entries["Environment"].split("=")
        result = subprocess.run(entries["ExecStart"].split(), cwd=entries["WorkingDirectory"], capture_output=True,
                                env={name: value, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **MODERN})
        self.assert_prints(result, f"{self.new}/bin/nvcc\n")

    def test_SYS_07_cron(self):
        """By its command, with what cron gives it: from the home directory, by /bin/sh."""
        self.needs("make")
        command = RUN["cron"].split(None, 5)[5]
        self.assertNotIn("%", command, "a line end to cron")
        env = {"HOME": str(self.box.home), "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", "LOGNAME": "u", **MODERN}
        result = subprocess.run(["/bin/sh", "-c", command], cwd=self.box.home, env=env, capture_output=True)
        self.assert_prints(result, "")
        self.assert_log()

    def through_ccache(self, text):
        """One source by two toolkits: each makes its own object, though the cache has the other's."""
        self.needs("ccache")
        self.box.shim("nvcc")
        self.box.write(self.box.project / "kernel.cu", "int main() {}\n")
        for version, toolkit in (("12.8", self.new), ("12.4", self.old), ("12.8", self.new)):
            self.select(version)
            result = self.run_text(text, env={"CCACHE_DIR": str(self.box.top / "ccache"), "CCACHE_CONFIGPATH": "/dev/null"})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((self.box.project / "kernel.o").read_text(), f"{toolkit}/bin/nvcc\n")
        stats = self.run_text("ccache --print-stats", env={"CCACHE_DIR": str(self.box.top / "ccache"), "CCACHE_CONFIGPATH": "/dev/null"})
        self.assertRegex(stats.stdout.decode(), r"(?m)^direct_cache_hit\t1$|^preprocessed_cache_hit\t1$")

    def test_BLD_10_ccache(self):
        self.through_ccache(RUN["ccache"])

    def test_BLD_10_ccache_by_shim(self):
        self.through_ccache(RUN["ccache_by_shim"])


class Reading(Recipe):
    def test_each_marked_recipe_is_run(self):
        tests = {re.sub(r"^test_([A-Z]+_\d+_)?", "", name) for name in dir(Running) if name.startswith("test_")}
        self.assertEqual(set(RUN), tests)

    def test_scripts_parse(self):
        for language, text in BLOCKS:
            if language == "sh":
                self.assert_prints(self.box.run(shutil.which("bash"), "-n", input=text.encode()), "")

    def test_commands_and_options_exist(self):
        found = [match for text in [text for _, text in BLOCKS] + SPANS
                 for match in re.findall(r'(?:^|[\s("/])cudaenv"? ([a-z]+)([^\n&|;>)]*)', text)]
        self.assertGreater(len(found), 20)
        for command, rest in found:
            help_text = self.cudaenv("help", command)
            self.assertEqual(help_text.returncode, 0, command)
            for option in re.findall(r"(?<= )--?[a-z]+", rest.split(" -- ")[0]):
                self.assertIn(option, help_text.stdout.decode(), f"{command} {option}")


if __name__ == "__main__":
    unittest.main()
