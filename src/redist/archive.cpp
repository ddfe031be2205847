// SPDX-License-Identifier: Apache-2.0
#include "redist/archive.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "redist/archive_writer.hpp"
#include "redist/member_path.hpp"
#include "redist/xz_decoder.hpp"

// libarchive only reads here; TreeWriter writes, and says why. Each member passes three gates: its name is judged
// as text (member_path), its type against the few that a toolkit needs, and then the writer takes it down a path
// that the kernel itself keeps inside the destination.

namespace cudaenv::redist {
namespace {

struct FreeReader {
  void operator()(::archive* reader) const noexcept { (void)::archive_read_free(reader); }
};
using Reader = std::unique_ptr<::archive, FreeReader>;

// What a C function may return as null.
std::string_view view(const char* text) { return text ? std::string_view(text) : std::string_view(); }

class Unpacker {
 public:
  Unpacker(const ReadBytes& read, const Unpacking& unpacking, TreeWriter tree)
      : m_unpacking(unpacking), m_read(read), m_tree(std::move(tree)) {}

  Result<std::vector<UnpackedEntry>> run();

 private:
  Result<void> open();
  Result<std::string_view> next_block();
  Result<void> unpack_member(archive_entry* entry);
  Result<void> unpack_file(archive_entry* entry, const std::string& path);
  Result<std::string> path_in_prefix(std::string_view name, bool is_directory);
  bool goes_on() const { return !m_unpacking.keep_going || m_unpacking.keep_going(); }

  // Errors of ErrorKind::integrity go on from the name of the member, or of the archive, until in_archive completes
  // them.
  Error broken();
  Error in_archive(std::string_view member, Error error) const;
  std::string shown_archive() const { return base::escaped(m_unpacking.name); }

  static la_ssize_t on_read(::archive* reader, void* self, const void** bytes) noexcept;

