# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's components: which files each holds, which Python wheel carries it, and the finish (links to
libraries, modes, pkg-config files) that makes a tree from elsewhere look like NVIDIA's archive."""

import fnmatch
import re
from dataclasses import dataclass
from typing import Dict, List, Optional

from redist import Component, File, Link, Release, Tree, numbers


@dataclass
class Info:
    title: str
    wheel: str  # without the -cu11 or -cu12 of older releases
    files: str  # patterns, in the archive's layout; the first component that fits takes a file


# The order matters: broad patterns such as include/cuda*.h come last.
COMPONENTS: Dict[str, Info] = {
    "cuda_cccl": Info("CXX Core Compute Libraries", "nvidia-cuda-cccl",
        "include/cccl/* include/thrust/* include/cub/* include/cuda/* include/nv/* "
        "lib/cmake/cccl/* lib/cmake/cub/* lib/cmake/thrust/* lib/cmake/libcudacxx/*"),
    "cuda_crt": Info("CUDA CRT", "nvidia-cuda-crt", "include/crt/*"),
    "libnvvm": Info("CUDA NVVM", "nvidia-nvvm", "nvvm/*"),
    "libnvptxcompiler": Info("CUDA libnvptxcompiler", "nvidia-nvptxcompiler",
        "include/nvPTXCompiler.h lib/libnvptxcompiler_static.a"),
    "cuda_nvcc": Info("CUDA NVCC", "nvidia-cuda-nvcc",
        "bin/nvcc bin/nvcc.profile bin/ptxas bin/fatbinary bin/nvlink bin/cudafe++ bin/bin2c "
        "bin/__nvcc_device_query bin/crt/* include/fatbinary_section.h"),
    "cuda_culibos": Info("CUDA MATH Library (cuda culibos)", "nvidia-cuda-culibos", "lib/libculibos.a"),
    "cuda_profiler_api": Info("CUDA Profiler API", "nvidia-cuda-profiler-api",
        "include/cudaProfiler.h include/cuda_profiler_api.h"),
    "cuda_nvtx": Info("CUDA NVTX", "nvidia-nvtx", "include/nvtx3/* lib/libnvtx3interop.so* lib/libnvToolsExt.so*"),
    "cuda_cupti": Info("CUPTI", "nvidia-cuda-cupti",
        "include/cupti* include/Openacc/* include/Openmp/* include/generated_*_meta.h include/cuda_stdint.h "
        "include/nvperf* lib/libcupti* lib/libcheckpoint.so* lib/libnvperf* lib/libpcsamplingutil.so*"),
    "cuda_nvrtc": Info("CUDA NVRTC", "nvidia-cuda-nvrtc", "include/nvrtc.h lib/libnvrtc* lib/stubs/libnvrtc*"),
    "libnvjitlink": Info("NVIDIA compiler library for JIT LTO functionality", "nvidia-nvjitlink",
        "include/nvJitLink.h lib/libnvJitLink* lib/stubs/libnvJitLink*"),
    "libnvfatbin": Info("NVIDIA compiler library for fatbin interaction", "nvidia-nvfatbin",
        "include/nvFatbin.h lib/libnvfatbin* lib/stubs/libnvfatbin*"),
    "cuda_cuobjdump": Info("cuobjdump", "nvidia-cuda-cuobjdump", "bin/cuobjdump"),
    "cuda_nvdisasm": Info("CUDA nvdisasm", "nvidia-cuda-nvdisasm", "bin/nvdisasm"),
    "cuda_nvprune": Info("CUDA nvprune", "nvidia-cuda-nvprune", "bin/nvprune"),
    "cuda_tileiras": Info("CUDA TileIR Assembler", "nvidia-cuda-tileiras", "bin/tileiras"),
    "cuda_cuxxfilt": Info("CUDA cuxxfilt (demangler)", "nvidia-cuda-cuxxfilt",
        "bin/cu++filt include/nv_decode.h lib/libcufilt.a"),
    "cuda_gdb": Info("CUDA GDB", "nvidia-cuda-gdb", "bin/cuda-gdb*"),
    "cuda_sanitizer_api": Info("CUDA Compute Sanitizer API", "nvidia-cuda-sanitizer-api",
        "compute-sanitizer/* bin/compute-sanitizer"),
    "cuda_nvml_dev": Info("CUDA NVML Headers", "nvidia-nvml-dev", "include/nvml.h lib/stubs/libnvidia-ml*"),
    "cuda_opencl": Info("CUDA OpenCL", "nvidia-cuda-opencl", "include/CL/* lib/libOpenCL.so*"),
    "libcublas": Info("CUDA cuBLAS", "nvidia-cublas",
        "include/cublas* include/nvblas.h lib/libcublas* lib/libnvblas* lib/stubs/libcublas* lib/stubs/libnvblas*"),
    "libcufft": Info("CUDA cuFFT", "nvidia-cufft",
        "include/cufft* include/cudalibxt.h lib/libcufft* lib/stubs/libcufft*"),
    "libcurand": Info("CUDA cuRAND", "nvidia-curand", "include/curand* lib/libcurand* lib/stubs/libcurand*"),
    "libcusolver": Info("CUDA cuSOLVER", "nvidia-cusolver",
        "include/cusolver* lib/libcusolver* lib/stubs/libcusolver*"),
    "libcusparse": Info("CUDA cuSPARSE", "nvidia-cusparse",
        "include/cusparse* lib/libcusparse* lib/stubs/libcusparse*"),
    "libnpp": Info("CUDA NPP", "nvidia-npp", "include/npp* lib/libnpp* lib/stubs/libnpp*"),
    "libnvjpeg": Info("CUDA nvJPEG", "nvidia-nvjpeg", "include/nvjpeg.h lib/libnvjpeg* lib/stubs/libnvjpeg*"),
    "libcufile": Info("CUDA cuFile", "nvidia-cufile", "include/cufile.h lib/libcufile* lib/stubs/libcufile*"),
    "cuda_cudart": Info("CUDA Runtime (cudart)", "nvidia-cuda-runtime",
        "include/builtin_types.h include/channel_descriptor.h include/common_functions.h "
        "include/cooperative_groups* include/cuComplex.h include/cuda*.h include/cuda*.hpp include/device_* "
        "include/driver_* include/host_config.h include/host_defines.h include/library_types.h "
        "include/math_* include/mma.h include/sm_* include/surface_* include/texture_* include/vector_* "
        "lib/libcudart* lib/libcudadevrt.a lib/stubs/libcuda.so*"),
}

