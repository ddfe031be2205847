// SPDX-License-Identifier: Apache-2.0
#include "store/exemptions.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "root_fixture.hpp"

namespace cudaenv::store {
namespace {

class ExemptionsTest : public test::TwoRoots {
 protected:
  base::Path file() const { return m_roots.own.path / "exemptions.json"; }
  base::Path pin(std::string_view directory, std::string_view text = "13.0\n") const {
    const base::Path file = m_scratch.directory(directory) / ".cuda-version";
    EXPECT_TRUE(base::write_file(file, text));
    return file;
  }
  void write(std::string_view content) const {
    ASSERT_TRUE(base::make_directories(m_roots.own.path));
    ASSERT_TRUE(base::write_file(file(), content));
  }
  void record(const base::Path& path, std::string_view spec) const {
    const auto recorded = record_exemption(m_roots, {path, std::string(spec)});
    ASSERT_TRUE(recorded) << test::told(recorded.error());
  }
  bool drop(const base::Path& path) const {
    const auto dropped = drop_exemption(m_roots, path);
    EXPECT_TRUE(dropped) << test::told(dropped.error());
    return dropped && *dropped;
  }
  std::vector<Exemption> all() const {
    const auto exemptions = load_exemptions(m_roots);
    EXPECT_TRUE(exemptions) << test::told(exemptions.error());
    return exemptions ? *exemptions : std::vector<Exemption>();
  }
  bool is_exempt(const base::Path& path, std::string_view spec) const {
    Selected selected;
    selected.status = core::SelectionStatus::selected;
    selected.origin = core::OriginKind::project_file;
    selected.origin_path = path;
    selected.word = spec;
    return store::is_exempt(all(), selected);
  }
};

TEST_F(ExemptionsTest, none_at_first) {
  EXPECT_TRUE(all().empty());
  EXPECT_FALSE(is_exempt(pin("a"), "13.0"));
  EXPECT_FALSE(drop(pin("a")));
  EXPECT_FALSE(base::path_exists(m_roots.own.path));  // asking creates nothing
}

TEST_F(ExemptionsTest, one_is_for_one_spec_in_one_file) {
  const base::Path a = pin("a");
  const base::Path b = pin("b");
  record(a, "13.0");
  EXPECT_TRUE(is_exempt(a, "13.0"));
  for (const char* spec : {"13", "13.0.2", "13.1", "", " 13.0", "auto"}) EXPECT_FALSE(is_exempt(a, spec)) << spec;
  EXPECT_FALSE(is_exempt(b, "13.0"));
  EXPECT_FALSE(is_exempt("", "13.0"));
  EXPECT_FALSE(is_exempt("CUDAENV_VERSION", "13.0"));
}

TEST_F(ExemptionsTest, another_for_the_same_file_takes_its_place) {
  const base::Path a = pin("a");
  const base::Path b = pin("b");
  record(a, "13.0");
  record(b, "13.1");
  record(a, "12.9");
  EXPECT_EQ(all().size(), 2u);
  EXPECT_FALSE(is_exempt(a, "13.0"));
  EXPECT_TRUE(is_exempt(a, "12.9"));
  EXPECT_TRUE(is_exempt(b, "13.1"));
}

TEST_F(ExemptionsTest, dropping_the_last_leaves_no_file) {
  const base::Path a = pin("a");
  const base::Path b = pin("b");
  record(a, "13.0");
  record(b, "13.0");
  EXPECT_TRUE(drop(a));
  EXPECT_FALSE(is_exempt(a, "13.0"));
  EXPECT_TRUE(is_exempt(b, "13.0"));
  EXPECT_FALSE(drop(a));
  EXPECT_TRUE(drop(b));
  EXPECT_FALSE(base::path_exists(file()));
}

TEST_F(ExemptionsTest, can_be_dropped_when_the_version_file_is_gone) {
  const base::Path a = pin("a");
  record(a, "13.0");
  ASSERT_EQ(::unlink(a.c_str()), 0);
  EXPECT_TRUE(drop(a));
}

// --- By which path ---

TEST_F(ExemptionsTest, hold_by_every_path_to_the_file) {
  const base::Path a = pin("a");
  record(a, "13.0");
  ASSERT_TRUE(base::make_link(m_scratch / "a", m_scratch / "link"));
  EXPECT_TRUE(is_exempt(m_scratch / "link/.cuda-version", "13.0"));
  EXPECT_TRUE(is_exempt(m_scratch / "a/../a/.cuda-version", "13.0"));
  EXPECT_FALSE(is_exempt(m_scratch / "link/.cuda-version", "13"));
}

TEST_F(ExemptionsTest, recorded_by_a_link_they_hold_for_the_file) {
  const base::Path a = pin("a");
  ASSERT_TRUE(base::make_link(m_scratch / "a", m_scratch / "link"));
  record(m_scratch / "link/.cuda-version", "13.0");
  EXPECT_TRUE(is_exempt(a, "13.0"));
}

TEST_F(ExemptionsTest, are_replaced_and_dropped_by_every_path_too) {
  const base::Path a = pin("a");
  const base::Path by_link = m_scratch / "link/.cuda-version";
  ASSERT_TRUE(base::make_link(m_scratch / "a", m_scratch / "link"));
  record(a, "13.0");
  record(by_link, "12.9");
  EXPECT_EQ(all().size(), 1u);
  EXPECT_FALSE(is_exempt(a, "13.0"));
  record(a, "13.0");
  EXPECT_TRUE(drop(by_link));
  EXPECT_FALSE(is_exempt(a, "13.0"));
}

TEST_F(ExemptionsTest, a_copy_of_the_file_is_another_one) {
  record(pin("a"), "13.0");
  ASSERT_TRUE(base::rename_path(m_scratch / "a", m_scratch / "moved"));
  EXPECT_FALSE(is_exempt(m_scratch / "moved/.cuda-version", "13.0"));
  EXPECT_FALSE(is_exempt(pin("b"), "13.0"));
}

TEST_F(ExemptionsTest, by_another_path_they_can_be_replaced_and_dropped_when_the_version_file_is_gone) {
  const base::Path a = pin("a");
  const base::Path by_link = m_scratch / "link/.cuda-version";
  ASSERT_TRUE(base::make_link(m_scratch / "a", m_scratch / "link"));
  record(by_link, "13.0");
  ASSERT_EQ(::unlink(a.c_str()), 0);
  record(a, "12.9");
  ASSERT_EQ(all().size(), 1u);
  EXPECT_EQ(all().front().file, a);
  record(a, "13.0");
  EXPECT_TRUE(drop(by_link));
  EXPECT_TRUE(all().empty());
}

TEST_F(ExemptionsTest, another_file_of_the_same_directory_is_another_one) {
  const base::Path a = pin("a");
  record(a, "13.0");
  record(m_scratch / "a/version", "13.0");
  EXPECT_EQ(all().size(), 2u);
  EXPECT_TRUE(drop(m_scratch / "a/version"));
  EXPECT_TRUE(is_exempt(a, "13.0"));
}

TEST_F(ExemptionsTest, two_files_that_are_gone_are_not_the_same) {
  record("/nowhere/a/.cuda-version", "13.0");
  EXPECT_FALSE(is_exempt("/nowhere/b/.cuda-version", "13.0"));
  EXPECT_TRUE(is_exempt("/nowhere/a/.cuda-version", "13.0"));
}

class ExemptionNames : public ExemptionsTest, public testing::WithParamInterface<const char*> {};

TEST_P(ExemptionNames, of_files_are_kept_whole) {
  const base::Path a = pin(GetParam());
  record(a, "13.0");
  EXPECT_TRUE(is_exempt(a, "13.0"));
  EXPECT_TRUE(drop(a));
}

struct NameNumber {
  std::string operator()(const testing::TestParamInfo<const char*>& row) const { return std::to_string(row.index); }
};
INSTANTIATE_TEST_SUITE_P(All, ExemptionNames,
                         testing::Values("a b", "line\nend", "\"quoted\\\"", "\x1b[2J", "\xc3\xa9"), NameNumber());

// JSON cannot hold them.
TEST_F(ExemptionsTest, a_path_that_is_not_UTF_8_is_an_error_and_what_was_there_stays) {
  const base::Path a = pin("a");
  record(a, "13.0");
  const std::string before = test::content_of(file());
  const base::Path odd = pin("\xff\xfe");
  const auto recorded = record_exemption(m_roots, {odd, "13.0"});
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(recorded.error().message,
            fmt::format("no exemption can be kept for {}/\\xff\\xfe/.cuda-version: its name is "
                        "not UTF-8",
                        m_scratch.path().native()));
  EXPECT_EQ(recorded.error().hint, "export CUDAENV_GATE=off");
  EXPECT_EQ(test::content_of(file()), before);
  EXPECT_FALSE(is_exempt(odd, "13.0"));
  EXPECT_FALSE(drop(odd));
  EXPECT_TRUE(is_exempt(a, "13.0"));
}

// --- Broken files ---

TEST_F(ExemptionsTest, what_is_no_list_is_an_error_that_names_the_file_and_is_left_alone) {
  for (const char* content : {"", "{", "{}", "null", "[1]", "[[]]", "[{}]", R"([{"file": 1, "spec": "13"}])",
                              R"([{"file": "/a"}])", R"([{"spec": "13.0"}])", R"([{"file": "", "spec": "13.0"}])",
                              R"([{"file": "/a", "spec": ""}])", R"([{"file": "/a", "spec": "13.0"}, 2])", "[] []"}) {
    write(content);
    const auto loaded = load_exemptions(m_roots);
    const auto recorded = record_exemption(m_roots, {"/a/.cuda-version", "13.0"});
    const auto dropped = drop_exemption(m_roots, "/a/.cuda-version");
    ASSERT_FALSE(loaded || recorded || dropped) << content;
    for (const Error& error : {loaded.error(), recorded.error(), dropped.error()}) {
      EXPECT_EQ(error.kind, ErrorKind::config) << content;
      EXPECT_NE(error.message.find(file().native()), std::string::npos) << error.message;
      EXPECT_EQ(error.hint, "rm " + file().native());
    }
    EXPECT_EQ(test::content_of(file()), content);
  }
}

TEST_F(ExemptionsTest, an_empty_list_and_further_members_are_none) {
  write("[]");
  EXPECT_TRUE(all().empty());
  write(R"([{"file": "/a", "spec": "13.0", "why": "I know", "n": [1]}])");
  ASSERT_EQ(all().size(), 1u);
  EXPECT_TRUE(is_exempt("/a", "13.0"));
}

TEST_F(ExemptionsTest, those_of_the_shared_root_do_not_count) {
  ASSERT_TRUE(base::make_directories(m_roots.shared->path));
  ASSERT_TRUE(base::write_file(m_roots.shared->path / "exemptions.json", R"([{"file": "/a", "spec": "13.0"}])"));
  EXPECT_TRUE(all().empty());
}

TEST_F(ExemptionsTest, a_directory_in_its_place_is_an_error) {
  ASSERT_TRUE(base::make_directories(file()));
  const auto loaded = load_exemptions(m_roots);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::filesystem);
  EXPECT_FALSE(record_exemption(m_roots, {"/a", "13.0"}));
}

TEST_F(ExemptionsTest, a_root_that_cannot_be_is_an_error) {
  m_scratch.file("own", "in the way");
  const auto recorded = record_exemption(m_roots, {"/a", "13.0"});
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().kind, ErrorKind::filesystem);
}

// --- At once ---

TEST_F(ExemptionsTest, writers_at_once_lose_nothing) {
  constexpr int k_writers = 4;
  constexpr int k_each = 5;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < k_writers; ++writer) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    bool is_done = true;
    for (int i = 0; i < k_each; ++i)
      is_done = is_done && record_exemption(m_roots, {fmt::format("/{}/{}/.cuda-version", writer, i), "13.0"});
    ::_exit(is_done ? 0 : 1);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    EXPECT_EQ(::waitpid(writer, &status, 0), writer);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(all().size(), static_cast<std::size_t>(k_writers * k_each));
}

}  // namespace
}  // namespace cudaenv::store