  const Unpacking& m_unpacking;
  const ReadBytes& m_read;
  ReadBytes m_input;            // m_read, with the beginning that was looked at
  std::vector<char> m_block;    // of what is not xz
  std::size_t m_looked_at = 0;  // bytes of m_block that m_input has still to give
  std::optional<XzDecoder> m_xz;
  std::optional<Error> m_stopped;  // why there are no more bytes
  Reader m_reader;
  TreeWriter m_tree;
  std::string m_top;
};

Error Unpacker::broken() {
  if (m_stopped) return std::move(*m_stopped);
  const int reason = ::archive_errno(m_reader.get());
  if (reason == ENOMEM) return {ErrorKind::internal, fmt::format("not enough memory to unpack {}", shown_archive())};
  return {ErrorKind::integrity, fmt::format("is broken: {}", view(::archive_error_string(m_reader.get())))};
}

Error Unpacker::in_archive(std::string_view member, Error error) const {
  if (error.kind != ErrorKind::integrity)
    return std::move(error).during(fmt::format("while unpacking {}", shown_archive()));
  error.message =
      base::escaped(member.empty() ? error.message : fmt::format("is refused: \"{}\" {}", member, error.message));
  error.message = fmt::format("the archive {} {}", shown_archive(), error.message);
  return error;
}

// The next bytes of the tar, or of what libarchive makes one.
Result<std::string_view> Unpacker::next_block() {
  if (!goes_on()) return fail(ErrorKind::interrupted, "interrupted");
  if (m_xz) return m_xz->next();
  CUDAENV_TRY(got, m_input(m_block));
  return std::string_view(m_block.data(), got);
}

la_ssize_t Unpacker::on_read(::archive* reader, void* self, const void** bytes) noexcept {
  auto& unpacker = *static_cast<Unpacker*>(self);
  try {
    const auto block = unpacker.next_block();
    if (block) {
      *bytes = block->data();
      return static_cast<la_ssize_t>(block->size());
    }
    unpacker.m_stopped = block.error();
  } catch (...) {  // for want of memory
    unpacker.m_stopped.emplace();
    unpacker.m_stopped->message = "not enough memory to unpack";
  }
  ::archive_set_error(reader, EIO, "no more bytes");
  return -1;
}

Result<void> Unpacker::open() {
  m_block.resize(k_block_size);
  // What it is shows in the first bytes; a file that is shorter is none of them.
  while (m_looked_at < 6) {
    auto got = m_read(std::span(m_block).subspan(m_looked_at));
    if (!got) return fail(in_archive({}, std::move(got).error()));
    if (*got == 0) break;
    m_looked_at += *got;
  }
  const bool is_xz = XzDecoder::fits(std::string_view(m_block.data(), m_looked_at));
  m_input = [this](std::span<char> buffer) -> Result<std::size_t> {
    if (m_looked_at == 0) return m_read(buffer);
    if (buffer.data() != m_block.data()) std::copy_n(m_block.begin(), m_looked_at, buffer.begin());
    return std::exchange(m_looked_at, 0);
  };
  if (is_xz) {
    CUDAENV_TRY(decoder, XzDecoder::open(m_input, m_unpacking.threads));
    m_xz.emplace(std::move(decoder));
  }
  m_reader.reset(::archive_read_new());
  ::archive* const reader = m_reader.get();
  if (!reader) return fail(ErrorKind::internal, fmt::format("not enough memory to unpack {}", shown_archive()));
  // A warning means that a program, not a library, does the work.
  int worst = ::archive_read_support_format_tar(reader);
  if (!is_xz)
    worst = std::min({worst, ::archive_read_support_filter_gzip(reader), ::archive_read_support_filter_zstd(reader)});
  if (worst < ARCHIVE_WARN) return fail(ErrorKind::internal, "libarchive lacks tar, gzip or zstd");
  if (::archive_read_open(reader, this, nullptr, &Unpacker::on_read, nullptr) != ARCHIVE_OK)
    return fail(in_archive({}, broken()));
  return {};
}

// The path that a member has below the prefix; empty for the top directory itself and for ".".
Result<std::string> Unpacker::path_in_prefix(std::string_view name, bool is_directory) {
  const auto plain = plain_member_path(name);
  if (!plain) return fail(ErrorKind::integrity, std::string(words(plain.error())));
  if (plain->empty() && is_directory) return std::string();
  if (m_top.empty()) m_top = plain->substr(0, plain->find('/'));
  auto path = below_top(*plain, m_top);
  if (!path) return fail(ErrorKind::integrity, std::string(words(path.error())));
  if (path->empty() && !is_directory) return fail(ErrorKind::integrity, std::string(words(PathFault::outside_top)));
  return *path;
}

Result<void> Unpacker::unpack_file(archive_entry* entry, const std::string& path) {
  CUDAENV_TRY(file, m_tree.begin_file(path));
  while (true) {
    if (!goes_on()) return fail(ErrorKind::interrupted, "interrupted");
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    const int status = ::archive_read_data_block(m_reader.get(), &bytes, &count, &offset);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK) return fail(broken());
    if (count == 0) continue;
    CUDAENV_CHECK(m_tree.write(file, static_cast<std::uint64_t>(offset),
                               std::string_view(static_cast<const char*>(bytes), count), m_unpacking.keep_going));
  }
  // A hole at the end comes with no block of its own.
  if (::archive_entry_size_is_set(entry) != 0) {
    const auto size = static_cast<std::uint64_t>(::archive_entry_size(entry));
    if (size < file.size) return fail(ErrorKind::integrity, "is longer than it says");
    CUDAENV_CHECK(m_tree.write(file, size, {}, m_unpacking.keep_going));
  }
  std::optional<timespec> modified;
  if (::archive_entry_mtime_is_set(entry) != 0)
    modified = timespec{.tv_sec = ::archive_entry_mtime(entry), .tv_nsec = ::archive_entry_mtime_nsec(entry)};
  return m_tree.end_file(std::move(file), ::archive_entry_perm(entry), modified);
}

Result<void> Unpacker::unpack_member(archive_entry* entry) {
  const auto type = ::archive_entry_filetype(entry);
  const char* const hard_link = ::archive_entry_hardlink(entry);
  CUDAENV_TRY(path, path_in_prefix(view(::archive_entry_pathname(entry)), type == AE_IFDIR && !hard_link));
  const bool is_left_out = type != AE_IFDIR && m_unpacking.leaves_out && m_unpacking.leaves_out(path);
  if (is_left_out) return {};
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

Result<std::vector<UnpackedEntry>> Unpacker::run() {
  CUDAENV_CHECK(open());
  while (true) {
    if (!goes_on()) return fail(in_archive({}, {ErrorKind::interrupted, "interrupted"}));
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

Result<std::vector<UnpackedEntry>> unpack(const ReadBytes& read, const Unpacking& unpacking) {
  CUDAENV_TRY(tree, TreeWriter::open(unpacking.destination, unpacking.bank));
  return Unpacker(read, unpacking, std::move(tree)).run();
}

}  // namespace cudaenv::redist
