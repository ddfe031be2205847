// SPDX-License-Identifier: Apache-2.0
#include "store/gate_cache.hpp"

#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env_names.hpp"
#include "root_fixture.hpp"

namespace cudaenv::store {
namespace {

using Architectures = std::vector<std::uint16_t>;

constexpr const char* k_reason = "it needs a driver of 525 or newer; 470 is here";
constexpr std::string_view k_facts = "driver 550.54.14\ngpu 0 8.6\n";

// Records lie in a runtime directory of the test's own.
class GateCacheTest : public test::TwoRoots {
 protected:
  GateCacheTest() {
    const base::Path runtime = m_scratch.directory("run");
    ::chmod(runtime.c_str(), 0700);
    for (const char* name : variables_of_a_record()) remember(name);
    ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    // Circumstances that no other process has: records of this user may lie in /tmp.
    ::setenv(env_names::k_driver_path, runtime.c_str(), 1);
  }
  ~GateCacheTest() override {
    for (const auto& [name, value] : m_former)
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
  }

  GateCache cache() const { return GateCache(m_roots); }

  Selected selected(const base::Path& directory, std::string_view word = "12.4") const {
    Selected selected;
    selected.status = core::SelectionStatus::selected;
    selected.origin = core::OriginKind::project_file;
    selected.origin_path = m_scratch / "project/.cuda-version";
    selected.word = word;
    selected.name = directory.filename();
    selected.directory = directory;
    return selected;
  }
  base::Path directory(std::string_view name) const { return m_scratch.directory(name); }
  // As a shim reads it.
  bool allows(const Selected& selected) const {
    PosixSystem system;
    const core::Roots roots = m_roots.for_selection();
    const auto record = std::make_unique<core::GateRecord<PosixSystem>>(system, roots);
    return record->load() && record->allows(selected.view());
  }
  bool allows(const base::Path& toolkit) const { return allows(selected(toolkit)); }
  std::string refusal(const Selected& selected) const {
    PosixSystem system;
    const core::Roots roots = m_roots.for_selection();
    const auto record = std::make_unique<core::GateRecord<PosixSystem>>(system, roots);
    return record->load() ? std::string(record->refusal(selected.view())) : std::string();
  }
  void refuse(const Selected& selected, const std::string& reason = k_reason) const {
    GateCache cache = this->cache();
    cache.refuse(selected, reason);
    expect_saved(cache);
  }
  void allow(const base::Path& toolkit, Basis basis = Basis::facts_alone) const {
    GateCache cache = this->cache();
    cache.allow(selected(toolkit), basis);
    expect_saved(cache);
  }
  static void expect_saved(GateCache& cache) {
    const auto saved = cache.save();
    EXPECT_TRUE(saved) << test::told(saved.error());
  }

  base::Path place() const { return m_scratch / "run/cudaenv"; }
  std::vector<std::string> names() const {
    auto names = base::list_directory(place());
    if (!names) return {};
    std::erase_if(*names, [](const std::string& name) { return name.starts_with('.'); });  // no records
    return *names;
  }
  // The only record.
  base::Path record() const {
    const std::vector<std::string> names = this->names();
    EXPECT_EQ(names.size(), 1u);
    return names.empty() ? base::Path() : place() / names.front();
  }
  mode_t mode_of(const base::Path& path) const {
    struct stat info = {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }

 private:
  static std::vector<const char*> variables_of_a_record() {
    std::vector<const char*> names(std::begin(env_names::k_of_the_gate), std::end(env_names::k_of_the_gate));
    names.push_back("XDG_RUNTIME_DIR");
    return names;
  }
  void remember(const char* name) {
    const char* value = ::getenv(name);
    m_former.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> m_former;
};

// --- Round trips ---

TEST_F(GateCacheTest, knows_nothing_at_first_and_writes_no_record_by_itself) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  EXPECT_EQ(cache.observation(), std::nullopt);
  EXPECT_EQ(cache.architectures(toolkit), std::nullopt);
  EXPECT_FALSE(allows(toolkit));
  expect_saved(cache);
  EXPECT_TRUE(names().empty());
}

TEST_F(GateCacheTest, gives_back_what_was_put_in) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  cache.set_architectures(toolkit, {50, 86, 90});
  cache.allow(selected(toolkit), Basis::facts_alone);
  cache.set_automatic(toolkit);
  expect_saved(cache);

