// SPDX-License-Identifier: Apache-2.0
#include "store/gate_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cudaenv::store {
namespace {

constexpr std::string_view k_fact = "fact ";
constexpr std::string_view k_architectures = "architectures ";
constexpr std::size_t k_most_lines = 128;
constexpr std::size_t k_most_records = 64;         // before old ones are looked for
constexpr std::int64_t k_old_seconds = 24 * 3600;  // of a record that may go then

// A directory's name with a line end in it cannot be written down.
bool is_writable(const base::Path& path) { return path.native().find('\n') == std::string::npos; }

// "architectures TOOLKIT 75,80 DIRECTORY" up to the list
std::string architectures_start(std::uint64_t toolkit) { return fmt::format("{}{:016x} ", k_architectures, toolkit); }

std::optional<std::vector<std::uint16_t>> parse_list(std::string_view text) {
  std::vector<std::uint16_t> numbers;
  if (text == "-") return numbers;
  for (const std::string_view part : base::split(text, ',')) {
    std::uint16_t number = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != part.data() + part.size()) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}


// Every batch job on a node leaves a record.
void remove_old_records(const base::Path& directory, std::int64_t now) {
  const auto names = base::list_directory(directory);
  if (!names || names->size() < k_most_records) return;
  for (const std::string& name : *names) {
    struct stat info;
    const base::Path file = directory / name;
    if (::lstat(file.c_str(), &info) == 0 && now - info.st_mtime > k_old_seconds) ::unlink(file.c_str());
  }
}

}  // namespace

GateCache::GateCache(const Roots& roots)
    : m_roots(roots.for_selection()), m_record(std::make_unique<Record>(m_system, m_roots)) {
  if (!m_record->load()) return;
  for (const std::string_view line : base::split(m_record->text(), '\n'))
    if (!line.empty()) m_lines.emplace_back(line);
}

std::optional<std::string> GateCache::observation() const {
  std::string text;
  for (const std::string& line : m_lines)
    if (line.starts_with(k_fact)) text += line.substr(k_fact.size()) + "\n";
  return text.empty() ? std::nullopt : std::optional(text);
}

bool GateCache::allows(const Selected& selected) const { return m_record->allows(selected.view()); }

std::optional<std::vector<std::uint16_t>> GateCache::architectures(const base::Path& toolkit) const {
  const std::string start = architectures_start(m_record->toolkit_fingerprint(toolkit.native()));
  for (const std::string& line : m_lines) {
    if (!line.starts_with(start)) continue;
    const std::string_view rest = std::string_view(line).substr(start.size());
    const std::size_t blank = rest.find(' ');
    if (blank != std::string_view::npos && rest.substr(blank + 1) == toolkit.native())
      return parse_list(rest.substr(0, blank));
  }
  return std::nullopt;
}

void GateCache::set_observation(std::string_view text, std::int64_t lifetime_seconds) {
  m_lines.clear();
  if (lifetime_seconds > 0) m_lines.push_back(fmt::format("until {}", m_system.now() + lifetime_seconds));
  for (const std::string_view line : base::split(text, '\n'))
    if (!line.empty()) m_lines.push_back(std::string(k_fact) + std::string(line));
  m_is_changed = true;
}

void GateCache::take_out(std::string_view start, std::string_view end) {
  std::erase_if(m_lines, [&](const std::string& line) { return line.starts_with(start) && line.ends_with(end); });
  // The oldest decisions make way.
  const auto is_decision = [](const std::string& line) {
    return line.starts_with("allow ") || line.starts_with(k_architectures);
  };
  while (static_cast<std::size_t>(std::count_if(m_lines.begin(), m_lines.end(), is_decision)) >= k_most_lines)
    m_lines.erase(std::find_if(m_lines.begin(), m_lines.end(), is_decision));
  m_is_changed = true;
}

void GateCache::set_architectures(const base::Path& toolkit, const std::vector<std::uint16_t>& architectures) {
  if (!is_writable(toolkit)) return;
  const std::string start = architectures_start(m_record->toolkit_fingerprint(toolkit.native()));
  take_out(start, " " + toolkit.native());
  m_lines.push_back(fmt::format("{}{} {}", start,
                                architectures.empty() ? "-" : fmt::format("{}", fmt::join(architectures, ",")),
                                toolkit.native()));
}

void GateCache::allow(const Selected& selected, Basis basis) {
  if (!is_writable(selected.directory)) return;
  const core::Selection view = selected.view();
  std::string condition = "-";
  if (basis == Basis::settings) condition = fmt::format("{:016x}", m_record->settings_condition(view));
  if (basis == Basis::exemption) condition = fmt::format("{:016x}", m_record->exemption_condition(view));
  const std::string line = fmt::format("allow {:016x} {} {}", m_record->toolkit_fingerprint(view.directory), condition,
                                       selected.directory.native());
  take_out(line, "");
  m_lines.push_back(line);
}

void GateCache::set_automatic(const base::Path& toolkit) {
  if (!is_writable(toolkit)) return;
  take_out("auto ", "");
  m_lines.push_back(fmt::format("auto {:016x} {}", m_record->installed_condition(), toolkit.native()));
}

Result<void> GateCache::save() {
  if (!m_is_changed) return {};
  // The first place that will do is also where shims look first.
  if (const char* runtime = m_system.variable("XDG_RUNTIME_DIR"); runtime && *runtime == '/')
    ::mkdir(fmt::format("{}/cudaenv", runtime).c_str(), 0700);
  if (!m_record->find_directory()) ::mkdir(m_record->path().c_str(), 0700);
  if (!m_record->find_directory())
    return fail(ErrorKind::filesystem,
                fmt::format("{} cannot be made a directory of this user alone", m_record->path().view()));
  const base::Path directory(m_record->path().view());
  m_record->append_name();
  const base::Path file(m_record->path().view());
  std::string content(core::k_gate_record_head);
  // The shims' lines first: they are read at every call.
  for (const bool is_for_shims : {true, false})
    for (const std::string& line : m_lines)
      if ((!line.starts_with(k_fact) && !line.starts_with(k_architectures)) == is_for_shims) content += line + "\n";
  if (content.size() >= core::k_largest_gate_record)
    return fail(ErrorKind::filesystem, fmt::format("{} would be too large", file.native()));
  if (!base::path_exists(file)) remove_old_records(directory, m_system.now());
  CUDAENV_CHECK(base::write_file(file, content, 0600, base::Durable::no));
  m_is_changed = false;
  return {};
}

}  // namespace cudaenv::store
