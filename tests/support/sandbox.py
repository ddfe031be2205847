# SPDX-License-Identifier: Apache-2.0
"""A sealed place for a test of the program and its shims: own home, own roots, an environment with nothing from outside."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("CUDAENV_BUILD") or Path(__file__).resolve().parents[2] / "build").resolve()
SHIM = BUILD / "libexec" / "cudaenv" / "cudaenv-shim"
PROGRAM = BUILD / "bin" / "cudaenv"
NOBODY = 65534
DEADLINE = 20  # seconds
# A machine on which the gate has nothing against any toolkit, whatever the one is that runs the test.
MODERN = {"CUDAENV_OVERRIDE_DRIVER": "620.70.06", "CUDAENV_OVERRIDE_GPUS": "8.6"}


class Sandbox:
    def __init__(self):
        # Resolved, and open to other users, so that tests may run a command as somebody else.
        self.top = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-test-")))
        self.top.chmod(0o755)
        self.home = self.top / "home"
        self.root = self.home / ".cudaenv"
        self.shims = self.root / "shims"
        self.project = self.home / "project"
        self.runtime = self.top / "run"
        for directory in (self.shims, self.root / "versions", self.project, self.top / "tmp", self.runtime):
            directory.mkdir(parents=True)
        self.runtime.chmod(0o700)
        self.environment = {"HOME": str(self.home), "PATH": f"{self.shims}:/usr/bin:/bin", "LC_ALL": "C",
                            "TMPDIR": str(self.top / "tmp"), "CUDAENV_SHARED_ROOT": "",
                            "XDG_RUNTIME_DIR": str(self.runtime), **MODERN}

    def close(self):
        for directory, _, _ in os.walk(self.top):
            os.chmod(directory, 0o755)
        shutil.rmtree(self.top)

    def write(self, path, content="", mode=0o644):
        """A file below the sandbox; text is written byte for byte (latin-1)."""
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))
        file.chmod(mode)
        return file

    def tool(self, directory, name, script="echo \"$0\""):
        return self.write(Path(directory) / name, f"#!/bin/sh\n{script}\n", 0o755)

    def toolkit(self, name, tools=("nvcc",), root=None):
        """What an install leaves; each tool prints the path it was started by."""
        directory = (root or self.root) / "versions" / name
        for tool in tools:
            self.tool(directory / "bin", tool)
        self.write(directory / "receipt.json", "{}\n")
        return directory

    def shim(self, name, shims=None):
        """A shim as rehash makes it: one more hard link of one file."""
        first = (shims or self.shims) / ".first"
        if not first.exists():
            first.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SHIM, first)
        link = first.with_name(name)
        if not link.exists():
            os.link(first, link)
        return link

    def run(self, *command, cwd=None, env=None, **options):
        """Runs a command; `env` adds to the sandbox's environment, None removes a variable."""
        directory = Path(cwd or self.project)
        variables = {**self.environment, "PWD": str(directory), **(env or {})}
        variables = {name: value for name, value in variables.items() if value is not None}
        return subprocess.run([os.fspath(part) for part in command], cwd=directory, env=variables, timeout=DEADLINE,
                              stdin=options.pop("stdin", None if "input" in options else subprocess.DEVNULL),
                              capture_output=True, **options)


def execve_raw(path, arguments, environment, cwd):
    """Exit status and output of a program started with exactly these bytes: no argv[0], duplicate variables,
    entries that are no variables, whatever Python itself would not pass on."""
    libc = ctypes.CDLL(None, use_errno=True)
    reader, writer = os.pipe()
    as_array = lambda items: (ctypes.c_char_p * (len(items) + 1))(*items, None)
    prepared = os.fsencode(path), as_array(arguments), as_array(environment)
    child = os.fork()
    if child == 0:
        os.chdir(cwd)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        libc.execve(*prepared)
        os._exit(125)
    os.close(writer)
    with open(reader, "rb") as output:
        text = output.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text