  const GateCache again = this->cache();
  EXPECT_EQ(again.observation(), k_facts);
  EXPECT_EQ(again.architectures(toolkit), (Architectures{50, 86, 90}));
  EXPECT_TRUE(allows(toolkit));
  EXPECT_NE(test::content_of(record()).find("\nauto "), std::string::npos);
}

TEST_F(GateCacheTest, is_of_the_user_alone) {
  allow(add_toolkit(m_roots.own, "12.4.1"));
  EXPECT_EQ(mode_of(place()), 0700u);
  EXPECT_EQ(mode_of(record()), 0600u);
}

TEST_F(GateCacheTest, shims_lines_come_first) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 600);
  cache.set_architectures(toolkit, {86});
  cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  const std::string content = test::content_of(record());
  EXPECT_TRUE(content.starts_with("cudaenv-gate 1\nuntil ")) << content;
  EXPECT_LT(content.find("\nallow "), content.find("\nfact "));
  EXPECT_LT(content.find("\nallow "), content.find("\narchitectures "));
}

TEST_F(GateCacheTest, what_was_set_twice_is_there_once) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  for (const std::uint16_t code : Architectures{80, 90}) {
    GateCache cache = this->cache();
    cache.set_architectures(toolkit, {code});
    cache.allow(selected(toolkit), Basis::facts_alone);
    cache.set_automatic(toolkit);
    expect_saved(cache);
  }
  const std::string content = test::content_of(record());
  for (const char* kind : {"\nallow ", "\nauto ", "\narchitectures "})
    EXPECT_EQ(content.find(kind), content.rfind(kind)) << content;
  EXPECT_EQ(cache().architectures(toolkit), Architectures{90});
}

TEST_F(GateCacheTest, a_new_observation_ends_all_decisions) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  cache.set_architectures(toolkit, {86});
  cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  cache.set_observation("driver 580.65.06\n", {}, 0);
  expect_saved(cache);
  EXPECT_EQ(this->cache().observation(), "driver 580.65.06\n");
  EXPECT_FALSE(allows(toolkit));
}

// As `local` does, which asks the machine anew.
TEST_F(GateCacheTest, the_same_observation_ends_none) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  cache.set_architectures(toolkit, {86});
  cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  GateCache again = this->cache();
  again.set_observation(k_facts, {}, 600);
  expect_saved(again);
  EXPECT_TRUE(allows(toolkit));
  EXPECT_EQ(this->cache().architectures(toolkit), Architectures{86});
}

TEST_F(GateCacheTest, knows_what_it_was_told_once_it_is_saved) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  cache.set_architectures(toolkit, {86});
  EXPECT_EQ(cache.observation(), k_facts);
  expect_saved(cache);
  EXPECT_EQ(cache.observation(), k_facts);
  EXPECT_EQ(cache.architectures(toolkit), Architectures{86});
  cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  EXPECT_TRUE(allows(toolkit));
}

TEST_F(GateCacheTest, what_is_there_already_is_not_written_again) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  struct stat before = {};
  struct stat after = {};
  ASSERT_EQ(::stat(record().c_str(), &before), 0);
  allow(toolkit);
  ASSERT_EQ(::stat(record().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(GateCacheTest, disallowing_ends_every_allowance_of_that_toolkit) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  const base::Path other = add_toolkit(m_roots.own, "12.8.1");
  for (const Basis basis : {Basis::facts_alone, Basis::settings, Basis::exemption}) allow(toolkit, basis);
  allow(other);
  GateCache cache = this->cache();
  cache.disallow(selected(toolkit));
  expect_saved(cache);
  EXPECT_FALSE(allows(toolkit));
  EXPECT_TRUE(allows(other));
}

// --- Refusals ---

TEST_F(GateCacheTest, keeps_why_a_toolkit_was_refused) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  EXPECT_EQ(refusal(selected(toolkit)), "");
  refuse(selected(toolkit));
  EXPECT_EQ(refusal(selected(toolkit)), k_reason);
  EXPECT_FALSE(allows(toolkit));
  refuse(selected(toolkit), "for another reason");
  EXPECT_EQ(refusal(selected(toolkit)), "for another reason");
}

