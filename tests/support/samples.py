# SPDX-License-Identifier: Apache-2.0
"""Sample toolkits: a few hundred kilobytes each, with the components, names, links and sonames of NVIDIA's
and with programs and libraries that really run, built from tests/support/sample by the C compiler."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional

import components as parts
import releases
from redist import Component, File, Link, Release, Tree, numbers
from toolkit import Unavailable

SOURCES = Path(__file__).resolve().parent / "sample"
OLD_ARM_GAP = (12, 3)  # no linux-aarch64 in 12.3.x

# By first minor release: real architectures as nvcc lists them (13.x out of order), newest gcc and clang.
MINORS = [
    ((11, 0), "35 37 50 52 53 60 61 62 70 72 75 80", 9, 9),
    ((11, 1), "35 37 50 52 53 60 61 62 70 72 75 80 86", 10, 10),
    ((11, 4), "35 37 50 52 53 60 61 62 70 72 75 80 86 87", 11, 12),
    ((11, 8), "35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90", 11, 14),
    ((12, 0), "50 52 53 60 61 62 70 72 75 80 86 87 89 90", 12, 14),
    ((12, 4), "50 52 53 60 61 62 70 72 75 80 86 87 89 90", 13, 17),
    ((12, 8), "50 52 53 60 61 62 70 72 75 80 86 87 89 90 100 101 120", 14, 19),
    ((12, 9), "50 52 53 60 61 62 70 72 75 80 86 87 89 90 100 101 103 120 121", 14, 19),
    ((13, 0), "75 80 86 87 88 89 90 100 110 103 120 121", 15, 20),
    ((13, 1), "75 80 86 87 88 89 90 100 110 103 120 121", 15, 21),
    ((13, 4), "75 80 86 87 88 89 90 100 110 103 107 120 121", 16, 22),
]


class Kit:
    """Compiles each source once for each set of definitions, and writes numbers into copies of the result."""

    def __init__(self):
        self.compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), "")
        if not self.compiler or not shutil.which(self.compiler.split()[0]):
            raise Unavailable("no C compiler to build the sample toolkits with")
        self.scratch = tempfile.TemporaryDirectory(prefix="cudaenv-samples-")
        self.built: Dict[tuple, bytes] = {}

    def build(self, source: str, *flags: str) -> bytes:
        key = (source,) + flags
        if key not in self.built:
            output = Path(self.scratch.name, "output")
            command = self.compiler.split() + ["-O1", "-o", str(output), str(SOURCES / source)] + list(flags)
            subprocess.run(command, check=True)
            self.built[key] = output.read_bytes()
        return self.built[key]

    def tool(self, name: str, title: str, facts: "Facts", version: str = "") -> File:
        fields = (name, title, facts.minor, version or facts.nvcc, facts.architectures, "")
        identity = "|".join(fields).encode().ljust(512, b"\0")
        image = self.build("tool.c", "-s")
        start = image.index(b"@sample-identity@")
        return File(image[:start] + identity + image[start + len(identity):], 0o755)

    def numbered(self, image: bytes, number: int) -> bytes:
        start = image.index(b"@sample-version\0") + 16
        return image[:start] + number.to_bytes(4, sys.byteorder) + image[start + 4:]

    def library(self, soname: str, number: int, function: str, others: str = "", node: bool = False,
                result: int = 0) -> File:
        """A shared library; with node, its symbols have a version named like the soname."""
        flags = ["-shared", "-fPIC", "-nostdlib", "-s", f"-Wl,-soname,{soname}"] + definitions(function, others, result)
        if node:
            script = Path(self.scratch.name, soname + ".map")
            script.write_text(f"{soname} {{ global: *; }};\n")
            flags.append(f"-Wl,--version-script={script}")
        return File(self.numbered(self.build("library.c", *flags), number), 0o755)

    def static(self, member: str, number: int, function: str, others: str) -> File:
        item = Path(self.scratch.name, member)
        item.write_bytes(self.build("library.c", "-c", "-fPIC", *definitions(function, others, 0)))
        archive = item.with_suffix(".a")
        archive.unlink(missing_ok=True)
        subprocess.run(["ar", "rcsD", str(archive), str(item)], check=True)
        return File(self.numbered(archive.read_bytes(), number))


def definitions(function: str, others: str, result: int) -> List[str]:
    return [f"-DNAME={function}", f"-DRESULT={result}", "-DOTHERS=" + " ".join(f"X({o})" for o in others.split())]


class Facts:
    """What the builders below need to know of a release."""

    def __init__(self, version: str, registry: Optional[Path]):
        known = releases.known(version, registry)
        self.version, self.number = version, numbers(version)
        self.major, self.minor = self.number[0], ".".join(version.split(".")[:2])
        self.nvcc, self.cudart, self.date, self.driver = (
            known.nvcc, known.cudart, known.date, known.driver)
        self.nsight = f"20{self.major + 12}.{self.number[1]}.{self.number[2]}.65"
        self.api = self.number[0] * 1000 + self.number[1] * 10
        row = max((row for row in MINORS if row[0] <= self.number[:2]), default=MINORS[0])
        self.architectures, self.gcc, self.clang = row[1:]

    def header(self, name: str) -> File:
        text = (SOURCES / name).read_text()
        for key, value in (("CUDART_VERSION", self.api), ("GCC_MAX", self.gcc), ("CLANG_LIMIT", self.clang + 1)):
            text = text.replace(f"@{key}@", str(value))
        return File(text.encode())


EMPTY_ARCHIVE = File(b"!<arch>\n")
CUDART = "cudaDriverGetVersion cudaGetDeviceCount cudaGetLastError cudaMalloc cudaFree cudaLaunchKernel"
DRIVER = "cuInit cuDeviceGetCount cuDeviceGet cuGetErrorString"


def chain(folder: str, library: str, suffix: str, full: str, image: File) -> Tree:
    """libX.so -> libX.so.N -> libX.so.N.M.P"""
    tree: Tree = {f"{folder}/{library}.{full}": image}
    tree.setdefault(f"{folder}/{library}.{suffix}", Link(f"{library}.{full}"))
    tree[f"{folder}/{library}"] = Link(f"{library}.{suffix}")
    return tree


def nvvm(kit: Kit, facts: Facts) -> Tree:
    image = kit.library("libnvvm.so.4", facts.api, "nvvmVersion")
    return {"nvvm/bin/cicc": kit.tool("cicc", "cicc", facts),
            "nvvm/libdevice/libdevice.10.bc": File(b"BC\xc0\xde" + bytes(60)),
            "nvvm/include/nvvm.h": File(b"int nvvmVersion(int *version);\n"),
            **chain("nvvm/lib64", "libnvvm.so", "4", "4.0.0", image)}


def crt(kit: Kit, facts: Facts) -> Tree:
    return {f"include/crt/{name}": facts.header(name) for name in ("host_config.h", "host_defines.h")}


def ptx_compiler(kit: Kit, facts: Facts) -> Tree:
    return {"lib/libnvptxcompiler_static.a": EMPTY_ARCHIVE, "include/nvPTXCompiler.h": File(b"\n")}


def nvcc(kit: Kit, facts: Facts) -> Tree:
    tree: Tree = {"bin/nvcc": kit.tool("nvcc", "Cuda compiler driver", facts),
                  "bin/nvcc.profile": facts.header("nvcc.profile"),
                  "bin/ptxas": kit.tool("ptxas", "Ptx optimizing assembler", facts),
                  "bin/crt/link.stub": File(b"\n")}
    if facts.major < 13:
        tree.update({**nvvm(kit, facts), **crt(kit, facts), **ptx_compiler(kit, facts)})
    return tree


def cudart(kit: Kit, facts: Facts) -> Tree:
    suffix = "11.0" if facts.major == 11 else str(facts.major)
    soname = f"libcudart.so.{suffix}"
    shared = kit.library(soname, facts.api, "cudaRuntimeGetVersion", CUDART, node=True)
    tree: Tree = {"include/cuda_runtime.h": facts.header("cuda_runtime.h"),
                  "lib/libcudart_static.a": kit.static("cudart.o", facts.api, "cudaRuntimeGetVersion", CUDART),
                  "lib/libcudadevrt.a": EMPTY_ARCHIVE,
                  "lib/stubs/libcuda.so": kit.library("libcuda.so.1", 0, "cuDriverGetVersion", DRIVER, result=34),
                  **chain("lib", "libcudart.so", suffix, facts.cudart, shared)}
    if facts.major < 13:
        tree["lib/libculibos.a"] = EMPTY_ARCHIVE
    return tree


def cccl(kit: Kit, facts: Facts) -> Tree:
    folder = "include/cccl" if facts.major >= 13 else "include"
    return {f"{folder}/nv/target": File(b"\n"), f"{folder}/thrust/version.h": File(b"\n"),
            "lib/cmake/thrust/thrust-config.cmake": File(b"\n")}


def nvrtc(kit: Kit, facts: Facts) -> Tree:
    suffix = "11.2" if facts.major == 11 else str(facts.major)
    image = kit.library(f"libnvrtc.so.{suffix}", facts.api, "nvrtcVersion")
    return {"include/nvrtc.h": File(b"\n"), **chain("lib", "libnvrtc.so", suffix, facts.nvcc, image)}


def major_library(library: str, function: str) -> Callable[[Kit, Facts], Tree]:
    """A library whose soname has the major of CUDA in it."""

    def build(kit: Kit, facts: Facts) -> Tree:
        image = kit.library(f"{library}.{facts.major}", facts.api, function)
        return chain("lib", library, str(facts.major), f"{facts.minor}.4.1", image)

    return build


def cupti(kit: Kit, facts: Facts) -> Tree:
    suffix = facts.minor if facts.major == 11 else str(facts.major)
    image = kit.library(f"libcupti.so.{suffix}", facts.api, "cuptiGetVersion")
    return {"include/cupti.h": File(b"\n"), "samples/callback/Makefile": File(b"all:\n"),
            **chain("lib", "libcupti.so", suffix, f"20{facts.major + 12}.1.0", image)}


def programs(*names: str, version: str = "cudart") -> Callable[[Kit, Facts], Tree]:
    return lambda kit, facts: {
        f"bin/{name}": kit.tool(name, name, facts, getattr(facts, version)) for name in names}


def nvml(kit: Kit, facts: Facts) -> Tree:
    return {"include/nvml.h": File(b"\n"),
            "lib/stubs/libnvidia-ml.so": kit.library("libnvidia-ml.so.1", 0, "nvmlInit_v2", result=9)}


def nsight_systems(kit: Kit, facts: Facts) -> Tree:
    root = f"nsight-systems/{facts.nsight.rpartition('.')[0]}"
    return {f"{root}/README": File(b"sample\n"),
            f"{root}/target-linux/nsys": kit.tool("nsys", "nsys", facts, facts.nsight),
            "bin/nsys": File(f'#!/bin/sh\nexec "${{0%/*}}/../{root}/target-linux/nsys" "$@"\n'.encode(), 0o755)}


def driver_library(folder: str) -> Callable[[Kit, Facts], Tree]:
    def build(kit: Kit, facts: Facts) -> Tree:
        image = kit.library("libcuda.so.1", facts.api, "cuDriverGetVersion", DRIVER)
        return chain(folder, "libcuda.so", "1", facts.driver, image)

    return build


def text_file(name: str) -> Callable[[Kit, Facts], Tree]:
    return lambda kit, facts: {name: File(b"sample\n")}


@dataclass
class Part:
    """A component of the sample releases: `since` and `before` are the first release with and without it.
    Two releases may share a version, and so an archive: what is in it must depend on nothing else."""

    name: str
    title: str
    build: Callable[[Kit, Facts], Tree]
    version: str = "cudart"  # an attribute of Facts, or a version
    since: str = "11.0"
    before: str = "99.0"
    platforms: str = "linux"  # linux, core (with old Arm, POWER and Windows) or one platform
    license: str = "CUDA Toolkit"


PARTS = [
    Part("cuda_nvcc", "CUDA NVCC", nvcc, "nvcc", platforms="core"),
    Part("cuda_crt", "CUDA CRT", crt, "nvcc", "13.0"),
    Part("libnvvm", "CUDA NVVM", nvvm, "nvcc", "13.0"),
    Part("libnvptxcompiler", "CUDA libnvptxcompiler", ptx_compiler, "nvcc", "13.0"),
    Part("cuda_cudart", "CUDA Runtime (cudart)", cudart, platforms="core"),
    Part("cuda_culibos", "CUDA MATH Library (cuda culibos)",
         lambda kit, facts: {"lib/libculibos.a": EMPTY_ARCHIVE}, since="13.0"),
    Part("cuda_cccl", "CXX Core Compute Libraries", cccl, before="13.3", platforms="core"),
    Part("cccl", "CXX Core Compute Libraries", cccl, "13.3.3.3.1", "13.3", platforms="core",
         license="CCCL EULA"),
    Part("cuda_nvrtc", "CUDA NVRTC", nvrtc, "nvcc"),
    Part("libnvjitlink", "NVIDIA compiler library for JIT LTO functionality",
         major_library("libnvJitLink.so", "nvJitLinkVersion"), "nvcc", "12.0"),
    Part("cuda_profiler_api", "CUDA Profiler API", text_file("include/cuda_profiler_api.h"), since="11.8"),
    Part("cuda_cuobjdump", "cuobjdump", programs("cuobjdump")),
    Part("cuda_nvml_dev", "CUDA NVML Headers", nvml),
    Part("cuda_nvtx", "CUDA NVTX", text_file("include/nvtx3/nvToolsExt.h")),
    Part("libcublas", "CUDA cuBLAS", major_library("libcublas.so", "cublasGetVersion_v2")),
    Part("cuda_cupti", "CUPTI", cupti),
    Part("cuda_gdb", "CUDA GDB", programs("cuda-gdb", "cuda-gdbserver")),
    Part("cuda_memcheck", "CUDA Memcheck", programs("cuda-memcheck"), before="12.0"),
    Part("cuda_nvprof", "CUDA nvprof", programs("nvprof"), before="13.0"),
    Part("nsight_systems", "Nsight Systems", nsight_systems, "nsight", license="NVIDIA SLA"),
    Part("cuda_documentation", "CUDA Documentation", text_file("docs/index.html")),
    Part("cuda_novelty", "A component that no table knows", programs("novelty")),
    Part("visual_studio_integration", "CUDA Visual Studio Integration", text_file("readme.txt"),
         platforms="windows-x86_64"),
    Part("driver_assistant", "NVIDIA Driver Assistant", text_file("source/readme"), "0.22.95.05", "12.8", "13.4",
         "linux-all", "MIT"),
    Part("nvidia_driver", "NVIDIA Linux Driver", driver_library("lib"), "driver", before="13.4",
         license="NVIDIA Driver"),
    Part("fabricmanager", "NVIDIA Fabric Manager", programs("nv-fabricmanager", version="driver"), "driver", before="13.4",
         license="NVIDIA Driver"),
    Part("cuda_compat", "CUDA compat L4T", driver_library("compat"), "cudart", "11.8", "13.0", "linux-aarch64"),
    Part("cuda_compat", "CUDA Forward Compatibility", driver_library("compat"), "driver", "13.3", "13.4",
         "linux-x86_64", "NVIDIA Driver"),
    Part("cuda_compat_orin", "CUDA compat Orin", driver_library("compat"), "driver", "13.4", platforms="linux-sbsa"),
]


def platforms(part: Part, facts: Facts) -> List[str]:
    old_arm = (11, 8) <= facts.number[:2] < (13, 0) and facts.number[:2] != OLD_ARM_GAP
    names = {"linux": ["linux-x86_64", "linux-sbsa"], "core": ["linux-x86_64", "linux-sbsa", "windows-x86_64"]}
    chosen = names.get(part.platforms, [part.platforms])
    if part.platforms == "core":
        chosen += ["linux-aarch64"] * old_arm + ["linux-ppc64le"] * (facts.number <= (12, 4, 1))
    return [name for name in chosen if name != "linux-aarch64" or old_arm]


def make(kit: Kit, version: str, registry: Optional[Path]) -> Release:
    facts = Facts(version, registry)
    release = Release(version, facts.date)
    for part in PARTS:
        where = platforms(part, facts)
        if not where or not numbers(part.since) <= facts.number < numbers(part.before):
            continue
        tree = part.build(kit, facts)
        if part.name == "cuda_cudart":
            parts.add_pkg_config(tree, version)
        nested = part.name == "cuda_compat" and facts.major >= 13
        content = {facts.minor: tree} if nested else tree
        release.add(part.name, Component(getattr(facts, part.version, part.version), part.title, part.license,
                                         {name: content for name in where}, [facts.minor] if nested else []))
    return release
