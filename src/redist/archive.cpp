// SPDX-License-Identifier: Apache-2.0
#include "redist/archive.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "redist/archive_writer.hpp"
#include "redist/member_path.hpp"

// libarchive only reads here; TreeWriter writes, and says why. Each member passes three gates: its name is judged
// as text (member_path), its type against the few that a toolkit needs, and then the writer takes it down a path
// that the kernel itself keeps inside the destination.

namespace cudaenv::redist {
namespace {

constexpr std::size_t k_block_size = std::size_t{1} << 20;

struct FreeReader {
  void operator()(::archive* reader) const noexcept { (void)::archive_read_free(reader); }
};
using Reader = std::unique_ptr<::archive, FreeReader>;

// What a C function may return as null.
std::string_view view(const char* text) { return text ? std::string_view(text) : std::string_view(); }

class Unpacking {
 public:
  Unpacking(const base::Path& archive, TreeWriter tree, const std::function<bool()>& keep_going)
      : m_archive(archive),
        m_tree(std::move(tree)),
        m_keep_going([&keep_going] { return !keep_going || keep_going(); }) {}

  Result<std::vector<UnpackedEntry>> run();

 private:
  Result<void> open();
  Result<void> unpack_member(archive_entry* entry);
  Result<void> unpack_file(archive_entry* entry, const std::string& path);
  Result<std::string> path_in_prefix(std::string_view name, bool is_directory);

  // Errors of ErrorKind::integrity go on from the name of the member, or of the archive, until in_archive completes
  // them.
  Error broken() const;
  Error in_archive(std::string_view member, Error error) const;
  std::string shown_archive() const { return base::escaped(m_archive.filename().native()); }