TEST_F(GateCacheTest, that_there_was_a_refusal_can_be_seen_without_reading_a_record) {
  const base::Path toolkit = directory("toolkit");
  const auto is_seen = [&]() {
    // Not in the other place, where this user may have had one.
    return base::path_exists(place().native() + std::string(core::k_refusals_name));
  };
  EXPECT_FALSE(is_seen());
  GateCache cache = this->cache();
  cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  EXPECT_FALSE(is_seen());
  refuse(selected(toolkit));
  EXPECT_TRUE(is_seen());
  PosixSystem system;
  core::PathText path;
  EXPECT_TRUE(core::has_refusals(system, path));
}

TEST_F(GateCacheTest, a_refusal_that_is_there_already_is_not_written_again) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  refuse(selected(toolkit));
  struct stat before = {};
  struct stat after = {};
  ASSERT_EQ(::stat(record().c_str(), &before), 0);
  refuse(selected(toolkit));
  ASSERT_EQ(::stat(record().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(GateCacheTest, refusal_and_permission_end_each_other) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  for (const Basis basis : {Basis::facts_alone, Basis::settings, Basis::exemption}) {
    refuse(selected(toolkit));
    EXPECT_FALSE(allows(toolkit));
    allow(toolkit, basis);
    EXPECT_TRUE(allows(toolkit));
    EXPECT_EQ(refusal(selected(toolkit)), "");
  }
  refuse(selected(toolkit));
  GateCache cache = this->cache();
  cache.disallow(selected(toolkit));
  expect_saved(cache);
  EXPECT_EQ(refusal(selected(toolkit)), "");
}

TEST_F(GateCacheTest, a_refusal_is_for_one_toolkit_and_one_version_file) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  const base::Path other = add_toolkit(m_roots.own, "12.8.1");
  Selected elsewhere = selected(toolkit);
  elsewhere.origin_path = m_scratch / "elsewhere/.cuda-version";
  refuse(selected(toolkit));
  EXPECT_EQ(refusal(selected(other)), "");
  EXPECT_EQ(refusal(elsewhere), "");
  EXPECT_EQ(refusal(selected(toolkit, "12")), "");
  refuse(elsewhere, "there too");
  EXPECT_EQ(refusal(elsewhere), "there too");
  EXPECT_EQ(refusal(selected(toolkit)), k_reason);
}

TEST_F(GateCacheTest, a_refusal_in_one_project_leaves_an_exemption_of_another) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  Selected elsewhere = selected(toolkit);
  elsewhere.origin_path = m_scratch / "elsewhere/.cuda-version";
  GateCache cache = this->cache();
  cache.allow(elsewhere, Basis::exemption);
  expect_saved(cache);
  refuse(selected(toolkit));
  EXPECT_TRUE(allows(elsewhere));
  EXPECT_FALSE(allows(toolkit));
  refuse(elsewhere);
  EXPECT_FALSE(allows(elsewhere));
}

TEST_F(GateCacheTest, refusals_of_many_projects_do_not_pile_up) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  const base::Path other = add_toolkit(m_roots.own, "12.8.1");
  allow(other);
  Selected project = selected(toolkit);
  for (int i = 0; i < 40; ++i) {
    project.origin_path = m_scratch / fmt::format("{}/.cuda-version", i);
    refuse(project);
  }
  EXPECT_EQ(refusal(project), k_reason);
  EXPECT_TRUE(allows(other));
  project.origin_path = m_scratch / "0/.cuda-version";
  EXPECT_EQ(refusal(project), "");
}

TEST_F(GateCacheTest, a_refusal_ends_with_what_it_rests_on) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  const std::pair<base::Path, std::string> changes[] = {
      {m_roots.own.path / "config.toml", "gate.mode = \"off\"\n"},
      {m_scratch / "project/.cudaenv.toml", "gate.mode = \"warn\"\n"},
      {m_roots.own.path / "exemptions.json", "[]"},
      {toolkit / "bin/nvcc", "another\n"},
  };
  directory("project");
  for (const auto& [file, content] : changes) {
    refuse(selected(toolkit));
    EXPECT_EQ(refusal(selected(toolkit)), k_reason);
    ASSERT_TRUE(base::write_file(file, content));
    EXPECT_EQ(refusal(selected(toolkit)), "") << file;
  }
}

