#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiling with NVIDIA's own nvcc, two releases side by side, found through the shims alone."""

import re
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.real_toolkits import RealToolkits, runtime_number

KERNEL = """\
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void scale(__half* values) { values[threadIdx.x] = __hmul(values[threadIdx.x], __float2half(2)); }
int main() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("%d %d %d.%d\\n", version, CUDART_VERSION, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
}
"""
THRUST = """\
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/version.h>
void fill(thrust::device_vector<int>& numbers) { thrust::fill(numbers.begin(), numbers.end(), 7); }
int main() { std::printf("%d\\n", THRUST_VERSION >= 200000); }
"""
HOST = """\
#include <cstdio>
#include <cuda_runtime_api.h>
int main() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("%d %d\\n", version, CUDART_VERSION);
}
"""


class Compile(RealToolkits):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for project in cls.projects:
            for name, text in (("kernel.cu", KERNEL), ("thrust.cu", THRUST), ("host.cpp", HOST)):
                cls.box.write(project / name, text)

    def printed(self, release):
        number = runtime_number(release)
        return f"{number} {number} {release.rpartition('.')[0]}\n"

    def test_SYS_07_each_project_compiles_with_its_own(self):
        for project, release, directory in self.each():
            self.succeed(project, "nvcc", "kernel.cu", "-o", "kernel")
            self.assertEqual(self.succeed(project, "./kernel"), self.printed(release))

    def test_thrust_is_found_and_compiles(self):
        for project, _, _ in self.each():
            self.succeed(project, "nvcc", "thrust.cu", "-o", "thrust")
            self.assertEqual(self.succeed(project, "./thrust"), "1\n")

    def test_shared_runtime_comes_from_the_same_toolkit(self):
        for project, release, directory in self.each():
            self.succeed(project, "nvcc", "-cudart", "shared", "kernel.cu", "-o", "shared")
            environment = {"LD_LIBRARY_PATH": str(directory / "lib")}
            self.assertEqual(self.succeed(project, "./shared", **environment), self.printed(release))
            loaded = re.search(r"libcudart\.so\.\d+ => (\S+)", self.succeed(project, "ldd", "shared", **environment))
            self.assertEqual(Path(loaded[1]).resolve().parent, (directory / "lib").resolve())

    def test_SHIM_05_nvcc_knows_its_place(self):
        for project, _, directory in self.each():
            shown = self.run_in(project, "nvcc", "--dryrun", "kernel.cu").stderr
            (top,) = re.findall(r"^#\$ TOP=(.*)$", shown, re.M)
            self.assertEqual(Path(top).resolve(), directory.resolve())

    def test_host_compiler_with_cuda_home(self):
        for project, release, directory in self.each():
            self.exec(project, "sh", "-c", "g++ -I$CUDA_HOME/include host.cpp -L$CUDA_HOME/lib64 -lcudart -Wl,-rpath,$CUDA_HOME/lib64 -o host")
            self.assertEqual(self.succeed(project, "./host"), "{0} {0}\n".format(runtime_number(release)))

    def test_host_compiler_with_compiler_paths(self):
        for project, release, directory in self.each():
            self.exec(project, "g++", "host.cpp", "-Wl,--as-needed", "-lcudart", "-lcuda", "-o", "host-paths",
                      CUDAENV_ENV_COMPILER_PATHS="true")
            self.assertEqual(self.succeed(project, "./host-paths", LD_LIBRARY_PATH=f"{directory}/lib"),
                             "{0} {0}\n".format(runtime_number(release)))

    def test_ENV_07_compiler_paths_leave_the_standard_library_alone(self):
        source = self.box.write("home/plain.cpp", "#include <vector>\n#include <cmath>\n#include <stdlib.h>\nint main() {}\n")
        for project, _, _ in self.each():
            self.exec(project, "g++", source, "-o", "plain", CUDAENV_ENV_COMPILER_PATHS="true")

    def test_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config")
        for project, release, directory in self.each():
            module = f"cudart-{release.rpartition('.')[0]}"
            flags = self.succeed(project, "pkg-config", "--cflags", "--libs", module, PKG_CONFIG_PATH=str(directory / "lib" / "pkgconfig"))
            self.assertNotIn("/usr/local", flags)
            self.succeed(project, "sh", "-c", f"g++ host.cpp {flags.strip()} -o host-pkg")
            self.assertEqual(self.succeed(project, "./host-pkg", LD_LIBRARY_PATH=f"{directory}/lib"),
                             "{0} {0}\n".format(runtime_number(release)))

    def test_moved_root_still_compiles(self):
        elsewhere = self.box.home / "else where"
        self.box.root.rename(elsewhere)
        try:
            project, release = self.projects[1], self.releases[1]
            self.succeed(project, "nvcc", "kernel.cu", "-o", "moved", PATH=f"{elsewhere}/shims:/usr/bin:/bin")
            self.assertEqual(self.succeed(project, "./moved"), self.printed(release))
        finally:
            elsewhere.rename(self.box.root)


if __name__ == "__main__":
    unittest.main()
