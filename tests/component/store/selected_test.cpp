// SPDX-License-Identifier: Apache-2.0
#include "store/selected.hpp"

#include <cstdlib>

#include <unistd.h>

#include "root_fixture.hpp"

namespace cudaenv::store {
namespace {

// The selection is that of the process: its working directory and CUDAENV_VERSION.
class SelectedTest : public test::TwoRoots {
 protected:
  void SetUp() override {
    ::unsetenv("CUDAENV_VERSION");
    ::unsetenv("PWD");
    add_toolkit(m_roots.own, "12.4.1");
    add_toolkit(m_roots.own, "12.8.1");
    add_toolkit(*m_roots.shared, "13.0.2");
    m_project = m_scratch.directory("project/deep");
    ASSERT_EQ(::chdir(m_project.c_str()), 0);
  }
  void TearDown() override {
    ::unsetenv("CUDAENV_VERSION");
    ASSERT_EQ(::chdir(m_former.c_str()), 0);
  }
  void pin(const base::Path& file, std::string_view text) { ASSERT_TRUE(base::write_file(file, text)); }

  base::Path m_former = std::filesystem::current_path();
  base::Path m_project;
};

TEST_F(SelectedTest, nothing_selects_the_system) {
  const Selected selected = current_selection(m_roots);
  EXPECT_FALSE(selected.is_toolkit());
  EXPECT_EQ(selected.status, core::SelectionStatus::system);
  EXPECT_EQ(selected.word, "system");
  EXPECT_EQ(selected.problem, std::nullopt);
}

TEST_F(SelectedTest, order_is_variable_project_global_shared) {
  pin(m_roots.shared->version_file(), "13\n");
  EXPECT_EQ(current_selection(m_roots).name, "13.0.2");
  EXPECT_EQ(current_selection(m_roots).directory, m_roots.shared->toolkit("13.0.2"));
  pin(m_roots.own.version_file(), "12.4\n");
  EXPECT_EQ(current_selection(m_roots).name, "12.4.1");
  pin(m_scratch / "project/.cuda-version", "# ours\n12\n");
  EXPECT_EQ(current_selection(m_roots).name, "12.8.1");
  ::setenv("CUDAENV_VERSION", "12.4.1", 1);
  EXPECT_EQ(current_selection(m_roots).name, "12.4.1");
}

TEST_F(SelectedTest, files_can_be_asked_alone) {
  pin(m_roots.own.version_file(), "12.4\n");
  pin(m_scratch / "project/.cuda-version", "12.8\n");
  ::setenv("CUDAENV_VERSION", "13", 1);
  EXPECT_EQ(current_selection(m_roots, Look::everywhere).name, "13.0.2");
  EXPECT_EQ(current_selection(m_roots, Look::project_files).name, "12.8.1");
  EXPECT_EQ(current_selection(m_roots, Look::root_files).name, "12.4.1");
}

TEST_F(SelectedTest, origin_is_the_file_and_its_line) {
  pin(m_scratch / "project/.cuda-version", "# ours\n\n12.8.1\n");
  const Selected selected = current_selection(m_roots);
  EXPECT_EQ(selected.origin, core::OriginKind::project_file);
  EXPECT_EQ(selected.origin_line, 3u);
  EXPECT_NE(selected.origin_text().find((m_scratch / "project/.cuda-version").native() + ":3"), std::string::npos)
      << selected.origin_text();
}

TEST_F(SelectedTest, missing_one_is_a_problem_of_its_own_kind) {
  pin(m_scratch / "project/.cuda-version", "11.8\n");
  const Selected selected = current_selection(m_roots);
  EXPECT_EQ(selected.status, core::SelectionStatus::not_installed);
  ASSERT_TRUE(selected.problem);
  EXPECT_EQ(selected.problem->kind, ErrorKind::not_installed);
  EXPECT_NE(selected.problem->message.find("11.8"), std::string::npos);
  EXPECT_EQ(selected.problem->hint, "cudaenv install 11.8");
}

TEST_F(SelectedTest, bad_text_is_a_problem_that_is_shown_harmlessly) {
  pin(m_scratch / "project/.cuda-version", "../../x\x1b[31m\n");
  const Selected selected = current_selection(m_roots);
  ASSERT_TRUE(selected.problem);
  EXPECT_EQ(selected.problem->kind, ErrorKind::config);
  EXPECT_EQ(test::told(*selected.problem).find('\x1b'), std::string::npos);
}

TEST_F(SelectedTest, warnings_are_kept) {
  pin(m_project / ".cuda-version", "\n");
  pin(m_scratch / "project/.cuda-version", "12.8.1 12.4.1\n");
  const Selected selected = current_selection(m_roots);
  EXPECT_EQ(selected.name, "12.8.1");
  EXPECT_EQ(selected.warnings.size(), 2u);
}

TEST_F(SelectedTest, spec_stands_for_the_newest_installed_one) {
  const auto name_of = [&](const char* spec) { return select_spec(m_roots, *core::parse_spec(spec)).name; };
  EXPECT_EQ(name_of("12"), "12.8.1");
  EXPECT_EQ(name_of("12.4"), "12.4.1");
  EXPECT_EQ(name_of("latest"), "13.0.2");
  EXPECT_EQ(name_of("system"), "");
  EXPECT_EQ(select_spec(m_roots, *core::parse_spec("11")).problem->kind, ErrorKind::not_installed);
}

}  // namespace
}  // namespace cudaenv::store
