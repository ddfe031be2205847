# SPDX-License-Identifier: Apache-2.0
"""Writes a mirror in the format of NVIDIA's redistributable archives.

    release = Release("13.0.2", date="2025-10-09")
    release.add("cuda_nvcc", Component("13.0.88", platforms={"linux-x86_64": tree}))
    release.write(directory)

gives `redistrib_13.0.2.json` and, for each component and platform,
`<component>/<platform>/<component>-<platform>-<version>-archive.tar.xz` (a .zip for Windows).
A second release written to the same directory is added to it.

A tree is a directory, or a dict of names to `File`, `Link`, `Hard` and `Dir`. The same tree gives the
same bytes: entries are sorted, owner is 0, the time is fixed.
"""

import hashlib
import io
import json
import lzma
import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Union

MTIME = 1577836800  # 2020-01-01, in every archive
BIG = 8 << 20  # bytes from which the xz program, with two threads, beats the lzma module


@dataclass
class File:
    """Contents as bytes, or the path of a file to copy."""

    data: Union[bytes, Path] = b""
    mode: int = 0o644

    def size(self) -> int:
        return len(self.data) if isinstance(self.data, bytes) else self.data.stat().st_size


@dataclass
class Link:
    """Symbolic link."""

    target: str


@dataclass
class Hard:
    """Hard link to another name of the same tree."""

    name: str


@dataclass
class Dir:
    """Directory; needed only where it is empty or its mode is not 0755."""

    mode: int = 0o755


Entry = Union[File, Link, Hard, Dir]
Tree = Dict[str, Entry]


@dataclass
class Component:
    """One entry of a manifest. `platforms` maps a platform to a tree, or, in the nested form, to
    {variant: tree} with the variants ("12", "13.3") listed in `variants`."""

    version: str
    name: str = ""
    license: str = "CUDA Toolkit"
    platforms: Dict[str, object] = field(default_factory=dict)
    variants: List[str] = field(default_factory=list)


def numbers(version: str) -> tuple:
    """'12.10' > '12.9': versions compare as numbers."""
    return tuple(int(n) for n in version.split("."))


def scan(directory: Path) -> Tree:
    """The tree below a directory, with its links, hard links and modes."""
    tree: Tree = {}
    first_name: Dict[tuple, str] = {}
    for parent, directories, files in os.walk(directory):
        directories.sort()
        for name in sorted(directories + files):
            path = Path(parent, name)
            key = path.relative_to(directory).as_posix()
            info = path.lstat()
            if stat.S_ISLNK(info.st_mode):
                tree[key] = Link(os.readlink(path))
            elif stat.S_ISDIR(info.st_mode):
                tree[key] = Dir(stat.S_IMODE(info.st_mode))
            elif stat.S_ISREG(info.st_mode):
                inode = (info.st_dev, info.st_ino)
                if info.st_nlink > 1 and inode in first_name:
                    tree[key] = Hard(first_name[inode])
                else:
                    first_name[inode] = key
                    tree[key] = File(path, stat.S_IMODE(info.st_mode))
    return tree


def with_parents(tree: Tree) -> Tree:
    """The same tree with an entry for every directory on the way."""
    full: Tree = {}
    for name, entry in tree.items():
        parts = name.split("/")
        for depth in range(1, len(parts)):
            full.setdefault("/".join(parts[:depth]), Dir())
        full[name] = entry
    return full


def tar_member(top: str, name: str, entry: Entry, tree: Tree) -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"{top}/{name}" if name else top)
    info.mtime = MTIME
    if isinstance(entry, Dir):
        info.type, info.mode = tarfile.DIRTYPE, entry.mode
    elif isinstance(entry, Link):
        info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, entry.target
    elif isinstance(entry, Hard):
        info.type, info.mode, info.linkname = tarfile.LNKTYPE, tree[entry.name].mode, f"{top}/{entry.name}"
    else:
        info.mode, info.size = entry.mode, entry.size()
    return info


def write_tar(stream, top: str, tree: Tree) -> None:
    # Sorted, but a hard link after the name that it refers to.
    names = sorted(tree, key=lambda name: (isinstance(tree[name], Hard), name))
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(tar_member(top, "", Dir(), tree))
        for name in names:
            entry = tree[name]
            member = tar_member(top, name, entry, tree)
            if not isinstance(entry, File):
                tar.addfile(member)
            elif isinstance(entry.data, bytes):
                tar.addfile(member, io.BytesIO(entry.data))
            else:
                with open(entry.data, "rb") as source:
                    tar.addfile(member, source)


def write_tar_xz(path: Path, top: str, tree: Tree, preset: int, threads: int = 2) -> None:
    """More than one thread of xz make blocks of their own, which NVIDIA's archives do not have."""
    size = sum(entry.size() for entry in tree.values() if isinstance(entry, File))
    if size >= BIG and shutil.which("xz"):
        with open(path, "wb") as output:
            xz = subprocess.Popen(["xz", "-c", f"-T{threads}", f"-{preset}"], stdin=subprocess.PIPE, stdout=output)
            write_tar(xz.stdin, top, tree)
            xz.stdin.close()
        if xz.wait() != 0:
            raise OSError(f"xz failed for {path}")
    else:
        with lzma.open(path, "wb", preset=preset) as output:
            write_tar(output, top, tree)


