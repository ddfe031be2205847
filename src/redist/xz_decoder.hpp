// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "redist/read_bytes.hpp"

namespace cudaenv::redist {

// Decodes xz as it comes. An archive of several blocks is decoded by several threads, within k_most_memory for each
// beyond what one needs.
class XzDecoder {
 public:
  static constexpr std::uint64_t k_memory_a_thread = std::uint64_t{48} << 20;  // bytes: a block of xz -6 and its output
  static constexpr std::uint64_t k_most_memory = std::uint64_t{512} << 20;     // of a decoder at all; more is refused

  // Whether something that begins so is xz.
  static bool fits(std::string_view beginning);

  // `input`: the compressed bytes; must outlive the decoder.
  [[nodiscard]] static Result<XzDecoder> open(const ReadBytes& input, unsigned threads);
  XzDecoder(XzDecoder&&) noexcept;
  ~XzDecoder();

  // The next bytes, valid until the next call; none at the end. ErrorKind::integrity, going on from the archive's name,
  // for what is not sound; an error of `input` as it is.
  [[nodiscard]] Result<std::string_view> next();

 private:
  struct Stream;
  XzDecoder(const ReadBytes& input, std::unique_ptr<Stream> stream);

  const ReadBytes* m_input;
  std::unique_ptr<Stream> m_stream;
};

}  // namespace cudaenv::redist
