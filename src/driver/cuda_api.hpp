// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is used of the CUDA driver API, declared by its public documentation so that no header of NVIDIA's is needed.
// Source: NVIDIA CUDA Driver API, 13.0 (https://docs.nvidia.com/cuda/cuda-driver-api/): sections Initialization,
// Version Management and Device Management, data types CUresult, CUdevice, CUuuid and CUdevice_attribute. These have
// not changed since CUDA 4.0, cuDeviceGetUuid since its first, 9.2.

namespace cudaenv::driver::cuda {

using Device = int;  // CUdevice
struct Uuid {        // CUuuid
  char bytes[16];
};

inline constexpr int k_success = 0;                    // CUDA_SUCCESS
inline constexpr int k_compute_capability_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
inline constexpr int k_compute_capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR

using DriverGetVersion = int(int* version);
using Init = int(unsigned flags);
using DeviceGetCount = int(int* count);
using DeviceGet = int(Device* device, int ordinal);
using DeviceGetName = int(char* name, int size, Device device);
using DeviceGetAttribute = int(int* value, int attribute, Device device);
// The GPU's. cuDeviceGetUuid_v2 (11.4) gives the MIG instance's where there is one.
using DeviceGetUuid = int(Uuid* uuid, Device device);

}  // namespace cudaenv::driver::cuda