  base::Path m_archive;
  base::Fd m_fd;
  Reader m_reader;
  TreeWriter m_tree;
  std::function<bool()> m_keep_going;
  std::string m_top;
};

Error Unpacking::broken() const {
  const int reason = ::archive_errno(m_reader.get());
  if (reason == EIO || reason == ESTALE) return base::file_error("read", m_archive, reason);
  if (reason == ENOMEM) return {ErrorKind::internal, fmt::format("not enough memory to unpack {}", shown_archive())};
  return {ErrorKind::integrity, fmt::format("is broken: {}", view(::archive_error_string(m_reader.get())))};
}

Error Unpacking::in_archive(std::string_view member, Error error) const {
  if (error.kind != ErrorKind::integrity)
    return std::move(error).during(fmt::format("while unpacking {}", shown_archive()));
  error.message =
      base::escaped(member.empty() ? error.message : fmt::format("is refused: \"{}\" {}", member, error.message));
  error.message = fmt::format("the archive {} {}", shown_archive(), error.message);
  return error;
}

Result<void> Unpacking::open() {
  m_fd = base::Fd(::open(m_archive.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (!m_fd || ::fstat(*m_fd, &info) != 0) return fail(base::file_error("read", m_archive, errno));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::filesystem, fmt::format("{} is not a file", base::escaped(m_archive.native())));
  m_reader.reset(::archive_read_new());
  ::archive* const reader = m_reader.get();
  if (!reader) return fail(ErrorKind::internal, fmt::format("not enough memory to unpack {}", shown_archive()));
  // A warning means that a program, not a library, does the work.
  for (const int status : {::archive_read_support_format_tar(reader), ::archive_read_support_filter_xz(reader),
                           ::archive_read_support_filter_gzip(reader), ::archive_read_support_filter_zstd(reader)})
    if (status < ARCHIVE_WARN) return fail(ErrorKind::internal, "libarchive lacks tar, xz, gzip or zstd");
  if (::archive_read_open_fd(reader, *m_fd, k_block_size) != ARCHIVE_OK) return fail(in_archive({}, broken()));
  return {};
}

// The path that a member has below the prefix; empty for the top directory itself and for ".".
Result<std::string> Unpacking::path_in_prefix(std::string_view name, bool is_directory) {
  const auto plain = plain_member_path(name);
  if (!plain) return fail(ErrorKind::integrity, std::string(words(plain.error())));
  if (plain->empty() && is_directory) return std::string();
  if (m_top.empty()) m_top = plain->substr(0, plain->find('/'));
  auto path = below_top(*plain, m_top);
  if (!path) return fail(ErrorKind::integrity, std::string(words(path.error())));
  if (path->empty() && !is_directory) return fail(ErrorKind::integrity, std::string(words(PathFault::outside_top)));
  return *path;
}

Result<void> Unpacking::unpack_file(archive_entry* entry, const std::string& path) {
  CUDAENV_TRY(file, m_tree.begin_file(path));
  while (true) {
    if (!m_keep_going()) return fail(ErrorKind::interrupted, "interrupted");
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    const int status = ::archive_read_data_block(m_reader.get(), &bytes, &count, &offset);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK) return fail(broken());
    if (count == 0) continue;
    CUDAENV_CHECK(m_tree.write(file, static_cast<std::uint64_t>(offset),
                               std::string_view(static_cast<const char*>(bytes), count), m_keep_going));
  }
  // A hole at the end comes with no block of its own.
  if (::archive_entry_size_is_set(entry) != 0) {
    const auto size = static_cast<std::uint64_t>(::archive_entry_size(entry));
    if (size < file.size) return fail(ErrorKind::integrity, "is longer than it says");
    CUDAENV_CHECK(m_tree.write(file, size, {}, m_keep_going));
  }
  std::optional<timespec> modified;
  if (::archive_entry_mtime_is_set(entry) != 0)
    modified = timespec{.tv_sec = ::archive_entry_mtime(entry), .tv_nsec = ::archive_entry_mtime_nsec(entry)};
  return m_tree.end_file(std::move(file), ::archive_entry_perm(entry), modified);
}

Result<void> Unpacking::unpack_member(archive_entry* entry) {
  const auto type = ::archive_entry_filetype(entry);
  const char* const hard_link = ::archive_entry_hardlink(entry);
  CUDAENV_TRY(path, path_in_prefix(view(::archive_entry_pathname(entry)), type == AE_IFDIR && !hard_link));
  if (hard_link) {
    const auto existing = path_in_prefix(hard_link, false);
    if (!existing)
      return fail(ErrorKind::integrity,
                  fmt::format("is a hard link to \"{}\", which {}", hard_link, existing.error().message));
    return m_tree.make_hard_link(path, *existing);
  }
  if (type == AE_IFDIR) return m_tree.make_directory(path);
  if (type == AE_IFLNK) return m_tree.make_link(path, std::string(view(::archive_entry_symlink(entry))));
  if (type == AE_IFREG) return unpack_file(entry, path);
  return fail(ErrorKind::integrity, "is neither a file nor a directory nor a link");
}

Result<std::vector<UnpackedEntry>> Unpacking::run() {
  CUDAENV_CHECK(open());
  while (true) {
    if (!m_keep_going()) return fail(in_archive({}, {ErrorKind::interrupted, "interrupted"}));
    archive_entry* entry = nullptr;
    const int status = ::archive_read_next_header(m_reader.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    // A warning is about what is not used here, such as an attribute, or about a name; the name is judged anyway.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return fail(in_archive({}, broken()));
    const std::string name(view(::archive_entry_pathname(entry)));
    if (auto done = unpack_member(entry); !done)
      return fail(in_archive(name.empty() ? "a member" : name, std::move(done).error()));
  }
  auto entries = std::move(m_tree).finish();
  if (!entries) return fail(in_archive({}, std::move(entries).error()));
  return entries;
}

}  // namespace

Result<std::vector<UnpackedEntry>> unpack(const base::Path& archive, const base::Path& destination,
                                          const std::function<bool()>& keep_going) {
  CUDAENV_TRY(tree, TreeWriter::open(destination));
  return Unpacking(archive, std::move(tree), keep_going).run();
}

}  // namespace cudaenv::redist