TEST_F(GateCacheTest, a_reason_that_would_be_two_lines_is_not_kept) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  refuse(selected(toolkit), "one\nallow all");
  EXPECT_EQ(refusal(selected(toolkit)), "");
}

// --- Libraries ---

TEST_F(GateCacheTest, ends_with_the_libraries_it_was_learnt_from) {
  const base::Path library = m_scratch.file("libcuda.so.1", "550");
  const base::Path absent = m_scratch / "libcuda of wsl.so.1";
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  const auto learn = [&] {
    GateCache cache = this->cache();
    cache.set_observation(k_facts, {library.native(), absent.native()}, 0);
    cache.allow(selected(toolkit), Basis::facts_alone);
    expect_saved(cache);
    EXPECT_TRUE(allows(toolkit));
    EXPECT_EQ(this->cache().observation(), k_facts);
  };
  learn();
  ASSERT_TRUE(base::write_file(library, "580"));
  EXPECT_FALSE(allows(toolkit));
  EXPECT_EQ(cache().observation(), std::nullopt);
  learn();
  m_scratch.file("libcuda of wsl.so.1", "580");
  EXPECT_FALSE(allows(toolkit));
  learn();
  ASSERT_EQ(::unlink(library.c_str()), 0);
  EXPECT_FALSE(allows(toolkit));
}

TEST_F(GateCacheTest, an_allowance_ends_with_what_it_rests_on) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  m_scratch.directory("project");
  allow(toolkit, Basis::settings);
  EXPECT_TRUE(allows(toolkit));
  ASSERT_TRUE(base::write_file(m_scratch / "project/.cudaenv.toml", "[gate]\nlimited = \"refuse\"\n"));
  EXPECT_FALSE(allows(toolkit));
  allow(toolkit, Basis::exemption);
  EXPECT_TRUE(allows(toolkit));
  EXPECT_FALSE(allows(selected(toolkit, "12")));
  ASSERT_TRUE(base::write_file(m_roots.own.path / "exemptions.json", "[]"));
  EXPECT_FALSE(allows(toolkit));
}

// --- Architectures ---

TEST_F(GateCacheTest, architectures_that_a_toolkit_does_not_say_are_remembered_too) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_architectures(toolkit, {});
  expect_saved(cache);
  EXPECT_EQ(this->cache().architectures(toolkit), Architectures());
}

TEST_F(GateCacheTest, architectures_are_those_of_one_directory) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  const base::Path other = add_toolkit(m_roots.own, "12.4.10");
  GateCache cache = this->cache();
  cache.set_architectures(toolkit, {86});
  EXPECT_EQ(cache.architectures(other), std::nullopt);
  EXPECT_EQ(cache.architectures(toolkit.native() + "/"), std::nullopt);
  expect_saved(cache);
  ASSERT_TRUE(base::rename_path(toolkit, m_scratch / "moved"));
  ASSERT_TRUE(base::rename_path(other, toolkit));
  EXPECT_EQ(this->cache().architectures(toolkit), std::nullopt);
}

TEST_F(GateCacheTest, broken_architectures_are_asked_again) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  cache.set_architectures(toolkit, {86});
  expect_saved(cache);
  const base::Path file = record();
  const std::string good = test::content_of(file);
  for (const char* list : {"", ",", "86,", ",86", "86,x", "x", "99999", "-1", "86;90", "8 6", "--", "86 "}) {
    std::string bad = good;
    bad.replace(bad.find(" 86 ") + 1, 2, list);
    ASSERT_TRUE(base::write_file(file, bad));
    EXPECT_EQ(this->cache().architectures(toolkit), std::nullopt) << list;
  }
  ASSERT_TRUE(base::write_file(file, good));
  EXPECT_EQ(this->cache().architectures(toolkit), Architectures{86});
}

// --- Lifetime ---

