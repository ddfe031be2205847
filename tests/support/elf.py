# SPDX-License-Identifier: Apache-2.0
"""Reading and changing 64-bit little-endian ELF files, for tests that need odd ones."""

import struct
from pathlib import Path

PT_LOAD, PT_DYNAMIC = 1, 2
DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_STRSZ, DT_SONAME, DT_JMPREL, DT_PLTRELSZ = 5, 6, 7, 8, 10, 14, 23, 2
DT_GNU_HASH, DT_VERSYM, DT_VERDEF, DT_VERDEFNUM = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD
R_NONE, R_IRELATIVE = 0, {62: 37, 183: 1032}


class Elf:
    def __init__(self, path):
        self.path = Path(path)
        self.bytes = bytearray(self.path.read_bytes())
        self.machine, = struct.unpack_from("<H", self.bytes, 18)
        headers_at, = struct.unpack_from("<Q", self.bytes, 32)
        count, = struct.unpack_from("<H", self.bytes, 56)
        # type, flags, offset, address, physical address, size in the file, size in memory, alignment
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, headers_at + 56 * i) for i in range(count)]
        self.dynamic = {}
        self.dynamic_at = {}
        for kind, _, offset, _, _, size, _, _ in self.segments:
            if kind != PT_DYNAMIC:
                continue
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<qQ", self.bytes, at)
                if tag == 0:
                    break
                self.dynamic.setdefault(tag, value)
                self.dynamic_at.setdefault(tag, at)

    def offset(self, address):
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise AssertionError(f"no segment holds {address:#x}")

    def relocations(self, tag, size_tag):
        """Offset in the file and type of each."""
        start = self.offset(self.dynamic[tag])
        for at in range(start, start + self.dynamic[size_tag], 24):
            info, = struct.unpack_from("<Q", self.bytes, at + 8)
            yield at, info & 0xFFFFFFFF

    def disable(self, at):
        struct.pack_into("<Q", self.bytes, at + 8, R_NONE)

    def disable_sentinel(self):
        """As if the loader had dealt with it before the resolver had its say."""
        for at, _ in self.relocations(DT_JMPREL, DT_PLTRELSZ):
            self.disable(at)

    def disable_resolver(self):
        """As if the loader had not called it."""
        for at, kind in self.relocations(DT_RELA, DT_RELASZ):
            if kind == R_IRELATIVE[self.machine]:
                self.disable(at)

    def save(self, path=None):
        """Another file in the place of the old one, which may be in use."""
        path = Path(path or self.path)
        temporary = path.with_name(path.name + ".patched")
        temporary.write_bytes(self.bytes)
        temporary.chmod(0o755)
        temporary.rename(path)
