// SPDX-License-Identifier: Apache-2.0
#pragma once

// The libraries of a toolkit: those that get library shims, and those that do not, with the reason. Others are nobody's
// business: the directory of an adopted toolkit may hold libraries of all the system. Freestanding.

#include <string_view>

#include "core/library_problem.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_cudart = "libcudart";

inline constexpr std::string_view k_shimmed_libraries[] = {
    k_cudart,        "libcublas",   "libcublasLt", "libcufft",  "libcufftw",       "libcurand",  "libcusolver",
    "libcusolverMg", "libcusparse", "libnppc",     "libnppial", "libnppicc",       "libnppidei", "libnppif",
    "libnppig",      "libnppim",    "libnppist",   "libnppisu", "libnppitc",       "libnpps",    "libnvJitLink",
    "libnvToolsExt", "libnvfatbin", "libnvjpeg",   "libnvrtc",  "libnvtx3interop",
};

struct LeftOut {
  std::string_view start;  // of the file's name
  std::string_view reason;
};
inline constexpr LeftOut k_left_out[] = {
    {"libOpenCL.so", "it is the system's, and programs that have nothing to do with CUDA need it"},
    {"libaccinj64.so", "profilers put it into programs by its path"},
    {"libcudnn", "it is a release of its own, and some of its parts offer more than functions"},
    {"libcufile", "it offers more than functions"},
    {"libcuinj64.so", "profilers put it into programs by its path"},
    {"libcupti.so", "it opens libnvperf_host.so by its name, which would take 40 ms to load whenever a program starts"},
    {"libnccl.so", "it is a release of its own"},
    {"libnvblas.so", "it is preloaded, and to refuse it would end every program of the shell"},
    {"libnvrtc-builtins", "NVRTC opens it, and would take that of another release"},
    {"libnvrtc.alt.so", "it is another build of NVRTC, which would need builtins of its own"},
    {"libnvvm.so", "NVIDIA's archives have it where no program looks for libraries"},
};

// What a library opens by a name that the loader does not find by itself.
struct OpenedByName {
  std::string_view stem;
  std::string_view opened;  // the stem of a library's name
};
inline constexpr OpenedByName k_opened_by_name[] = {
    {"libnvrtc", "libnvrtc-builtins"},
};

// Whether a file is, by its name, a library that gets a shim: libcublas.so.13, also libcublas.so.13.0.2.14.
constexpr bool is_shimmed_library(std::string_view file) {
  if (!file.starts_with("libcu") && !file.starts_with("libn")) return false;
  for (const std::string_view stem : k_shimmed_libraries)
    if (is_versioned_library(file, stem)) return true;
  return false;
}

// Why a library of a toolkit gets no shim; empty if it does, or is none.
constexpr std::string_view left_out_reason(std::string_view file) {
  for (const LeftOut& each : k_left_out)
    if (file.starts_with(each.start)) return each.reason;
  return {};
}

}  // namespace cudaenv::core
