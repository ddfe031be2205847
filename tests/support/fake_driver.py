# SPDX-License-Identifier: Apache-2.0
"""A machine with a driver and GPUs of the test's choice: libraries to be found by CUDAENV_DRIVER_PATH, and kernel files
below CUDAENV_HOST_ROOT. Nothing of the machine that the test runs on shines through.

    machine = FakeMachine(box.top / "machine", driver="550.54.14", cuda=(12, 4), gpus=[Gpu("NVIDIA L40S", "8.9")])
    box.environment.update(machine.environment)

The libraries are compiled once a run from sample/driver.c and read what they answer from a file beside them.
"""

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("sample") / "driver.c"
LIBRARIES = {"libcuda": "LIBCUDA", "libnvidia-ml": "NVML"}
_built = []


class NoCompiler(Exception):
    """There is no C compiler to make the libraries with: a test is skipped, not failed."""


def build():
    """The directory with both libraries, compiled by the first call."""
    if not _built:
        if not shutil.which("cc"):
            raise NoCompiler("no C compiler (cc) for the fake driver")
        directory = Path(tempfile.mkdtemp(prefix="cudaenv-driver-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        for name, macro in LIBRARIES.items():
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D" + macro, f"-Wl,-soname,{name}.so.1", "-o",
                            directory / name, SOURCE], check=True)
        _built.append(directory)
    return _built[0]


class Gpu:
    """One GPU. `instances`: the UUIDs of its MIG instances, none of them if it is in MIG mode without any."""

    def __init__(self, name, capability, uuid=None, instances=None, pci=None):
        self.name, self.capability, self.uuid, self.instances, self.pci = name, capability, uuid, instances, pci


def uuid(number):
    """GPU-00000001-..."""
    return f"GPU-{number:08x}-0000-4000-8000-0123456789ab"


class FakeMachine:
    """`driver`: the kernel module's version; `libraries`: that of libcuda and NVML, if it is another; `cuda`: what
    libcuda reports. `cuda_order`: CUDA's devices as positions in `gpus`. `without`: functions that the libraries lack. `calls`:
    {"nvmlInit_v2": 18, "cuInit": "hang"}: a status, or "hang", "crash", "exit". A part that is None is not there."""

    def __init__(self, directory, driver=None, cuda=None, gpus=(), libraries=None, nvml=True, cuda_order=(), without=(),
                 calls=None, files=None):
        self.directory = Path(directory)
        self.root = self.directory / "host"
        self.libraries = self.directory / "driver"
        self.log = self.directory / "calls"
        for path in (self.root, self.libraries):
            path.mkdir(parents=True, exist_ok=True)
        self.gpus, self.driver = list(gpus), driver
        if driver:
            self.kernel_module(driver)
        for name, content in (files or {}).items():
            self.file(name, content)
        lines = [f"log {self.log}", f"gpus {len(self.gpus)}"]
        if driver:
            lines.append(f"driver {driver}")
        if cuda:
            lines.append(f"version {cuda[0] * 1000 + cuda[1] * 10}")
        lines += [f"cuda.{place} {position}" for place, position in enumerate(cuda_order)]
        for call, what in (calls or {}).items():
            lines.append(f"{call}.{'status' if isinstance(what, int) else 'end'} {what}")
        for number, gpu in enumerate(self.gpus):
            lines += self._gpu_lines(number, gpu)
            if gpu.pci is not None:
                self.pci_device(number, gpu.pci)
        (self.libraries / "scenario").write_text("".join(line + "\n" for line in lines))
        version = libraries or driver or "1"
        if cuda:
            self.library("libcuda", version, without)
        if driver and nvml:
            self.library("libnvidia-ml", version, without)

    @property
    def environment(self):
        return {"CUDAENV_DRIVER_PATH": str(self.libraries), "CUDAENV_HOST_ROOT": str(self.root)}

    def called(self):
        """The names of the functions that were called, in order."""
        return self.log.read_text().split() if self.log.exists() else []

    def file(self, path, content=""):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def kernel_module(self, version):
        self.file("/proc/driver/nvidia/version",
                  f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Thu Feb 22 01:44:30 UTC 2024\n"
                  "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n")
        self.file("/sys/module/nvidia/version", version + "\n")

    def pci_device(self, number, device, vendor="10de", kind="030000"):
        directory = f"/sys/bus/pci/devices/0000:{number + 1:02x}:00.0/"
        for name, value in (("vendor", vendor), ("device", device), ("class", kind)):
            self.file(directory + name, f"0x{value}\n")

    def library(self, name, version, without=(), directory=None):
        """A file named by its version and the link to it, as drivers are installed. A function that it is to lack has
        its name spoilt in the table of symbols."""
        content = (build() / name).read_bytes()
        for function in without:
            content = content.replace(b"\0%s\0" % function.encode(), b"\0%s\0" % ("x" + function[1:]).encode())
        directory = directory or self.libraries
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / f"{name}.so.{version}"
        file.write_bytes(content)
        file.chmod(0o755)
        link = directory / f"{name}.so.1"
        if link != file:
            os.symlink(file.name, link)
        return file

    def _gpu_lines(self, number, gpu):
        facts = {"name": gpu.name, "capability": gpu.capability, "uuid": gpu.uuid or uuid(number),
                 "mig": None if gpu.instances is None else "1",
                 "instances": ",".join(gpu.instances) if gpu.instances else None}
        return [f"gpu.{number}.{key} {value}" for key, value in facts.items() if value]
