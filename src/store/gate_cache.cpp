// SPDX-License-Identifier: Apache-2.0
#include "store/gate_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace cudaenv::store {
namespace {

constexpr std::string_view k_fact = "fact ";
constexpr std::string_view k_architectures = "architectures ";
constexpr std::string_view k_lock_name = ".asking";
constexpr std::size_t k_most_records = 64;      // before old ones are looked for
constexpr std::ptrdiff_t k_most_refusals = 16;  // of the latest, in one record
constexpr std::int64_t k_old_seconds = 86'400;  // of a record that may go then

// A directory's name with a line end in it cannot be written down.
bool is_writable(const base::Path& path) { return path.native().find('\n') == std::string::npos; }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : base::split(text, '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

// What was learnt of the machine, as against what was decided.
bool is_learnt(const std::string& line) {
  return line.starts_with(k_fact) || line.starts_with("seen ") || line.starts_with("until ");
}

bool is_refusal(const std::string& line) { return line.starts_with("refuse "); }

bool is_decision(const std::string& line) { return !is_learnt(line); }

// The facts alone: when they are to be asked again is no part of them.
std::string facts_in(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    if (line.starts_with(k_fact)) text += line.substr(k_fact.size()) + "\n";
  return text;
}

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

// What makes way when there is no room: what is cheap to learn again first, the oldest of it.
std::vector<std::string>::iterator least_wanted(std::vector<std::string>& lines) {
  const auto list = std::find_if(lines.begin(), lines.end(),
                                 [](const std::string& line) { return line.starts_with(k_architectures); });
  return list != lines.end() ? list : std::find_if(lines.begin(), lines.end(), is_decision);
}

// As it is written, small enough to be read; empty if facts alone are too much.
std::string content_of(std::vector<std::string> lines) {
  while (true) {
    std::string content(core::k_gate_record_head);
    // The shims' lines first: they are read at every call.
    for (const bool is_for_shims : {true, false})
      for (const std::string& line : lines)
        if ((!line.starts_with(k_fact) && !line.starts_with(k_architectures)) == is_for_shims) content += line + "\n";
    if (content.size() < core::k_largest_gate_record) return content;
    const auto first = least_wanted(lines);
    if (first == lines.end()) return {};
    lines.erase(first);
  }
}

// Of a record, or of what a killed writer left.
bool is_record_name(std::string_view name) {
  constexpr std::string_view k_start = "gate-";
  return name.starts_with(k_start) && core::parse_fingerprint(name.substr(k_start.size(), core::k_fingerprint_size));
}

// What may not be read would never be believed, and a link would be written through.
void remove_unless_own(const base::Path& file) {
  struct stat info;
  if (::lstat(file.c_str(), &info) != 0) return;
  const bool is_own = S_ISREG(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (!is_own) ::unlink(file.c_str());
}

// For the moment between reading and replacing. One that cannot be had soon (its holder was stopped) costs a line that
// is asked for again.
void lock_for_a_moment(const base::Fd& directory) {
  constexpr int k_most_tries = 200;
  for (int i = 0; directory && i < k_most_tries && ::flock(*directory, LOCK_EX | LOCK_NB) != 0; ++i)
    ::poll(nullptr, 0, 1);
}

// Every batch job on a node leaves a record.
void remove_old_records(const base::Path& directory, std::int64_t now) {
  const auto names = base::list_directory(directory);
  if (!names || names->size() < k_most_records) return;
  for (const std::string& name : *names) {
    struct stat info;
    const base::Path file = directory / name;
    if (is_record_name(name) && ::lstat(file.c_str(), &info) == 0 && now - info.st_mtime > k_old_seconds)
      ::unlink(file.c_str());
  }
}

}  // namespace

GateCache::GateCache(const Roots& roots)
    : m_roots(roots.for_selection()), m_record(std::make_unique<Record>(m_system, m_roots)) {
  load();
}

// It is looked at first, by shims too, so it is there before anything is read: what was read in the other place is not
// what would be written to.
void GateCache::make_runtime_directory() {
  const char* runtime = m_system.variable("XDG_RUNTIME_DIR");
  if (runtime && *runtime == '/' && m_system.is_own_directory(runtime))
    ::mkdir(fmt::format("{}/cudaenv", runtime).c_str(), 0700);
}

void GateCache::load() {
  make_runtime_directory();
  m_lines.clear();
  if (m_record->load()) m_lines = lines_of(m_record->text());
}

std::optional<std::string> GateCache::observation() const {
  const std::string text = facts_in(m_facts.empty() ? m_lines : m_facts);
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::vector<std::uint16_t>> GateCache::architectures(const base::Path& toolkit) const {
  const std::string start =
      fmt::format("{}{:016x} ", k_architectures, m_record->conditions().toolkit_fingerprint(toolkit.native()));
  for (const std::string& line : m_lines) {
    if (!line.starts_with(start)) continue;
    std::string_view rest = std::string_view(line).substr(start.size());
    const std::string_view list = core::take_until(rest, ' ');
    if (rest == toolkit.native()) return parse_list(list);
  }
  return std::nullopt;
}

void GateCache::set_observation(std::string_view text, const std::vector<std::string>& libraries,
                                std::int64_t lifetime_seconds) {
  m_facts.clear();
  m_changes.clear();
  if (lifetime_seconds > 0) m_facts.push_back(fmt::format("until {}", m_system.now() + lifetime_seconds));
  for (const std::string& file : libraries)
    if (is_writable(file))
      m_facts.push_back(fmt::format("seen {:016x} {}", m_record->conditions().file_fingerprint(file), file));
  for (const std::string& line : lines_of(text)) m_facts.push_back(std::string(k_fact) + line);
}

void GateCache::set_architectures(const base::Path& toolkit, const std::vector<std::uint16_t>& architectures) {
  if (!is_writable(toolkit)) return;
  const std::string list = architectures.empty() ? "-" : fmt::format("{}", fmt::join(architectures, ","));
  const std::string ending = " " + toolkit.native();
  m_changes.push_back({std::string(k_architectures),
                       ending,
                       {},
                       fmt::format("{}{:016x} {}{}", k_architectures,
                                   m_record->conditions().toolkit_fingerprint(toolkit.native()), list, ending)});
}

void GateCache::set_automatic(const base::Path& toolkit) {
  if (!is_writable(toolkit)) return;
  m_changes.push_back({"auto ",
                       "",
                       {},
                       fmt::format("auto {:016x} {}", m_record->conditions().installed_condition(), toolkit.native())});
}

void GateCache::allow(const Selected& selected, Basis basis) {
  if (!is_writable(selected.directory)) return;
  const core::Selection view = selected.view();
  auto& conditions = m_record->conditions();
  std::string condition = "-";
  if (basis == Basis::settings) condition = fmt::format("{:016x}", conditions.settings_condition(view));
  if (basis == Basis::exemption) condition = fmt::format("{:016x}", conditions.exemption_condition(view));
  const std::string start = fmt::format("allow {:016x} ", conditions.toolkit_fingerprint(view.directory));
  m_changes.push_back({refusal_start(selected), "\t" + selected.directory.native(), {}, {}});
  // What was allowed while the directory held another toolkit goes.
  m_changes.push_back(
      {"allow ", fmt::format(" {}", view.directory), start, start + condition + " " + selected.directory.native()});
}

// Those that hold for this selection, or for another toolkit that the directory has held. An exemption that was made
// for another version file stays.
void GateCache::take_out_permissions(const Selected& selected) {
  const core::Selection view = selected.view();
  auto& conditions = m_record->conditions();
  const std::string ending = " " + selected.directory.native();
  const std::string start = fmt::format("allow {:016x} ", conditions.toolkit_fingerprint(view.directory));
  m_changes.push_back({"allow ", ending, start, {}});
  m_changes.push_back({start + "-", ending, {}, {}});
  for (const std::uint64_t condition : {conditions.settings_condition(view), conditions.exemption_condition(view)})
    m_changes.push_back({start + fmt::format("{:016x}", condition), ending, {}, {}});
}

void GateCache::disallow(const Selected& selected) {
  take_out_permissions(selected);
  m_changes.push_back({refusal_start(selected), "\t" + selected.directory.native(), {}, {}});
}

void GateCache::refuse(const Selected& selected, const std::string& reason) {
  take_out_permissions(selected);
  if (!is_writable(selected.directory) || !is_writable(reason)) return;
  const std::string start = refusal_start(selected);
  const std::string ending = "\t" + selected.directory.native();
  m_changes.push_back({start, ending, {}, start + reason + ending});
}

// A toolkit may be refused in one project and exempted in another, so each has a line of its own.
std::string GateCache::refusal_start(const Selected& selected) const {
  const core::Selection view = selected.view();
  auto& conditions = m_record->conditions();
  return fmt::format("refuse {:016x} {:016x} ", conditions.toolkit_fingerprint(view.directory),
                     conditions.exemption_condition(view));
}

std::vector<std::string> GateCache::merged(std::vector<std::string> lines) const {
  for (const Change& change : m_changes) {
    // What is there already keeps its place, so that nothing is written for it.
    if (!change.put_in.empty() && std::find(lines.begin(), lines.end(), change.put_in) != lines.end()) continue;
    std::erase_if(lines, [&](const std::string& line) {
      return line.starts_with(change.taken_out) && line.ends_with(change.ending) &&
             (change.kept.empty() || !line.starts_with(change.kept));
    });
    if (!change.put_in.empty()) lines.push_back(change.put_in);
  }
  // Nobody takes out those of a project that is gone.
  while (std::count_if(lines.begin(), lines.end(), is_refusal) > k_most_refusals)
    lines.erase(std::find_if(lines.begin(), lines.end(), is_refusal));
  return lines;
}

Result<base::Path> GateCache::directory() {
  if (!m_record->find_directory() && ::mkdir(m_record->path().c_str(), 0700) != 0 && errno != EEXIST)
    return fail(base::file_error("create", m_record->path().view(), errno));
  if (m_record->find_directory()) return base::Path(m_record->path().view());
  return fail(ErrorKind::filesystem,
              fmt::format("{} is not a directory of this user alone", base::escaped(m_record->path().view())));
}

Result<void> GateCache::save() {
  // Most of the time the record says it all already, and there is nothing to lock and to read again.
  if (m_facts.empty() && merged(m_lines) == m_lines) return {};
  CUDAENV_TRY(place, directory());
  const base::Fd lock(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock_for_a_moment(lock);

  const std::string known = facts_in(m_lines);
  load();
  std::vector<std::string> lines = m_lines;
  if (m_facts.empty() && facts_in(lines) != known) return {};  // decided on facts that hold no more
  if (!m_facts.empty()) {
    if (facts_in(lines) == facts_in(m_facts))
      std::erase_if(lines, is_learnt);
    else
      lines.clear();
    lines.insert(lines.begin(), m_facts.begin(), m_facts.end());
  }
  const std::string content = content_of(merged(std::move(lines)));
  const std::string present = std::string(core::k_gate_record_head) + std::string(m_record->text());
  if (content == present) return {};
  if (content.empty()) return fail(ErrorKind::filesystem, "what is known of this machine is too much for a record");
  if (!m_record->find_directory() || !m_record->append_name())
    return fail(ErrorKind::filesystem, fmt::format("{} is too long a path", base::escaped(place.native())));
  const base::Path file(m_record->path().view());
  if (!base::path_exists(file)) remove_old_records(place, m_system.now());
  remove_unless_own(file);
  if (content.find("\nrefuse ") != std::string::npos) {
    const base::Path sign(place.native() + std::string(core::k_refusals_name));
    if (!base::path_exists(sign)) CUDAENV_CHECK(base::write_file(sign, "", 0600, base::Durable::no));
  }
  CUDAENV_CHECK(base::write_file(file, content, 0600, base::Durable::no));
  m_facts.clear();
  m_changes.clear();
  load();
  return {};
}

std::optional<base::FileLock> GateCache::lock_asking(int deadline_seconds) {
  const auto place = directory();
  if (!place) return std::nullopt;
  auto lock = base::FileLock::acquire(
      *place / k_lock_name, [](long) {}, deadline_seconds);
  if (!lock) return std::nullopt;
  return std::move(*lock);
}

std::optional<base::FileLock> GateCache::try_lock_asking() {
  const auto place = directory();
  if (!place) return std::nullopt;
  auto lock = base::FileLock::try_acquire(*place / k_lock_name);
  return lock ? std::move(*lock) : std::nullopt;
}

}  // namespace cudaenv::store