TEST_F(GateCacheTest, is_believed_for_its_lifetime) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  const std::int64_t before = ::time(nullptr);
  cache.set_observation(k_facts, {}, 600);
  cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  EXPECT_EQ(this->cache().observation(), k_facts);
  EXPECT_TRUE(allows(toolkit));
  const base::Path file = record();
  const std::string content = test::content_of(file);
  const std::int64_t until = std::stoll(content.substr(content.find("until ") + 6));
  EXPECT_GE(until, before + 600);
  EXPECT_LE(until, ::time(nullptr) + 600);

  std::string old = content;
  old.replace(old.find(fmt::format("until {}", until)), 16, fmt::format("until {}", before));
  ASSERT_TRUE(base::write_file(file, old));
  EXPECT_EQ(this->cache().observation(), std::nullopt);
  EXPECT_FALSE(allows(toolkit));
}

TEST_F(GateCacheTest, what_is_added_does_not_live_longer) {
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 600);
  expect_saved(cache);
  const std::string first = test::content_of(record());
  allow(add_toolkit(m_roots.own, "12.4.1"));
  const std::string second = test::content_of(record());
  const auto until = [](const std::string& text) { return text.substr(text.find("until "), 16); };
  EXPECT_EQ(until(first), until(second));
}

TEST_F(GateCacheTest, without_a_lifetime_it_has_no_end) {
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 600);
  cache.set_observation(k_facts, {}, 0);
  expect_saved(cache);
  EXPECT_EQ(test::content_of(record()).find("until"), std::string::npos);
}

// --- Circumstances ---

TEST_F(GateCacheTest, each_set_of_circumstances_has_a_record) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  allow(toolkit);
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_FALSE(allows(toolkit));
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  expect_saved(cache);
  EXPECT_EQ(names().size(), 2u);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(allows(toolkit));
  EXPECT_EQ(this->cache().observation(), std::nullopt);
}

TEST_F(GateCacheTest, records_of_old_jobs_are_removed_once_there_are_many) {
  allow(add_toolkit(m_roots.own, "12.4.1"));
  const timespec two_days_ago[] = {{::time(nullptr) - 48 * 3600, 0}, {::time(nullptr) - 48 * 3600, 0}};
  const auto add_old = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const base::Path file = place() / fmt::format("gate-{:016x}", i);
      ASSERT_TRUE(base::write_file(file, "old"));
      ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), two_days_ago, 0), 0);
    }
  };
  add_old(10);
  ::setenv("CUDA_VISIBLE_DEVICES", "a job", 1);
  allow(add_toolkit(m_roots.own, "12.8.1"));
  EXPECT_EQ(names().size(), 12u);  // not yet many
  add_old(100);
  ::setenv("CUDA_VISIBLE_DEVICES", "another job", 1);
  allow(m_roots.own.toolkit("12.8.1"));
  EXPECT_EQ(names().size(), 3u);
}

TEST_F(GateCacheTest, nothing_but_records_is_ever_removed) {
  allow(add_toolkit(m_roots.own, "12.4.1"));
  const timespec long_ago[] = {{::time(nullptr) - 999 * 3600, 0}, {::time(nullptr) - 999 * 3600, 0}};
  const auto add = [&](const std::string& name) {
    ASSERT_TRUE(base::write_file(place() / name, "old"));
    ASSERT_EQ(::utimensat(AT_FDCWD, (place() / name).c_str(), long_ago, 0), 0);
  };
  for (int i = 0; i < 100; ++i) add(fmt::format("gate-{:016x}", i));
  add("gate-0123456789abcdef.tmp-1");  // what a killed writer left
  const std::vector<std::string> others = {"gate",
                                           "gate-",
                                           "gate-notes",
                                           "gate-0123456789abcde",
                                           "mine",
                                           "gate-x.tmp",
                                           "gate-0123456789ABCDEF",
                                           "xgate-0123456789abcdef",
                                           ".asking",
                                           "gate_0123456789abcdef"};
  for (const std::string& name : others) add(name);
  ASSERT_TRUE(base::make_directories(place() / "gate-00000000000000ff"));
  ::setenv("CUDA_VISIBLE_DEVICES", "a job", 1);
  allow(m_roots.own.toolkit("12.4.1"));
  for (const std::string& name : others) EXPECT_TRUE(base::path_exists(place() / name)) << name;
  EXPECT_FALSE(base::path_exists(place() / "gate-0000000000000001"));
  EXPECT_FALSE(base::path_exists(place() / "gate-0123456789abcdef.tmp-1"));
  EXPECT_TRUE(base::path_exists(place() / "gate-00000000000000ff"));
}