def write_zip(path: Path, top: str, tree: Tree) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(tree):
            entry = tree[name]
            if isinstance(entry, File):
                data = entry.data if isinstance(entry.data, bytes) else Path(entry.data).read_bytes()
                info = zipfile.ZipInfo(f"{top}/{name}", (2020, 1, 1, 0, 0, 0))
                info.external_attr = (stat.S_IFREG | entry.mode) << 16
                archive.writestr(info, data, zipfile.ZIP_DEFLATED, 1)


def describe(path: Path, base: Path) -> dict:
    """The four members that a manifest holds for an archive."""
    sha256, md5, size = hashlib.sha256(), hashlib.md5(), 0
    with open(path, "rb") as archive:
        for block in iter(lambda: archive.read(1 << 20), b""):
            sha256.update(block)
            md5.update(block)
            size += len(block)
    return {
        "relative_path": path.relative_to(base).as_posix(),
        "sha256": sha256.hexdigest(),
        "md5": md5.hexdigest(),
        "size": str(size),
    }


def archive_path(base: Path, component: str, platform: str, version: str, variant: str = "") -> Path:
    suffix = f"_cuda{variant}" if variant else ""
    kind = "zip" if platform.startswith("windows") else "tar.xz"
    name = f"{component}-{platform}-{version}{suffix}-archive.{kind}"
    path = base / component / platform / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def license_of(name: str, component: Component) -> bytes:
    """The licence that comes with the files, else a line that names it."""
    for content in component.platforms.values():
        for tree in content.values() if component.variants else [content]:
            entry = tree.get("LICENSE") if isinstance(tree, dict) else None
            if isinstance(entry, File):
                return entry.data if isinstance(entry.data, bytes) else Path(entry.data).read_bytes()
    return f"{component.name or name}\nLicence: {component.license}\n".encode()


def write_archive(path: Path, tree: Union[Tree, Path], license_text: bytes, preset: int, threads: int = 2) -> None:
    contents = dict(tree) if isinstance(tree, dict) else scan(Path(tree))
    contents.setdefault("LICENSE", File(license_text))
    contents = with_parents(contents)
    if path.suffix == ".zip":
        write_zip(path, path.name[: -len(".zip")], contents)
    else:
        write_tar_xz(path, path.name[: -len(".tar.xz")], contents, preset, threads)


def manifest_path(base: Path, version: str) -> Path:
    return base / f"redistrib_{version}.json"


def read_manifest(base: Path, version: str) -> dict:
    return json.loads(manifest_path(base, version).read_text())


def write_manifest(base: Path, version: str, manifest: dict) -> None:
    """Replaces the manifest in one step, so that a server never shows half of it."""
    head = {key: value for key, value in manifest.items() if not isinstance(value, dict)}
    body = {key: manifest[key] for key in sorted(manifest) if isinstance(manifest[key], dict)}
    partial = base / f".redistrib_{version}.part"
    partial.write_text(json.dumps({**head, **body}, indent=4) + "\n")
    partial.replace(manifest_path(base, version))


class Release:
    """The components of one release, until they are written."""

    def __init__(self, version: str, date: str = "2026-01-01", product: str = "cuda"):
        self.version, self.date, self.product = version, date, product
        self.components: Dict[str, Component] = {}
        # The CUDA manifests name themselves and the licence files from 12.2.0 on.
        self.labelled = product != "cuda" or numbers(version) >= (12, 2, 0)

    def add(self, name: str, component: Component) -> None:
        self.components[name] = component

    def write(self, base: Path, preset: int = 0) -> None:
        base = Path(base)
        base.mkdir(parents=True, exist_ok=True)
        manifest = {"release_date": self.date}
        if self.labelled:
            manifest.update(release_label=self.version, release_product=self.product)
        for name, component in self.components.items():
            manifest[name] = self.write_component(base, name, component, preset)
        write_manifest(base, self.version, manifest)

    def write_component(self, base: Path, name: str, component: Component, preset: int, threads: int = 2) -> dict:
        entry: dict = {"name": component.name or name, "license": component.license}
        text = license_of(name, component)
        if self.labelled:
            entry["license_path"] = f"{name}/LICENSE.txt"
            (base / name).mkdir(exist_ok=True)
            (base / name / "LICENSE.txt").write_bytes(text)
        entry["version"] = component.version
        if component.variants:
            entry["cuda_variant"] = list(component.variants)
        for platform, content in component.platforms.items():
            trees = content if component.variants else {"": content}
            written = {}
            for variant, tree in trees.items():
                path = archive_path(base, name, platform, component.version, variant)
                write_archive(path, tree, text, preset, threads)
                written[f"cuda{variant}" if variant else ""] = describe(path, base)
            entry[platform] = written if component.variants else written[""]
        return entry
