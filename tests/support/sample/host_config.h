/* SPDX-License-Identifier: Apache-2.0
 * Header of a sample toolkit: the host compilers it accepts, tested in the form that the real one has. */
#ifndef SAMPLE_HOST_CONFIG_H
#define SAMPLE_HOST_CONFIG_H

#include "host_defines.h"

#ifdef __CUDACC__

#if !defined(__NV_NO_HOST_COMPILER_CHECK)

#if defined(__clang__)
#if (__clang_major__ >= @CLANG_LIMIT@) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- sample toolkit: this clang is not accepted
#endif
#elif defined(__GNUC__)
#if __GNUC__ > @GCC_MAX@
#error -- sample toolkit: this GNU version is not accepted
#endif /* __GNUC__ > @GCC_MAX@ */
#endif

#endif

#endif

#endif