TEST_F(GateCacheTest, records_of_today_stay_however_many) {
  allow(add_toolkit(m_roots.own, "12.4.1"));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(base::write_file(place() / fmt::format("gate-{:016x}", i), "new"));
  ::setenv("CUDA_VISIBLE_DEVICES", "a job", 1);
  allow(m_roots.own.toolkit("12.4.1"));
  EXPECT_EQ(names().size(), 102u);
}

// --- Limits ---

TEST_F(GateCacheTest, of_many_toolkits_the_oldest_make_way) {
  std::vector<base::Path> toolkits;
  for (int i = 0; i < 600; ++i) toolkits.push_back(directory(fmt::format("toolkits/{}", i)));
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  for (const base::Path& toolkit : toolkits) cache.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(cache);
  EXPECT_FALSE(allows(toolkits.front()));
  for (std::size_t i = 500; i < 600; ++i) EXPECT_TRUE(allows(toolkits[i])) << i;
  EXPECT_EQ(this->cache().observation(), k_facts);
}

TEST_F(GateCacheTest, of_many_toolkits_one_by_one_the_last_are_known) {
  std::vector<base::Path> toolkits;
  for (int i = 0; i < 400; ++i) toolkits.push_back(directory(fmt::format("toolkits/{}", i)));
  for (const base::Path& toolkit : toolkits) {
    GateCache cache = this->cache();
    cache.set_architectures(toolkit, {50, 52, 60, 61, 70, 75, 80, 86, 89, 90});
    cache.allow(selected(toolkit), Basis::facts_alone);
    expect_saved(cache);
  }
  for (std::size_t i = 390; i < 400; ++i) {
    EXPECT_TRUE(allows(toolkits[i])) << i;
    EXPECT_NE(cache().architectures(toolkits[i]), std::nullopt) << i;
  }
}

TEST_F(GateCacheTest, of_many_projects_the_last_are_known) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache cache = this->cache();
  std::vector<Selected> all;
  for (int i = 0; i < 600; ++i) {
    all.push_back(selected(toolkit));
    all.back().origin_path = fmt::format("/srv/projects/{}/.cuda-version", i);
    cache.allow(all.back(), Basis::exemption);
  }
  expect_saved(cache);
  EXPECT_TRUE(allows(all.back()));
  EXPECT_FALSE(allows(all.front()));
}

TEST_F(GateCacheTest, it_never_grows_beyond_what_is_read) {
  const std::string long_name(200, 'x');
  base::Path above = m_scratch.path();
  for (int i = 0; i < 4; ++i) above /= long_name;
  base::Path last;
  for (int i = 0; i < 130; ++i) {
    last = above / std::to_string(i);
    ASSERT_TRUE(base::make_directories(last));
    allow(last);
    ASSERT_LT(std::filesystem::file_size(record()), core::k_largest_gate_record);
    ASSERT_TRUE(allows(last)) << i;
  }
}

TEST_F(GateCacheTest, an_observation_that_is_too_large_is_an_error) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  const std::string before = test::content_of(record());
  GateCache cache = this->cache();
  cache.set_observation(std::string(core::k_largest_gate_record, 'x'), {}, 0);
  const auto saved = cache.save();
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(saved.error().message, "what is known of this machine is too much for a record");
  EXPECT_EQ(test::content_of(record()), before);
}

// --- Names ---

class GateCacheName : public GateCacheTest, public testing::WithParamInterface<const char*> {};

TEST_P(GateCacheName, of_a_directory_is_kept_whole) {
  const base::Path toolkit = directory(GetParam());
  GateCache cache = this->cache();
  cache.allow(selected(toolkit), Basis::facts_alone);
  cache.set_architectures(toolkit, {86});
  expect_saved(cache);
  EXPECT_TRUE(allows(toolkit));
  EXPECT_EQ(this->cache().architectures(toolkit), Architectures{86});
}

