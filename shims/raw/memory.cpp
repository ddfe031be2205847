// SPDX-License-Identifier: Apache-2.0
//
// The functions of libc that compilers and the headers of C++ call by themselves, also where there is no libc. They go
// byte by byte, as they are called for a path at most. The empty `asm` keeps a compiler from seeing what the loop does,
// and from making it a call of the very function that it is in.

#include <cstddef>

#define CUDAENV_OPAQUE(variable) asm volatile("" : "+r"(variable))

extern "C" {

[[gnu::visibility("hidden")]] void* memcpy(void* to, const void* from, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    CUDAENV_OPAQUE(i);
    static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  }
  return to;
}

[[gnu::visibility("hidden")]] void* memmove(void* to, const void* from, std::size_t size) {
  if (to <= from) return memcpy(to, from, size);
  for (std::size_t i = size; i > 0; --i) {
    CUDAENV_OPAQUE(i);
    static_cast<char*>(to)[i - 1] = static_cast<const char*>(from)[i - 1];
  }
  return to;
}

[[gnu::visibility("hidden")]] void* memset(void* to, int byte, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    CUDAENV_OPAQUE(i);
    static_cast<char*>(to)[i] = static_cast<char>(byte);
  }
  return to;
}

[[gnu::visibility("hidden")]] int memcmp(const void* a, const void* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    CUDAENV_OPAQUE(i);
    const int difference = static_cast<const unsigned char*>(a)[i] - static_cast<const unsigned char*>(b)[i];
    if (difference != 0) return difference;
  }
  return 0;
}

[[gnu::visibility("hidden")]] void* memchr(const void* in, int byte, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    CUDAENV_OPAQUE(i);
    const char* const at = static_cast<const char*>(in) + i;
    if (*at == static_cast<char>(byte)) return const_cast<char*>(at);
  }
  return nullptr;
}

[[gnu::visibility("hidden")]] std::size_t strlen(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') {
    ++size;
    CUDAENV_OPAQUE(size);
  }
  return size;
}

}  // extern "C"
