#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes archives that attack whoever unpacks them, or that only look odd.

    hostile.py --list
    hostile.py --archive FILE KIND                      the archive alone
    hostile.py DIR RELEASE KIND [--component cuda_nvcc] [--platform P]...

The last form puts it into a mirror, with the right size and digest in the manifest, so that nothing but the
unpacking can find it out. What would be written outside is called `escaped`: beside the directory that is
unpacked to, or, for the absolute kinds, in --outside (default /tmp/cudaenv-escaped).
"""

import argparse
import io
import lzma
import random
import sys
import tarfile
from pathlib import Path
from typing import Callable, Dict, List

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from redist import MTIME, archive_path, describe, read_manifest, write_manifest

TOOL = b"#!/bin/sh\necho sample\n"


class Archive:
    """A tar archive in which nothing is checked."""

    def __init__(self, top: str):
        self.top = top
        self.buffer = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.buffer, mode="w", format=tarfile.GNU_FORMAT)
        self.file("LICENSE", b"sample licence\n")

    def add(self, name: str, kind: bytes, mode: int, link: str = "", data: bytes = b"") -> None:
        """Names are below the top directory, unless they begin with '=': then they are taken as they are."""
        info = tarfile.TarInfo()
        info.name = name[1:] if name.startswith("=") else f"{self.top}/{name}".rstrip("/")
        info.type, info.mode, info.linkname, info.mtime, info.size = kind, mode, link, MTIME, len(data)
        if kind == tarfile.CHRTYPE:
            info.devmajor, info.devminor = 1, 3
        self.tar.addfile(info, io.BytesIO(data))

    def file(self, name: str, data: bytes = b"escaped\n", mode: int = 0o644) -> None:
        self.add(name, tarfile.REGTYPE, mode, data=data)

    def folder(self, name: str, mode: int = 0o755) -> None:
        self.add(name, tarfile.DIRTYPE, mode)

    def link(self, name: str, target: str) -> None:
        self.add(name, tarfile.SYMTYPE, 0o777, target)

    def hard(self, name: str, target: str) -> None:
        self.add(name, tarfile.LNKTYPE, 0o755, target[1:] if target.startswith("=") else f"{self.top}/{target}")

    def tool(self, mode: int = 0o755) -> None:
        self.file("bin/nvcc", TOOL, mode)

    def compressed(self) -> bytes:
        self.tar.close()
        return lzma.compress(self.buffer.getvalue(), preset=0)


def dotdot(archive: Archive, outside: str) -> None:
    archive.file("=../escaped")


def absolute(archive: Archive, outside: str) -> None:
    archive.file(f"={outside}/escaped")


def strip_escape(archive: Archive, outside: str) -> None:
    archive.file("../../escaped")


def symlink_escape(archive: Archive, outside: str) -> None:
    archive.link("lib", "..")
    archive.file("lib/escaped")


def symlink_absolute(archive: Archive, outside: str) -> None:
    archive.link("lib", outside)
    archive.file("lib/escaped")


def hardlink_escape(archive: Archive, outside: str) -> None:
    archive.hard("bin/passwd", "=../../../../../../../../etc/passwd")


def device(archive: Archive, outside: str) -> None:
    archive.add("bin/null", tarfile.CHRTYPE, 0o666)


def fifo(archive: Archive, outside: str) -> None:
    archive.add("bin/pipe", tarfile.FIFOTYPE, 0o644)


def setuid(archive: Archive, outside: str) -> None:
    archive.tool(0o6755)


def type_change(archive: Archive, outside: str) -> None:
    archive.tool()
    archive.file("lib/thing", b"a file first\n")
    archive.link("lib/thing", "../..")
    archive.file("lib/thing/escaped")


def two_tops(archive: Archive, outside: str) -> None:
    archive.tool()
    archive.file("=another-top/bin/nvcc", TOOL, 0o755)


def readonly_dirs(archive: Archive, outside: str) -> None:
    """Must install, and must be removable."""
    for name in ("", "bin", "lib", "lib/deep"):
        archive.folder(name, 0o555)
    archive.tool(0o555)
    archive.file("lib/deep/data", b"read only\n", 0o444)


def hardlinks(archive: Archive, outside: str) -> None:
    """Must install: three names of one file."""
    archive.tool()
    archive.hard("bin/ptxas", "bin/nvcc")
    archive.hard("lib/tool", "bin/ptxas")


KINDS: Dict[str, Callable[[Archive, str], None]] = {
    "dotdot": dotdot, "absolute": absolute, "strip-escape": strip_escape, "symlink-escape": symlink_escape,
    "symlink-absolute": symlink_absolute, "hardlink-escape": hardlink_escape, "device": device, "fifo": fifo,
    "setuid": setuid, "type-change": type_change, "two-tops": two_tops, "readonly-dirs": readonly_dirs,
    "hardlinks": hardlinks,
}
BROKEN = ["empty", "empty-tar", "not-xz", "truncated"]


def build(kind: str, top: str, outside: str = "/tmp/cudaenv-escaped") -> bytes:
    """The bytes of the archive of that kind, whose top directory is called `top`."""
    if kind == "empty":
        return b""
    if kind == "empty-tar":
        return lzma.compress(bytes(10240), preset=0)
    if kind == "not-xz":
        return b"<html>this is no archive</html>\n" * 40
    archive = Archive(top)
    if kind == "truncated":
        archive.tool()
        archive.file("lib/large", random.Random(1).getrandbits(8 * 100_000).to_bytes(100_000, "big"))
        whole = archive.compressed()
        return whole[: len(whole) // 2]
    KINDS[kind](archive, outside)
    return archive.compressed()


def put_into(base: Path, release: str, component: str, platforms: List[str], kind: str, outside: str) -> None:
    """Adds the component, or puts the archive in the place of that which it has on these platforms."""
    manifest = read_manifest(base, release)
    version = manifest.get(component, {}).get("version", "1.0.0")
    entry = manifest.setdefault(component, {"name": component, "license": "CUDA Toolkit", "version": version})
    for platform in platforms:
        path = archive_path(base, component, platform, version + ".666")
        path.write_bytes(build(kind, path.name[: -len(".tar.xz")], outside))
        entry[platform] = describe(path, base)
    write_manifest(base, release, manifest)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arguments", metavar="DIR RELEASE KIND", nargs="*")
    parser.add_argument("--list", action="store_true", help="print the kinds")
    parser.add_argument("--archive", metavar="FILE", type=Path)
    parser.add_argument("--component", default="cuda_nvcc")
    parser.add_argument("--platform", action="append", help="default: linux-x86_64 and linux-sbsa")
    parser.add_argument("--outside", default="/tmp/cudaenv-escaped")
    options = parser.parse_args()
    kinds = list(KINDS) + BROKEN
    if options.list:
        print("\n".join(kinds))
        return 0
    if len(options.arguments) != (1 if options.archive else 3) or options.arguments[-1] not in kinds:
        parser.error("give DIR RELEASE KIND, or --archive FILE KIND; --list names the kinds")
    kind = options.arguments[-1]
    if options.archive:
        options.archive.write_bytes(build(kind, options.archive.name.split(".tar")[0], options.outside))
    else:
        platforms = options.platform or ["linux-x86_64", "linux-sbsa"]
        put_into(Path(options.arguments[0]), options.arguments[1], options.component, platforms, kind, options.outside)
    return 0


if __name__ == "__main__":
    sys.exit(main())