# What compiling and linking a .cu file takes, with thrust; and that with the rest of the compiler.
MINIMAL = ["cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_culibos", "cuda_cccl"]
COMPILE = MINIMAL + ["libnvptxcompiler", "cuda_profiler_api", "cuda_nvtx"]
SETS = {"minimal": MINIMAL, "compile": COMPILE, "all": list(COMPONENTS)}

BEFORE_13 = {"cuda_crt": "cuda_nvcc", "libnvvm": "cuda_nvcc", "libnvptxcompiler": "cuda_nvcc",
             "cuda_culibos": "cuda_cudart"}

PKG_CONFIG = """cudaroot=/usr/local/cuda-{minor}
libdir=${{cudaroot}}/lib64
includedir=${{cudaroot}}/include

Name: {name}
Description: {name} of CUDA {minor}
Version: {minor}
Libs: -L${{libdir}}{stubs} -l{library}
Cflags: -I${{includedir}}
"""


def selected(choice: str) -> List[str]:
    """Names of components and of sets (minimal, compile, all), with commas."""
    names = [name for word in choice.split(",") for name in SETS.get(word, [word])]
    unknown = [name for name in names if name not in COMPONENTS]
    if unknown:
        raise ValueError(f"no such component: {unknown[0]}")
    return list(dict.fromkeys(names))


def of_file(name: str) -> Optional[str]:
    """The component that holds a file of a merged toolkit."""
    for component, info in COMPONENTS.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in info.files.split()):
            return component
    return None


def name_in(release: str, component: str) -> str:
    """The component that held these files in that release: 13.0 split some off, 13.3 renamed one."""
    if numbers(release) < (13,):
        return BEFORE_13.get(component, component)
    if component == "cuda_cccl" and numbers(release) >= (13, 3):
        return "cccl"
    return component


def archive_name(name: str) -> str:
    """Where NVIDIA's archives hold a file that wheels and merged toolkits have in the shared directories."""
    if name == "include/nvvm.h":
        return "nvvm/include/nvvm.h"
    if name.startswith("lib/libnvvm.so"):
        return "nvvm/lib64/" + name[len("lib/"):]
    return name


def is_program(entry: File) -> bool:
    if isinstance(entry.data, bytes):
        return entry.data[:4] == b"\x7fELF" or entry.data[:2] == b"#!"
    with open(entry.data, "rb") as start:
        magic = start.read(4)
    return magic == b"\x7fELF" or magic[:2] == b"#!"


def add_library_links(tree: Tree, version: str) -> None:
    """libX.so -> libX.so.N -> libX.so.<version>, from a tree that has only libX.so.N."""
    for name in sorted(tree):
        match = re.fullmatch(r"(.*/)?(lib[^/]+?\.so)\.([\d.]+)", name)
        if not match or not isinstance(tree[name], File):
            continue
        folder, library, suffix = match[1] or "", match[2], match[3]
        tree.setdefault(folder + library, Link(f"{library}.{suffix}"))
        if version.startswith(suffix + "."):
            tree[f"{folder}{library}.{version}"] = tree[name]
            tree[name] = Link(f"{library}.{version}")


def add_pkg_config(tree: Tree, release: str) -> None:
    """A .pc file for each library that can be linked, with the paths of a system-wide install."""
    minor = ".".join(release.split(".")[:2])
    for name in sorted(tree):
        match = re.fullmatch(r"lib/(stubs/libcuda|lib[A-Za-z]+)\.so", name)
        if match:
            stubs = "/stubs" if match[1].startswith("stubs/") else ""
            library = match[1].split("lib")[-1]
            text = PKG_CONFIG.format(minor=minor, name=library.lower(), library=library, stubs=stubs)
            tree[f"pkg-config/{library.lower()}-{minor}.pc"] = File(text.encode())


def finish(tree: Tree, version: str, release: str) -> Tree:
    """The tree as NVIDIA would pack it: places, links, modes, pkg-config files."""
    tree = {archive_name(name): entry for name, entry in tree.items()}
    if any(name.startswith("include/cccl/nv/") for name in tree):
        tree = {name: entry for name, entry in tree.items() if not name.startswith("include/nv/")}
    for name, entry in tree.items():
        if isinstance(entry, File):
            folder = name.rpartition("/")[0]
            runs = folder in ("bin", "nvvm/bin", "compute-sanitizer") and is_program(entry)
            entry.mode = 0o755 if runs or ".so" in name.rpartition("/")[2] else 0o644
    add_library_links(tree, version)
    add_pkg_config(tree, release)
    return tree


def add(release: Release, component: str, version: str, platform: str, tree: Tree) -> None:
    """Adds the files of a component under the name that the release has for it."""
    name = name_in(release.version, component)
    finished = finish(tree, version, release.version)
    if name in release.components:
        release.components[name].platforms[platform].update(finished)
    else:
        release.add(name, Component(version, COMPONENTS[component].title, platforms={platform: finished}))
