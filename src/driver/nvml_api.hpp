// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is used of NVML, declared by its public documentation so that no header of NVIDIA's is needed.
// Source: NVML API Reference Guide, R580 (https://docs.nvidia.com/deploy/nvml-api/): groups Initialization and Cleanup,
// System Queries, Device Queries and Multi Instance GPU Management, and the constants of the group Device Enums.

namespace cudaenv::driver::nvml {

using Device = struct nvmlDevice_st*;  // nvmlDevice_t: opaque

inline constexpr int k_success = 0;                    // NVML_SUCCESS
inline constexpr unsigned k_driver_version_size = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
inline constexpr unsigned k_name_size = 96;            // NVML_DEVICE_NAME_V2_BUFFER_SIZE
inline constexpr unsigned k_uuid_size = 96;            // NVML_DEVICE_UUID_V2_BUFFER_SIZE
inline constexpr unsigned k_mig_enabled = 1;           // NVML_DEVICE_MIG_ENABLE

using Init = int();  // nvmlInit_v2
using SystemGetDriverVersion = int(char* version, unsigned size);
using DeviceGetCount = int(unsigned* count);                         // nvmlDeviceGetCount_v2
using DeviceGetHandleByIndex = int(unsigned index, Device* device);  // nvmlDeviceGetHandleByIndex_v2
using DeviceGetName = int(Device device, char* name, unsigned size);
using DeviceGetUuid = int(Device device, char* uuid, unsigned size);                           // nvmlDeviceGetUUID
using DeviceGetCudaComputeCapability = int(Device device, int* major, int* minor);             // since R418
using DeviceGetMigMode = int(Device device, unsigned* current, unsigned* pending);             // since R450
using DeviceGetMaxMigDeviceCount = int(Device device, unsigned* count);                        // since R450
using DeviceGetMigDeviceHandleByIndex = int(Device device, unsigned index, Device* instance);  // since R450

}  // namespace cudaenv::driver::nvml
