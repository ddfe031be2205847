# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own compilers under cudaenv: mirrors made once of what this machine has, and a root that the program
installs them into.

The mirrors lie in ${CUDAENV_TEST_CACHE:-${XDG_CACHE_HOME:-~/.cache}/cudaenv-tests}; their names hold a digest of what
makes them. A test is skipped, with the reason, where neither a toolkit nor pip is to be had."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.sandbox import PROGRAM, Sandbox

SUPPORT = Path(__file__).resolve().parent
MAKERS = ["make_mirror.py", "toolkit.py", "wheels.py", "components.py", "redist.py", "releases.py"]
WHEELS_RELEASE = "13.1.1"
LONG = 600  # seconds: for what downloads or compiles


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    directory = Path(os.environ.get("CUDAENV_TEST_CACHE") or Path(base, "cudaenv-tests"))
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def mirror(name, *arguments):
    """The mirror that make_mirror.py makes with these arguments."""
    key = hashlib.sha256(repr(arguments).encode())
    for file in [*(SUPPORT / maker for maker in MAKERS), SUPPORT.parents[1] / "registry" / "releases.toml"]:
        key.update(file.read_bytes())
    nvcc = shutil.which("nvcc")
    key.update(os.path.realpath(nvcc).encode() if nvcc else b"")
    place = cache() / f"mirror-{name}-{key.hexdigest()[:12]}"
    if place.is_dir():
        return place
    with tempfile.TemporaryDirectory(prefix=".making-", dir=cache()) as scratch:
        made = Path(scratch, "mirror")
        result = subprocess.run([sys.executable, "-B", SUPPORT / "make_mirror.py", made, *arguments, "--components", "minimal"],
                                capture_output=True, text=True, timeout=LONG)
        if result.returncode == 77:
            raise unittest.SkipTest(result.stderr.strip())
        if result.returncode != 0:
            raise RuntimeError(f"make_mirror.py: {result.stderr}")
        try:
            made.rename(place)
        except OSError:
            if not place.is_dir():  # somebody else was faster
                raise
    return place


class RealToolkits(unittest.TestCase):
    """Two toolkits, installed by the program into a root for the whole class."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not PROGRAM.exists():
            raise unittest.SkipTest(f"{PROGRAM} is not built")
        for program in ("nvcc", "g++"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program} on PATH")
        mirrors = [mirror("machine", "--from-toolkit"), mirror("wheels", "--from-wheels", WHEELS_RELEASE)]
        cls.box = Sandbox()
        cls.addClassCleanup(cls.box.close)
        cls.releases = [cls.install(directory) for directory in mirrors]
        if len(set(cls.releases)) == 1:
            raise unittest.SkipTest(f"the toolkit of this machine is {WHEELS_RELEASE} too")
        cls.projects = [cls.box.write(f"home/project-{release}/.cuda-version", f"{release}\n").parent for release in cls.releases]

    @classmethod
    def install(cls, directory):
        """Installs the one release that the mirror has."""
        (manifest,) = directory.glob("redistrib_*.json")
        release = manifest.stem.removeprefix("redistrib_")
        environment = {**cls.box.environment, "CUDAENV_ACCEPT_MANIFEST": "any"}
        result = subprocess.run([PROGRAM, "install", release, "--profile", "minimal", "--mirror", directory], env=environment,
                                cwd=cls.box.home, capture_output=True, text=True, timeout=LONG)
        if result.returncode != 0:
            raise RuntimeError(f"install {release}: {result.stderr}")
        return release

    def directory(self, release):
        return self.box.root / "versions" / release

    def run_in(self, project, *command, **environment):
        """Through the shims alone: home and PATH, nothing else (SYS-07)."""
        variables = {"HOME": str(self.box.home), "PATH": f"{self.box.shims}:/usr/bin:/bin", **environment}
        return subprocess.run([os.fspath(part) for part in command], cwd=project, env=variables, capture_output=True, text=True,
                              errors="surrogateescape", timeout=LONG)

    def succeed(self, project, *command, **environment):
        """The same; stdout of a command that must not fail."""
        result = self.run_in(project, *command, **environment)
        self.assertEqual(result.returncode, 0, f"{command}:\n{result.stdout}{result.stderr}")
        return result.stdout

    def exec(self, project, *command, **environment):
        return self.succeed(project, PROGRAM, "exec", "--", *command, **environment)

    def each(self):
        """Project, release and directory of each toolkit."""
        return [(project, release, self.directory(release)) for project, release in zip(self.projects, self.releases)]


def runtime_number(release):
    """What cudaRuntimeGetVersion answers: 13010 for 13.1.1."""
    major, minor, _ = release.split(".")
    return int(major) * 1000 + int(minor) * 10
