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

// Of an open file, from its beginning. Empty, so that it equals no digest, if the file cannot be read to its end or
// `keep_going`, which may be nothing, says no.
std::string digest_of_file(int fd, const std::function<bool()>& keep_going);

}  // namespace cudaenv::redist
