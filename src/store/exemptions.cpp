// SPDX-License-Identifier: Apache-2.0
#include "store/exemptions.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_lock.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "core/gate_record.hpp"

namespace cudaenv::store {
namespace {

constexpr int k_lock_deadline_seconds = 10;

base::Path file_of(const Roots& roots) { return roots.own.path.native() + std::string(core::k_exemptions_name); }

Result<std::vector<Exemption>> parsed(const std::string& content, const base::Path& file) {
  std::vector<Exemption> exemptions;
  const auto document = base::parse_json(content);
  const base::Value::Array* array = document ? document->as_array() : nullptr;
  const std::string shown = base::escaped(file.native());
  const auto broken = [&] {
    return fail(ErrorKind::config, fmt::format("{} is not a list of exemptions", shown), fmt::format("rm {}", shown));
  };
  if (!array) return broken();
  for (const base::Value& entry : *array) {
    Exemption exemption{std::string(entry.text("file")), std::string(entry.text("spec"))};
    if (exemption.file.empty() || exemption.spec.empty()) return broken();
    exemptions.push_back(std::move(exemption));
  }
  return exemptions;
}

Result<void> save(const Roots& roots, const std::vector<Exemption>& exemptions) {
  const base::Path file = file_of(roots);
  if (exemptions.empty()) {
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return fail(base::file_error("remove", file, errno));
    return {};
  }
  base::Value::Array array;
  for (const Exemption& exemption : exemptions)
    array.emplace_back(base::Value::Object{{"file", exemption.file.native()}, {"spec", exemption.spec}});
  const std::string content = base::to_json(array);
  // JSON is UTF-8, and paths need not be.
  const auto read_back = parsed(content, file);
  for (std::size_t i = 0; i < exemptions.size(); ++i)
    if (!read_back || (*read_back)[i].file != exemptions[i].file)
      return fail(ErrorKind::filesystem,
                  fmt::format("no exemption can be kept for {}: its name is not UTF-8",
                              base::escaped(exemptions[i].file.native())),
                  "export CUDAENV_GATE=off");
  return base::write_file(file, content);
}

// A project is reached by more than one path where there are links; the file itself may be gone.
bool is_same_file(const base::Path& a, const base::Path& b) {
  if (a == b) return true;
  if (a.filename() != b.filename()) return false;
  struct stat first;
  struct stat second;
  return ::stat(a.parent_path().c_str(), &first) == 0 && ::stat(b.parent_path().c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Takes out the exemption of a file and puts in another, if there is one.
Result<bool> replace(const Roots& roots, const base::Path& file, const std::optional<Exemption>& exemption) {
  if (!exemption && !base::path_exists(file_of(roots))) return false;
  CUDAENV_CHECK(base::make_directories(roots.own.path));
  [[maybe_unused]] const auto lock = base::FileLock::acquire(
      roots.own.path / ".exemptions.lock", [](long) {}, k_lock_deadline_seconds);
  if (!lock) return fail(lock.error());
  CUDAENV_TRY(exemptions, load_exemptions(roots));
  const bool was_there =
      std::erase_if(exemptions, [&](const Exemption& other) { return is_same_file(other.file, file); }) != 0;
  if (exemption) exemptions.push_back(*exemption);
  if (was_there || exemption) CUDAENV_CHECK(save(roots, exemptions));
  return was_there;
}

}  // namespace

Result<std::vector<Exemption>> load_exemptions(const Roots& roots) {
  const base::Path file = file_of(roots);
  CUDAENV_TRY(content, base::read_file(file, 16 << 20));
  if (!content) return std::vector<Exemption>();
  return parsed(*content, file);
}

Result<void> record_exemption(const Roots& roots, const Exemption& exemption) {
  CUDAENV_CHECK(replace(roots, exemption.file, exemption));
  return {};
}

Result<bool> drop_exemption(const Roots& roots, const base::Path& file) { return replace(roots, file, std::nullopt); }

bool is_exempt(const std::vector<Exemption>& exemptions, const Selected& selected) {
  return std::any_of(exemptions.begin(), exemptions.end(), [&](const Exemption& exemption) {
    return exemption.spec == selected.word && is_same_file(exemption.file, selected.origin_path);
  });
}

}  // namespace cudaenv::store
