// SPDX-License-Identifier: Apache-2.0
#pragma once

// System calls without libc, for code that runs where there is none: a program with its own `_start`, or a library in
// the middle of being relocated. Header only; needs no function, no data and no errno. Of the C library only types and
// constants are included.

#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

namespace cudaenv::raw {

#if defined(__x86_64__)

inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(first)
               : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
  return first;
}

#else
#error "no system calls known for this machine"
#endif

// The calls that store/path_walk.hpp lists, and the few more that a shim needs. What fails answers with a negative
// errno. `struct stat` of glibc is the kernel's on both machines.
struct SystemCalls {
  static int open_at(int directory, const char* path, int flags) {
    return static_cast<int>(system_call(SYS_openat, directory, address(path), flags));
  }
  static long read(int fd, char* buffer, std::size_t capacity) {
    return system_call(SYS_read, fd, address(buffer), static_cast<long>(capacity));
  }
  static long read_at(int fd, void* buffer, std::size_t capacity, std::uint64_t offset) {
    return system_call(SYS_pread64, fd, address(buffer), static_cast<long>(capacity), static_cast<long>(offset));
  }
  static long write(int fd, const char* data, std::size_t size) {
    return system_call(SYS_write, fd, address(data), static_cast<long>(size));
  }
  static void close(int fd) { system_call(SYS_close, fd); }

  static int status(const char* path, struct stat& info) { return status_at(path, info, 0); }
  static int link_status(const char* path, struct stat& info) { return status_at(path, info, AT_SYMLINK_NOFOLLOW); }
  static int status_of(int fd, struct stat& info) {
    return static_cast<int>(system_call(SYS_fstat, fd, address(&info)));
  }
  static long link_text(const char* path, char* buffer, std::size_t capacity) {
    return system_call(SYS_readlinkat, AT_FDCWD, address(path), address(buffer), static_cast<long>(capacity));
  }
  static long entries(int fd, char* buffer, std::size_t capacity) {
    return system_call(SYS_getdents64, fd, address(buffer), static_cast<long>(capacity));
  }
  static long working_directory(char* buffer, std::size_t capacity) {
    return system_call(SYS_getcwd, address(buffer), static_cast<long>(capacity));
  }

  static std::uint64_t mount_of(const char* path) {
#ifdef STATX_MNT_ID
    struct statx info = {};
    if (system_call(__NR_statx, AT_FDCWD, address(path), 0, STATX_MNT_ID, address(&info)) == 0)
      return (info.stx_mask & STATX_MNT_ID) != 0 ? info.stx_mnt_id + 1 : 0;
#endif
    return 0;
  }

  static std::uint32_t user() { return static_cast<std::uint32_t>(system_call(SYS_geteuid)); }
  static std::int64_t now() {
    timespec time{};
    system_call(SYS_clock_gettime, CLOCK_REALTIME_COARSE, address(&time));
    return time.tv_sec;
  }

  // Returns only if it fails.
  static int execute(const char* path, char* const* arguments, char* const* environment) {
    return static_cast<int>(system_call(SYS_execve, address(path), address(arguments), address(environment)));
  }
  // Zeroed memory; null if there is none.
  static void* memory(std::size_t size) {
    const long result =
        system_call(SYS_mmap, 0, static_cast<long>(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return result < 0 && result > -4096 ? nullptr : reinterpret_cast<void*>(result);
  }
  static void give_back(void* memory, std::size_t size) {
    system_call(SYS_munmap, address(memory), static_cast<long>(size));
  }
  [[noreturn]] static void exit(int status) {
    while (true) system_call(SYS_exit_group, status);
  }

 private:
  static long address(const void* pointer) { return reinterpret_cast<long>(pointer); }
  static int status_at(const char* path, struct stat& info, int flags) {
    return static_cast<int>(system_call(SYS_newfstatat, AT_FDCWD, address(path), address(&info), flags));
  }
};

}  // namespace cudaenv::raw
