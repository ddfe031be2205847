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
  Result<void> stream(std::string_view relative, std::uint64_t size, const Sink& sink,
                      const Progress& progress) override;

 private:
  Result<OpenFile> open(std::string_view relative) const;
  // All of a file of `size` bytes; a file that grows or shrinks meanwhile is ErrorKind::integrity.
  Result<void> copy(std::string_view relative, const OpenFile& file, const Sink& sink, const Progress& progress) const;
  tl::unexpected<Error> wrong(std::string_view relative, std::string_view what) const {
    return fail(ErrorKind::integrity, fmt::format("{} {}", m_location.shown(relative), what));
  }

  Location m_location;
  TransportOptions m_options;
};

// A mirror may hold what it likes: a FIFO must not block, a directory is no archive.
Result<OpenFile> DirectoryTransport::open(std::string_view relative) const {
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

Result<void> DirectoryTransport::copy(std::string_view relative, const OpenFile& file, const Sink& sink,
                                      const Progress& progress) const {
  std::string block(static_cast<std::size_t>(std::min<std::uint64_t>(k_block_size, file.size + 1)), '\0');
  std::uint64_t received = 0;
  while (true) {
    if ((progress && !progress(received)) || (m_options.keep_going && !m_options.keep_going()))
      return fail(ErrorKind::interrupted, fmt::format("interrupted while reading {}", m_location.shown(relative)));
    const ssize_t got = ::read(*file.fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(base::file_error("read", m_location.resource(relative), errno));
    if (got == 0) break;
    received += static_cast<std::uint64_t>(got);
    if (received > file.size) break;
    CUDAENV_CHECK(sink(std::string_view(block).substr(0, static_cast<std::size_t>(got))));
  }
  if (received != file.size) return wrong(relative, "changed while it was read");
  return {};
}

Result<std::string> DirectoryTransport::text(std::string_view relative, std::uint64_t most) {
  CUDAENV_TRY(file, open(relative));
  if (file.size > most) return wrong(relative, fmt::format("is larger than {}", base::human_size(most)));
  std::string body;
  const Sink sink = [&body](std::string_view bytes) -> Result<void> {
    body += bytes;
    return {};
  };
  CUDAENV_CHECK(copy(relative, file, sink, {}));
  return body;
}

Result<std::vector<std::string>> DirectoryTransport::index() {
  if (!base::directory_exists(m_location.directory))
    return fail(ErrorKind::not_found, fmt::format("there is no directory {}", m_location.shown()));
  return base::list_directory(m_location.directory);
}

Result<void> DirectoryTransport::stream(std::string_view relative, std::uint64_t size, const Sink& sink,
                                        const Progress& progress) {
  CUDAENV_TRY(file, open(relative));
  if (file.size != size) return wrong(relative, fmt::format("has {} bytes, {} were expected", file.size, size));
  return copy(relative, file, sink, progress);
}

}  // namespace

std::unique_ptr<Transport> open_directory_transport(const Location& location, TransportOptions options) {
  return std::make_unique<DirectoryTransport>(location, std::move(options));
}

}  // namespace cudaenv::redist
