// SPDX-License-Identifier: Apache-2.0
#include "elf/byte_source.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace cudaenv::elf {
namespace {

bool is_within(std::uint64_t offset, std::size_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

}  // namespace

ByteSource source_of(std::string_view bytes) {
  return {bytes.size(), [bytes](std::uint64_t offset, void* to, std::size_t count) {
            if (!is_within(offset, count, bytes.size())) return false;
            if (count != 0) std::memcpy(to, bytes.data() + offset, count);
            return true;
          }};
}

ByteSource source_of(int fd, std::uint64_t size) {
  return {size, [fd, size](std::uint64_t offset, void* to, std::size_t count) {
            if (!is_within(offset, count, size)) return false;
            for (auto* at = static_cast<char*>(to); count != 0;) {
              const ssize_t got = ::pread(fd, at, count, static_cast<off_t>(offset));
              if (got == 0 || (got < 0 && errno != EINTR)) return false;
              if (got < 0) continue;
              at += got;
              offset += static_cast<std::uint64_t>(got);
              count -= static_cast<std::size_t>(got);
            }
            return true;
          }};
}

}  // namespace cudaenv::elf
