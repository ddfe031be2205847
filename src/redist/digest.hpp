// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cudaenv::redist {

// SHA-256 over bytes as they come.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  // 64 lower-case hex digits; the object is used up. Empty, so that it equals no digest, if the crypto library
  // failed anywhere on the way.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> m_context;
};

std::string sha256_of(std::string_view bytes);

struct FileDigest {
  std::string sha256;    // empty, so that it equals no digest, if the file was not read to its end
  int system_error = 0;  // why it could not be
};

// Of an open file, from its beginning, a block (read_bytes.hpp) at a time. Ends when `keep_going` says no; `on_read` is
// told the bytes of each block. Both may be nothing.
FileDigest digest_of_file(int fd, const std::function<bool()>& keep_going,
                          const std::function<void(std::size_t)>& on_read = {});

}  // namespace cudaenv::redist
