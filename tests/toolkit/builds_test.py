#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CMake and ccache with two real toolkits: each build takes the compiler, the headers and the libraries of its own."""

import re
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.real_toolkits import RealToolkits

LISTS = """\
cmake_minimum_required(VERSION 3.18)
project(sample LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(sample sample.cu)
target_link_libraries(sample CUDA::cudart)
file(WRITE ${CMAKE_BINARY_DIR}/found.txt "compiler=${CMAKE_CUDA_COMPILER}
version=${CMAKE_CUDA_COMPILER_VERSION}
include=${CUDAToolkit_INCLUDE_DIRS}
library=${CUDA_cudart_LIBRARY}
bin=${CUDAToolkit_BIN_DIR}
implicit=${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES}
")
"""
SOURCE = """\
#include <cstdio>
#include <cuda_runtime.h>
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
const char* compiler = "made by nvcc " NUMBER(__CUDACC_VER_MAJOR__) "." NUMBER(__CUDACC_VER_MINOR__);
__global__ void kernel() {}
int main() { std::puts(compiler); }
"""


class Builds(RealToolkits):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for project in cls.projects:
            cls.box.write(project / "CMakeLists.txt", LISTS)
            cls.box.write(project / "sample.cu", SOURCE)
        # Another CUDA of the system's, which must not be taken: /usr/local/cuda in effect.
        cls.decoy = cls.box.top / "decoy"
        cls.box.tool(cls.decoy / "bin", "nvcc", "echo decoy >&2; exit 1")
        cls.box.write(cls.decoy / "include" / "cuda_runtime.h", "#error decoy\n")
        cls.box.write(cls.decoy / "lib64" / "libcudart.so", "")

    def configure(self, run, project, build, **environment):
        """What CMake found, with all links resolved."""
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        run(project, "cmake", "-G", "Ninja", "-S", ".", "-B", build, "-DCMAKE_CUDA_ARCHITECTURES=80", "-Wno-dev", **environment)
        lines = (project / build / "found.txt").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def assert_inside(self, found, directory):
        for name in ("include", "library", "bin"):
            self.assertTrue(Path(found[name].split(";")[0]).resolve().is_relative_to(directory.resolve()), f"{name}: {found[name]}")
        for place in found["implicit"].split(";"):
            if str(self.box.top) in place:
                self.assertTrue(Path(place).resolve().is_relative_to(directory.resolve()), place)

    def built(self, project, build, run, **environment):
        run(project, "cmake", "--build", build, **environment)
        return self.succeed(project, f"{build}/sample")

    def test_SHIM_05_cmake_through_the_shims_alone(self):
        project, release, directory = self.projects[0], self.releases[0], self.directory(self.releases[0])
        environment = {"PATH": f"{self.box.shims}:{self.decoy}/bin:/usr/bin:/bin"}
        found = self.configure(self.succeed, project, "shims", **environment)
        self.assert_inside(found, directory)
        self.assertEqual(self.built(project, "shims", self.succeed, **environment), f"made by nvcc {release.rpartition('.')[0]}\n")

    def test_BLD_02_BLD_11_cmake_through_exec_takes_the_real_compiler(self):
        environment = {"PATH": f"{self.decoy}/bin:{self.box.shims}:/usr/bin:/bin", "CUDA_PATH": str(self.decoy),
                       "CUDA_HOME": str(self.decoy), "CUDAToolkit_ROOT": str(self.decoy)}
        for project, release, directory in self.each():
            found = self.configure(self.exec, project, "exec", **environment)
            self.assertEqual(found["compiler"], f"{directory}/bin/nvcc")
            self.assert_inside(found, directory)
            cache = (project / "exec" / "CMakeCache.txt").read_text()
            self.assertIn(f"CMAKE_CUDA_COMPILER:FILEPATH={directory}/bin/nvcc\n", cache)
            self.assertNotIn(str(self.decoy), re.sub(r".*PATH.*", "", cache))
        # Built without us: the compiler that was stored is enough.
        project, release = self.projects[1], self.releases[1]
        self.assertEqual(self.built(project, "exec", self.succeed, PATH="/usr/bin:/bin"), f"made by nvcc {release.rpartition('.')[0]}\n")

    def test_BLD_10_ccache_sees_that_the_compiler_changed(self):
        if not shutil.which("ccache"):
            self.skipTest("no ccache")
        source = self.box.write("home/ccache/sample.cu", SOURCE)
        environment = {"CCACHE_DIR": str(self.box.top / "ccache"), "CCACHE_CONFIGPATH": "/dev/null"}
        objects = []
        for time in ("first", "again"):
            for project, release, _ in self.each():
                output = source.with_name(f"{release}-{time}.o")
                self.exec(project, "ccache", "nvcc", "-c", source, "-o", output, **environment)
                objects.append(output.read_bytes())
                self.assertIn(f"made by nvcc {release.rpartition('.')[0]}".encode(), objects[-1])
        self.assertEqual(objects[:2], objects[2:])
        counts = dict(line.split("\t") for line in self.succeed(self.projects[0], "ccache", "--print-stats", **environment).splitlines())
        self.assertEqual((counts["cache_miss"], int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])), ("2", 2))


if __name__ == "__main__":
    unittest.main()
