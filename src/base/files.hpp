// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files, with errors that name the path and the reason. Unless said otherwise a failure is
// ErrorKind::filesystem. Paths are taken as they are; links are followed as the system does.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cudaenv::base {

using Path = std::filesystem::path;

// "cannot <action> <path>: <words for errno>"
Error file_error(std::string_view action, const Path& path, int system_error);

enum class EntryKind { absent, file, directory, link, other };

// What lies at the path itself, a link not followed.
EntryKind entry_kind(const Path& path);
bool path_exists(const Path& path);
bool directory_exists(const Path& path);
bool executable_exists(const Path& path);

// The whole file; nothing if there is none. Refuses more than `most` bytes and anything but a regular file.
[[nodiscard]] Result<std::optional<std::string>> read_file(const Path& path, std::uint64_t most = 64u << 20);

enum class Durable { yes, no };

// Replaces the file by one with this content: written beside it, synced if durable, renamed. A reader sees the
// old or the new content. A link at `path` is followed, so that it stays a link; an existing file keeps its mode.
[[nodiscard]] Result<void> write_file(const Path& path, std::string_view content, mode_t mode = 0644,
                                      Durable durable = Durable::yes);

// Writes all of it or fails, whatever the number of calls it takes.
[[nodiscard]] Result<void> write_all(const Fd& fd, std::string_view bytes, const Path& path);

// Copies a regular file, permissions and times included, to `name` in an open directory (or AT_FDCWD), where nothing
// is yet; nothing is left there after a failure.
[[nodiscard]] Result<void> copy_file(const Path& from, int directory, const char* name);

// Gives a file that second name. Where there can be none, it is copied: on another file system, on one without links,
// of too many of them, of a file that the kernel lets only its owner link.
[[nodiscard]] Result<void> link_or_copy(const Path& from, int directory, const char* name);

// Creates the directory and those above it with mode 0755 whatever the umask; returns those that it created,
// outermost first.
[[nodiscard]] Result<std::vector<Path>> make_directories(const Path& path);

// Removes the tree, read-only directories included, never following a link; an absent one counts as removed.
[[nodiscard]] Result<void> remove_tree(const Path& path);

// The names in a directory, sorted; empty if there is no such directory.
[[nodiscard]] Result<std::vector<std::string>> list_directory(const Path& path);

[[nodiscard]] Result<void> rename_path(const Path& from, const Path& to);
[[nodiscard]] Result<void> make_link(const Path& target, const Path& link);  // symbolic
[[nodiscard]] Result<Path> link_target(const Path& link);

// Bytes that an unprivileged user can still write to the file system of `path` (or of its nearest ancestor that
// exists).
[[nodiscard]] Result<std::uint64_t> free_space(const Path& path);

}  // namespace cudaenv::base
