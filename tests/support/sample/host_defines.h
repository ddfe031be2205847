/* SPDX-License-Identifier: Apache-2.0
 * Header of a sample toolkit. */
#ifndef SAMPLE_HOST_DEFINES_H
#define SAMPLE_HOST_DEFINES_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))

#endif
