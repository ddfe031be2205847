# SPDX-License-Identifier: Apache-2.0
"""Splits a CUDA toolkit that is installed on this machine into NVIDIA's components."""

import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Optional

import components as parts
import releases
from redist import File, Link, Release, Tree


class Unavailable(Exception):
    """What a mirror should be made of is not to be had here: a test is skipped, not failed."""


def find(path: str = "") -> Path:
    """The toolkit named, else that of CUDA_HOME, else that of nvcc on PATH."""
    nvcc = shutil.which("nvcc")
    for place in (path, os.environ.get("CUDA_HOME"), Path(nvcc).resolve().parent.parent if nvcc else None):
        if place and Path(place, "bin", "nvcc").is_file():
            return Path(place).resolve()
        if path:
            break
    raise Unavailable(f"no CUDA toolkit {'in ' + path if path else 'on PATH or in CUDA_HOME'}")


def host_platform() -> str:
    return "linux-sbsa" if platform.machine() == "aarch64" else "linux-x86_64"


def nvcc_version(toolkit: Path) -> str:
    text = subprocess.run([toolkit / "bin" / "nvcc", "--version"], capture_output=True, text=True, check=True)
    return re.search(r"V(\d+\.\d+\.\d+)", text.stdout)[1]


def component_versions(toolkit: Path) -> Dict[str, str]:
    """From NVIDIA's version.json, or from the records of wheels that the toolkit was put together from."""
    record = toolkit / "version.json"
    found = {}
    if record.is_file():
        found = {name: entry.get("version", "") for name, entry in json.loads(record.read_text()).items()}
    by_wheel = {info.wheel.replace("-", "_"): name for name, info in parts.COMPONENTS.items()}
    for wheel in toolkit.glob("**/nvidia_*.dist-info"):
        name, _, version = wheel.name[: -len(".dist-info")].partition("-")
        component = by_wheel.get(re.sub(r"_cu\d+$", "", name))
        if component:
            found.setdefault(component, version)
    return found


def licence_file(toolkit: Path, component: str) -> Optional[Path]:
    wheel = parts.COMPONENTS[component].wheel.replace("-", "_")
    places: List[Path] = sorted(toolkit.glob(f"**/{wheel}-*.dist-info/**/[Ll]icense*"))
    places += [toolkit / name for name in ("LICENSE", "EULA.txt")]
    return next((place for place in places if place.is_file()), None)


def merged_tree(toolkit: Path) -> Tree:
    """Every file of the toolkit by the name that an archive would give it."""
    tree: Tree = {}
    for folder, name in (("bin", "bin"), ("include", "include"), ("lib64", "lib"), ("nvvm", "nvvm"),
                         ("compute-sanitizer", "compute-sanitizer")):
        root = (toolkit / folder).resolve()
        for parent, directories, files in os.walk(root):
            # A link to a directory is another name for what is walked anyhow.
            directories[:] = sorted(d for d in directories if not Path(parent, d).is_symlink())
            for file in sorted(files):
                path = Path(parent, file)
                key = f"{name}/{path.relative_to(root).as_posix()}"
                if path.is_symlink() and "/" not in os.readlink(path):
                    tree[key] = Link(os.readlink(path))
                elif path.is_file():
                    tree[key] = File(path.resolve(), 0o644)
    return tree


def release_of(versions: Dict[str, str], nvcc: str, registry: Optional[Path]) -> str:
    release = versions.get("cuda") or releases.of_compiler(nvcc, versions.get("cuda_cudart", ""), registry)
    if not release:
        raise ValueError(f"the registry lists no release with nvcc {nvcc}: name it with --release")
    return release


def make(path: str, release: str, choice: str, registry: Optional[Path]) -> Release:
    toolkit = find(path)
    nvcc = nvcc_version(toolkit)
    versions = component_versions(toolkit)
    release = release or release_of(versions, nvcc, registry)
    wanted = parts.selected(choice)
    trees: Dict[str, Tree] = {}
    for name, entry in merged_tree(toolkit).items():
        component = parts.of_file(parts.archive_name(name))
        if component in wanted:
            trees.setdefault(component, {})[name] = entry
    result = Release(release, releases.known(release, registry).date)
    for component, tree in trees.items():
        licence = licence_file(toolkit, component)
        if licence:
            tree["LICENSE"] = File(licence)
        parts.add(result, component, versions.get(component) or nvcc, host_platform(), tree)
    return result
