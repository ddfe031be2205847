// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every environment variable that cudaenv reads or writes, with its meaning.

namespace cudaenv::env_names {

// Read.
inline constexpr const char* k_root = "CUDAENV_ROOT";  // own root; default ~/.cudaenv
inline constexpr const char* k_shared_root =
    "CUDAENV_SHARED_ROOT";  // second, read-only root; default /opt/cudaenv if it exists
inline constexpr const char* k_version = "CUDAENV_VERSION";      // the selection, before any file
inline constexpr const char* k_host_root = "CUDAENV_HOST_ROOT";  // prefix for /proc, /sys, /etc, /dev and /lib files
inline constexpr const char* k_accept_manifest = "CUDAENV_ACCEPT_MANIFEST";  // digest of a manifest to accept, or "any"
inline constexpr const char* k_gate = "CUDAENV_GATE";                        // gate.mode for one shell
inline constexpr const char* k_override_driver = "CUDAENV_OVERRIDE_DRIVER";  // a driver to take for granted, or "none"
inline constexpr const char* k_override_gpus = "CUDAENV_OVERRIDE_GPUS";      // GPUs to take for granted, or "none"
inline constexpr const char* k_driver_path = "CUDAENV_DRIVER_PATH";       // where libcuda and NVML are looked for first
inline constexpr const char* k_visible_devices = "CUDA_VISIBLE_DEVICES";  // NVIDIA's: the GPUs that programs may use
inline constexpr const char* k_library_path = "LD_LIBRARY_PATH";          // the loader's
inline constexpr const char* k_device_order = "CUDA_DEVICE_ORDER";        // NVIDIA's: how they are counted

// All that has a part in what the gate says.
inline constexpr const char* k_of_the_gate[] = {
    k_gate,        "CUDAENV_GATE_MODE", "CUDAENV_GATE_LIMITED", k_override_driver, k_override_gpus,
    k_driver_path, k_host_root,         k_visible_devices,      k_device_order,    k_library_path};

// Written for a tool.
inline constexpr const char* k_active = "CUDAENV_ACTIVE";     // name of the toolkit in force
inline constexpr const char* k_outside = "CUDAENV_OUTSIDE";   // what its selection replaced, to be put back on leaving
inline constexpr const char* k_depth = "CUDAENV_SHIM_DEPTH";  // how many shims led here; stops a loop at 20

// Other programs' variables that the environment plan sets.
inline constexpr const char* k_cuda_home = "CUDA_HOME";
inline constexpr const char* k_cuda_path = "CUDA_PATH";
inline constexpr const char* k_cmake_root = "CUDAToolkit_ROOT";
inline constexpr const char* k_cmake_compiler = "CUDACXX";
inline constexpr const char* k_plan_values[] = {k_cuda_home, k_cuda_path, k_cmake_root, k_cmake_compiler};
inline constexpr const char* k_plan_lists[] = {"PATH", k_library_path, "CPATH", "LIBRARY_PATH"};

}  // namespace cudaenv::env_names
