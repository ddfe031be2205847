# SPDX-License-Identifier: Apache-2.0
# Flags that every target of ours is built with. There are no feature switches: every build of a version behaves alike.

option(CUDAENV_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(CUDAENV_FUZZ "Instrument for libFuzzer and build the fuzz targets (clang, with CUDAENV_SANITIZE)" OFF)

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

if(CUDAENV_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # As Clang does by itself: a dynamic runtime refuses to start under LD_PRELOAD, which some tests use.
    add_link_options(-static-libasan -static-libubsan)
  endif()
endif()

if(CUDAENV_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# A dynamic libstdc++ costs a program more at its start than all that `cudaenv version` does.
function(cudaenv_link_quick_start target)
  if(NOT CUDAENV_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
