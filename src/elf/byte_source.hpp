// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace cudaenv::elf {

// Bytes that are read where they are needed: of a file, which may be very large, or of a test.
struct ByteSource {
  std::uint64_t size = 0;
  // Puts `count` bytes from `offset` on into `to`; false if there are not that many, or they cannot be read.
  std::function<bool(std::uint64_t offset, void* to, std::size_t count)> read;
};

// The bytes must outlive it.
ByteSource source_of(std::string_view bytes);
// The descriptor must outlive it.
ByteSource source_of(int fd, std::uint64_t size);

}  // namespace cudaenv::elf
