// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "core/fixed_text.hpp"
#include "core/library_shim.hpp"
#include "raw/syscalls.hpp"

namespace cudaenv::cudart {

// What a file is that this shim might stand for.
struct LibraryFile {
  bool is_usable = false;  // a library for this machine, and not a shim
  std::uint64_t key = 0;   // core::library_key
};

inline LibraryFile inspect(const core::PathText& path) {
  using raw::SystemCalls;
  if (path.is_cut()) return {};
  const int fd = SystemCalls::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return {};
  LibraryFile file;
  struct stat info;
  Elf64_Ehdr header;
  if (SystemCalls::status_of(fd, info) == 0 && S_ISREG(info.st_mode) &&
      SystemCalls::read_at(fd, &header, sizeof header, 0) == long{sizeof header}) {
    file.key = core::library_key(
        {true, 0, 0, static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec});
    file.is_usable = std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) == ELFMAG &&
                     header.e_machine == core::k_elf_machine && header.e_entry != core::k_shim_entry;
  }
  SystemCalls::close(fd);
  return file;
}

}  // namespace cudaenv::cudart
