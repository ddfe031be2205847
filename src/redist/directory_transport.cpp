// SPDX-License-Identifier: Apache-2.0
#include "redist/directory_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::size_t k_block_size = std::size_t{1} << 20;

struct OpenFile {
  base::Fd fd;
  std::uint64_t size;
};

class DirectoryTransport final : public Transport {
 public:
  DirectoryTransport(Location location, TransportOptions options)
      : m_location(std::move(location)), m_options(std::move(options)) {}

  Result<std::string> text(std::string_view relative, std::uint64_t most) override;
  Result<std::vector<std::string>> index() override;
  Result<std::optional<base::Fd>> open(std::string_view relative, std::uint64_t size) override;
  void begin(std::string_view relative, std::uint64_t size, std::shared_ptr<Body> body) override;

 private:
  Result<OpenFile> open_file(std::string_view relative) const;
  tl::unexpected<Error> wrong(std::string_view relative, std::string_view what) const {
    return fail(ErrorKind::integrity, fmt::format("{} {}", m_location.shown(relative), what));
  }

  Location m_location;
  TransportOptions m_options;
};

// A mirror may hold what it likes: a FIFO must not block, a directory is no archive.
Result<OpenFile> DirectoryTransport::open_file(std::string_view relative) const {
  const base::Path path = m_location.resource(relative);
  OpenFile file{base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), 0};
  if (!file.fd && (errno == ENOENT || errno == ENOTDIR))
    return fail(ErrorKind::not_found, fmt::format("there is no {}", m_location.shown(relative)));
  struct stat info;
  if (!file.fd || ::fstat(*file.fd, &info) != 0) return fail(base::file_error("read", path, errno));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::filesystem, fmt::format("{} is not a file", m_location.shown(relative)));
  file.size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

Result<std::string> DirectoryTransport::text(std::string_view relative, std::uint64_t most) {
  CUDAENV_TRY(file, open_file(relative));
  if (file.size > most) return wrong(relative, fmt::format("is larger than {}", base::human_size(most)));
  std::string body(static_cast<std::size_t>(file.size) + 1, '\0');  // one more, to see it grow
  std::size_t received = 0;
  while (received < body.size()) {
    if (m_options.keep_going && !m_options.keep_going())
      return fail(ErrorKind::interrupted, fmt::format("interrupted while reading {}", m_location.shown(relative)));
    const ssize_t got = ::read(*file.fd, body.data() + received, std::min(body.size() - received, k_block_size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(base::file_error("read", m_location.resource(relative), errno));
    if (got == 0) break;
    received += static_cast<std::size_t>(got);
  }
  if (received != file.size) return wrong(relative, "changed while it was read");
  body.resize(received);
  return body;
}

Result<std::vector<std::string>> DirectoryTransport::index() {
  if (!base::directory_exists(m_location.directory))
    return fail(ErrorKind::not_found, fmt::format("there is no directory {}", m_location.shown()));
  return base::list_directory(m_location.directory);
}

Result<std::optional<base::Fd>> DirectoryTransport::open(std::string_view relative, std::uint64_t size) {
  CUDAENV_TRY(file, open_file(relative));
  if (file.size != size) return wrong(relative, fmt::format("has {} bytes, {} were expected", file.size, size));
  return std::optional(std::move(file.fd));
}

void DirectoryTransport::begin(std::string_view relative, std::uint64_t, std::shared_ptr<Body> body) {
  body->end(fail(ErrorKind::internal, fmt::format("{} does not come over a network", m_location.shown(relative))));
}

}  // namespace

std::unique_ptr<Transport> open_directory_transport(const Location& location, TransportOptions options) {
  return std::make_unique<DirectoryTransport>(location, std::move(options));
}

}  // namespace cudaenv::redist
