# SPDX-License-Identifier: Apache-2.0
"""Takes NVIDIA's components from the Python wheels that NVIDIA publishes of them.

The wheels of a release are those that the meta package `cuda-toolkit==RELEASE` pins. Only wheels of 13.x
hold a compiler; those of 11.x and 12.x hold libraries, and of the compiler only ptxas and what goes with it.
Downloads are kept in ${CUDAENV_TEST_CACHE:-${XDG_CACHE_HOME:-~/.cache}/cudaenv-tests}/wheels, so a second
run needs no network.
"""

import contextlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, Iterator, List, Optional

import components as parts
import releases
from redist import File, Release, Tree, scan
from toolkit import Unavailable, host_platform

REQUIREMENT = re.compile(r"Requires-Dist: (nvidia-[a-z0-9-]+?)(?:-cu\d+)?==([\d.]+?)(?:\.\*)?;")


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    directory = Path(os.environ.get("CUDAENV_TEST_CACHE") or Path(base, "cudaenv-tests"), "wheels")
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def pip_command() -> List[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if shutil.which(name):
            return [name]
    raise Unavailable("pip is not installed")


def cached(name: str, version: str) -> Optional[Path]:
    """A wheel for this machine. A version may have a further number (.post1, or .0 at the end)."""
    stem = name.replace("-", "_")
    exact = re.compile(rf"{stem}-{re.escape(version)}(\.\w+)*-.*(any|{platform.machine()})\.whl")
    return next((file for file in sorted(cache().glob(f"{stem}-*.whl")) if exact.fullmatch(file.name)), None)


def fetch(name: str, version: str) -> Path:
    wheel = cached(name, version)
    if wheel:
        return wheel
    requirement = f"{name}=={version}.*" if name != "cuda-toolkit" else f"{name}=={version}"
    # A place of its own, so that an interrupted download never passes for a wheel of the cache.
    with tempfile.TemporaryDirectory(dir=cache()) as partial:
        pip = subprocess.run(
            pip_command() + ["download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:",
                             "--disable-pip-version-check", "--dest", partial, requirement],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if pip.returncode != 0:
            reason = (pip.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Unavailable(f"pip cannot get {requirement}: {reason}")
        for file in Path(partial).glob("*.whl"):
            file.replace(cache() / file.name)
    wheel = cached(name, version)
    if not wheel:
        raise Unavailable(f"pip got another wheel than {requirement} for this machine")
    return wheel


def pinned(release: str) -> Dict[str, str]:
    """Wheel names, without -cuNN, and versions of a release."""
    with zipfile.ZipFile(fetch("cuda-toolkit", release)) as meta:
        name = next(name for name in meta.namelist() if name.endswith(".dist-info/METADATA"))
        return dict(REQUIREMENT.findall(meta.read(name).decode()))


def tree_of(wheel: Path, directory: Path) -> Tree:
    """The wheel's files by the name that an archive would give them, unpacked to a directory."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    tree: Tree = {}
    for name, entry in scan(directory).items():
        inside = re.fullmatch(r"nvidia/[^/]+/((?:bin|include|lib|nvvm|compute-sanitizer)/.+)", name)
        if inside and not re.search(r"__pycache__|/__init__\.py$|\.exe$", name) and hasattr(entry, "data"):
            tree[inside[1]] = entry
        elif re.search(r"\.dist-info/(.*/)?licen[sc]e(\.txt)?$", name, re.IGNORECASE):
            tree["LICENSE"] = entry
    return tree


def add_driver_stub(tree: Tree, scratch: Path) -> None:
    """lib/stubs/libcuda.so, which no wheel holds: every function that cuda.h names, none of which works."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if "include/cuda.h" not in tree or not compiler:
        return
    names = sorted(set(re.findall(r"\bcu[A-Z]\w+(?=\s*\(|\s*$)", tree["include/cuda.h"].data.read_text(), re.M)))
    source, output = Path(scratch, "stub.c"), Path(scratch, "libcuda.so")
    source.write_text("".join(f"int {name}(void) {{ return 34; }}\n" for name in names))
    subprocess.run([compiler, "-shared", "-fPIC", "-nostdlib", "-s", "-Wl,-soname,libcuda.so.1", "-o", str(output),
                    str(source)], check=True)
    tree["lib/stubs/libcuda.so"] = File(output)


@contextlib.contextmanager
def unpacked(version: str, choice: str, registry: Optional[Path]) -> Iterator[Release]:
    """The release, whose files exist until the context ends."""
    suffix = "" if releases.numbers(version) >= (13,) else f"-cu{version.split('.')[0]}"
    pins = pinned(version)
    result = Release(version, releases.known(version, registry).date)
    with tempfile.TemporaryDirectory(prefix="cudaenv-wheels-") as scratch:
        for component in parts.selected(choice):
            wheel_name = parts.COMPONENTS[component].wheel
            if wheel_name not in pins:
                continue
            wheel = fetch(wheel_name + suffix, pins[wheel_name])
            tree = tree_of(wheel, Path(scratch, component))
            if component == "cuda_cudart":
                add_driver_stub(tree, Path(scratch))
            parts.add(result, component, pins[wheel_name], host_platform(), tree)
        yield result