struct NameNumber {
  std::string operator()(const testing::TestParamInfo<const char*>& row) const { return std::to_string(row.index); }
};
INSTANTIATE_TEST_SUITE_P(All, GateCacheName,
                         testing::Values("a b", " ", "a  b ", "- x", "12.4.1\r", "\xff\xfe", "\t", "\x1b[2J",
                                         "\"'$(x)"),
                         NameNumber());

TEST_F(GateCacheTest, a_directory_with_a_line_end_in_its_name_is_never_known) {
  const base::Path forged = directory("forged");
  GateCache former = cache();
  former.set_observation(k_facts, {}, 0);
  former.allow(selected(forged), Basis::facts_alone);
  expect_saved(former);
  const std::string content = test::content_of(record());
  const std::string line = content.substr(content.find("allow "), content.find('\n', content.find("allow ")) - 15);
  ASSERT_EQ(::unlink(record().c_str()), 0);

  // Its second line would allow what nobody allowed.
  const base::Path toolkit = m_scratch.path().native() + "/x\n" + line;
  ASSERT_TRUE(base::make_directories(toolkit));
  GateCache cache = this->cache();
  cache.set_observation(k_facts, {}, 0);
  cache.allow(selected(toolkit), Basis::facts_alone);
  cache.set_architectures(toolkit, {86});
  cache.set_automatic(toolkit);
  expect_saved(cache);
  EXPECT_FALSE(allows(toolkit));
  EXPECT_FALSE(allows(forged));
  EXPECT_EQ(this->cache().architectures(toolkit), std::nullopt);
  EXPECT_EQ(test::content_of(record()).find("forged"), std::string::npos);
}

TEST_F(GateCacheTest, two_names_of_one_directory_are_both_known) {
  const base::Path toolkit = directory("cuda");
  const base::Path link = toolkit.native() + "-12";
  ASSERT_TRUE(base::make_link(toolkit, link));
  allow(link);
  allow(toolkit);
  EXPECT_TRUE(allows(toolkit));
  EXPECT_TRUE(allows(link));
}

// --- Places ---

TEST_F(GateCacheTest, takes_the_place_of_whatever_lies_there) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  const base::Path file = record();
  for (const char* content : {"", "nonsense", "cudaenv-gate 1\nuntil 0\n", "cudaenv-gate 2\nallow\n"}) {
    ASSERT_TRUE(base::write_file(file, content));
    EXPECT_FALSE(allows(toolkit)) << content;
    allow(toolkit);
    EXPECT_TRUE(allows(toolkit)) << content;
  }
}

TEST_F(GateCacheTest, one_that_others_may_write_is_replaced_by_one_that_counts) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  ASSERT_EQ(::chmod(record().c_str(), 0666), 0);
  EXPECT_FALSE(allows(toolkit));
  allow(toolkit);
  EXPECT_TRUE(allows(toolkit));
}

TEST_F(GateCacheTest, a_link_is_replaced_and_what_it_points_to_is_left_alone) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  const base::Path file = record();
  const base::Path other = m_scratch.file("other", "mine");
  ASSERT_EQ(::unlink(file.c_str()), 0);
  ASSERT_TRUE(base::make_link(other, file));
  allow(toolkit);
  EXPECT_EQ(test::content_of(other), "mine");
  EXPECT_TRUE(allows(toolkit));
}

TEST_F(GateCacheTest, a_directory_in_its_place_is_an_error) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  const base::Path file = record();
  ASSERT_EQ(::unlink(file.c_str()), 0);
  ASSERT_TRUE(base::make_directories(file));
  GateCache cache = this->cache();
  cache.allow(selected(toolkit), Basis::facts_alone);
  const auto saved = cache.save();
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(names().size(), 1u);  // nothing half-done beside it
}

