# SPDX-License-Identifier: Apache-2.0
"""Sample products beside the toolkit, each in a form that NVIDIA's manifests have: nested by CUDA, flat, and flat with a
directory of libraries for each CUDA. `write(mirror)` puts them where a mirror has them: <mirror>/<product>/redist."""

from pathlib import Path

from redist import Component, File, Link, Release
from toolkit import host_platform

PLATFORM = host_platform()


def library(name, major, version, cuda, folder="lib"):
    """libX.so -> libX.so.N -> libX.so.N.M.P and its header; what is in them tells the version and the CUDA."""
    full = f"{name}.so.{version}"
    return {
        f"{folder}/{full}": File(f"{name} {version} for CUDA {cuda}\n".encode(), 0o755),
        f"{folder}/{name}.so.{major}": Link(full),
        f"{folder}/{name}.so": Link(f"{name}.so.{major}"),
        f"{folder}/{name}_static.a": File(f"{name} {version} for CUDA {cuda}, static\n".encode()),
    }


def header(name, version):
    return {f"include/{name}.h": File(f"/* {name} {version} */\n".encode())}


def nested(name, version, cudas, tree):
    """A component with an archive for each CUDA; `tree` makes that for one."""
    return Component(version, license="NVIDIA", variants=list(cudas),
                     platforms={PLATFORM: {cuda: tree(cuda) for cuda in cudas}})


def flat(version, tree, platform=PLATFORM):
    return Component(version, license="NVIDIA", platforms={platform: tree})


def cudnn(version, own, cudas):
    release = Release(version, product="cudnn")
    numbers = own.rsplit(".", 1)[0]

    def tree(cuda):
        return {**header("cudnn", own), **library("libcudnn", own.split(".")[0], numbers, cuda),
                "version.txt": File(b"of cudnn\n")}

    release.add("cudnn", nested("cudnn", own, cudas, tree))
    if version == "9.14.0":
        release.add("cudnn_jit", nested("cudnn_jit", own, cudas, lambda cuda: {
            **header("cudnn", own), **library("libcudnn", 9, numbers, f"{cuda}, without engines")}))
        release.add("cudnn_samples", flat(own, {"src/cudnn_samples_v9/Makefile": File(b"all:\n")}, "source"))
    return release


def cusparselt(version, own, cudas):
    release = Release(version, product="cusparselt")
    name = "libcusparse_lt"

    def tree(cuda):
        return {**header("cusparseLt", own), **library("libcusparseLt", 0, own, cuda),
                "lib/cmake/cusparseLt/config.cmake": File(b"# cusparseLt\n")}

    release.add(name, nested(name, own, cudas, tree) if cudas else flat(own, tree("12")))
    return release


def cutensor(version, own, cudas):
    release = Release(version, product="cutensor")
    name = "libcutensor"
    if cudas:
        release.add(name, nested(name, own, cudas, lambda cuda: {
            **header("cutensor", own), **library(name, 2, own, cuda)}))
        return release
    tree = header("cutensor", own)
    for cuda in ("11", "11.0", "12"):
        tree.update(library(name, 2, own, cuda, f"lib/{cuda}"))
    release.add(name, flat(own, tree))
    return release


def write(mirror: Path) -> None:
    for release in (cudnn("8.9.7", "8.9.7.29", ["11", "12"]), cudnn("9.11.0", "9.11.0.98", ["12"]),
                    cudnn("9.13.0", "9.13.0.50", ["12", "13"]), cudnn("9.14.0", "9.14.0.64", ["12", "13"]),
                    cusparselt("0.7.1", "0.7.1.0", []), cusparselt("0.8.1", "0.8.1.1", ["12", "13"]),
                    cutensor("2.0.2.1", "2.0.2.5", []), cutensor("2.3.1", "2.3.1.0", ["12", "13"])):
        release.write(folder(mirror, release.product))


def folder(mirror: Path, product: str) -> Path:
    return Path(mirror) / product / "redist"
