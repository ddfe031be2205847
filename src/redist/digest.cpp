// SPDX-License-Identifier: Apache-2.0
#include "redist/digest.hpp"

#include <array>
#include <cerrno>
#include <memory>

#include <unistd.h>

#include <openssl/evp.h>

#include "redist/read_bytes.hpp"

namespace cudaenv::redist {
namespace {

struct FreeDigestContext {
  void operator()(EVP_MD_CTX* context) const noexcept { ::EVP_MD_CTX_free(context); }
};

}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, FreeDigestContext> handle{::EVP_MD_CTX_new()};
  bool is_good = false;
};

Sha256::Sha256() : m_context(std::make_unique<Context>()) {
  m_context->is_good = m_context->handle && ::EVP_DigestInit_ex(m_context->handle.get(), ::EVP_sha256(), nullptr) == 1;
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  if (!m_context->is_good) return;
  m_context->is_good = ::EVP_DigestUpdate(m_context->handle.get(), bytes.data(), bytes.size()) == 1;
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (!m_context->is_good || ::EVP_DigestFinal_ex(m_context->handle.get(), digest.data(), &size) != 1) return {};
  m_context->is_good = false;
  constexpr std::string_view k_hex = "0123456789abcdef";
  std::string text;
  text.reserve(std::size_t{size} * 2);
  for (unsigned int i = 0; i < size; ++i) {
    text += k_hex[digest[i] >> 4];
    text += k_hex[digest[i] & 15];
  }
  return text;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.finish();
}

FileDigest digest_of_file(int fd, const std::function<bool()>& keep_going,
                          const std::function<void(std::size_t)>& on_read) {
  const auto block = std::make_unique_for_overwrite<char[]>(k_block_size);
  Sha256 digest;
  for (off_t at = 0; !keep_going || keep_going();) {
    const ssize_t got = ::pread(fd, block.get(), k_block_size, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {{}, errno};
    if (got == 0) return {digest.finish()};
    digest.update(std::string_view(block.get(), static_cast<std::size_t>(got)));
    if (on_read) on_read(static_cast<std::size_t>(got));
    at += got;
  }
  return {};
}

}  // namespace cudaenv::redist