// Runs `f` in a process of its own whose /tmp is read-only or not there; 77 if that cannot be had.
template <class F>
int status_without_tmp(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/tmp", "tmpfs", MS_RDONLY, "mode=755") != 0)
      ::_exit(77);
    ::_exit(f());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_F(GateCacheTest, where_nothing_can_be_written_that_is_an_error_and_nothing_is_known) {
  ::setenv("XDG_RUNTIME_DIR", "/proc", 1);
  const int status = status_without_tmp([&] {
    GateCache cache = this->cache();
    cache.set_observation(k_facts, {}, 0);
    const auto saved = cache.save();
    if (saved) return 1;
    if (saved.error().kind != ErrorKind::filesystem) return 2;
    if (saved.error().message.find(fmt::format("/tmp/cudaenv-{}", ::geteuid())) == std::string::npos) return 3;
    return cache.observation() == k_facts ? 0 : 4;
  });
  if (status == 77) GTEST_SKIP() << "no mount namespaces for this user";
  EXPECT_EQ(status, 0);
}

TEST_F(GateCacheTest, a_runtime_directory_of_others_is_not_used) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  for (const mode_t mode : {0750, 0701, 0777}) {
    ASSERT_EQ(::chmod(place().c_str(), mode), 0);
    EXPECT_FALSE(allows(toolkit)) << mode;
  }
  ASSERT_EQ(::chmod(place().c_str(), 0700), 0);
  EXPECT_TRUE(allows(toolkit));
  ASSERT_TRUE(base::rename_path(place(), m_scratch / "moved"));
  ASSERT_TRUE(base::make_link(m_scratch / "moved", place()));
  EXPECT_FALSE(allows(toolkit));
}

TEST_F(GateCacheTest, a_runtime_directory_of_another_user_is_not_used) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make directories of others";
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  allow(toolkit);
  ASSERT_TRUE(allows(toolkit));
  ASSERT_EQ(::chown((m_scratch / "run").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(allows(toolkit));
  EXPECT_EQ(cache().observation(), std::nullopt);
  // Nor is anything made in it.
  ASSERT_EQ(::unlink(record().c_str()), 0);
  ASSERT_EQ(::rmdir(place().c_str()), 0);
  const int status = status_without_tmp([&] {
    GateCache cache = this->cache();
    cache.allow(selected(toolkit), Basis::facts_alone);
    return cache.save() ? 1 : 0;
  });
  EXPECT_TRUE(status == 0 || status == 77) << status;
  EXPECT_FALSE(base::path_exists(place()));
}

// --- At once ---

TEST_F(GateCacheTest, writers_at_once_leave_a_whole_record_and_no_litter) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache first = cache();
  first.set_observation(k_facts, {}, 0);
  first.allow(selected(toolkit), Basis::facts_alone);
  expect_saved(first);
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 4; ++writer) {
    const base::Path own = directory(fmt::format("toolkits/{}", writer));
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    int status = 0;
    for (int i = 0; i < 50 && status == 0; ++i) {
      GateCache cache = this->cache();
      // Whoever wrote last had read all of this.
      if (cache.observation() != k_facts || !allows(toolkit)) status = 1;
      cache.allow(selected(own), Basis::facts_alone);
      cache.set_architectures(own, {static_cast<std::uint16_t>(i)});
      if (!cache.save()) status = 2;
    }
    ::_exit(status);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    EXPECT_EQ(::waitpid(writer, &status, 0), writer);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(names().size(), 1u);
  EXPECT_TRUE(allows(toolkit));
  for (int writer = 0; writer < 4; ++writer) {  // and nothing was lost
    const base::Path own = m_scratch / fmt::format("toolkits/{}", writer);
    EXPECT_TRUE(allows(own)) << writer;
    EXPECT_EQ(cache().architectures(own), Architectures{49}) << writer;
  }
}

TEST_F(GateCacheTest, what_was_decided_on_facts_that_hold_no_more_is_not_kept) {
  const base::Path toolkit = add_toolkit(m_roots.own, "12.4.1");
  GateCache first = cache();
  first.set_observation(k_facts, {}, 0);
  expect_saved(first);
  GateCache late = cache();
  late.allow(selected(toolkit), Basis::facts_alone);
  GateCache other = cache();
  other.set_observation("driver none\n", {}, 0);
  expect_saved(other);
  expect_saved(late);
  EXPECT_FALSE(allows(toolkit));
  EXPECT_EQ(cache().observation(), "driver none\n");
}

TEST_F(GateCacheTest, one_asks_at_a_time) {
  GateCache first = cache();
  GateCache second = cache();
  {
    const auto lock = first.lock_asking(0);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(second.lock_asking(0));
  }
  EXPECT_TRUE(second.lock_asking(0));
}

}  // namespace
}  // namespace cudaenv::store
