/* SPDX-License-Identifier: Apache-2.0
 * Header of a sample toolkit: what a C program needs to ask the sample libcudart for its version. */
#ifndef SAMPLE_CUDA_RUNTIME_H
#define SAMPLE_CUDA_RUNTIME_H

#include "crt/host_config.h"

#define CUDART_VERSION @CUDART_VERSION@

#ifdef __cplusplus
extern "C" {
#endif
int cudaRuntimeGetVersion(int *runtimeVersion);
int cudaDriverGetVersion(int *driverVersion);
int cudaGetDeviceCount(int *count);
#ifdef __cplusplus
}
#endif

#endif
