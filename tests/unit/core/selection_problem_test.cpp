// SPDX-License-Identifier: Apache-2.0
#include "core/selection_problem.hpp"

#include <functional>
#include <memory>
#include <string>

#include "memory_system.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using test::MemorySystem;
using S = MemorySystem&;

constexpr const char* k_file = "/proj/.cuda-version";

std::string printed(const ProblemText& problem) {
  FixedText<32768> text;
  append_problem(text, problem);
  return std::string(text.view());
}

struct Row {
  const char* name;
  std::function<void(MemorySystem&)> arrange;
  std::string expected;
};

class SelectionProblem : public testing::TestWithParam<Row> {};

TEST_P(SelectionProblem, reads) {
  MemorySystem system;
  system.toolkit("/r", "12.4.1");
  system.toolkit("/r", "12.10.0");
  system.directory("/r/versions/12.11.0");
  system.enter("/proj");
  system.directory("/proj");
  GetParam().arrange(system);
  Roots roots;
  roots.own.assign("/r");
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  const auto problem = std::make_unique<ProblemText>();
  describe_problem(selector->select(), *selector, "Permission denied", *problem);
  EXPECT_EQ(printed(*problem), GetParam().expected);
}

const Row k_rows[] = {
    {"VER_07_missing_release", [](S s) { s.file(k_file, "\n11.8\n"); },
     "cudaenv: CUDA 11.8 is not installed (set by /proj/.cuda-version:2)\n"
     "  installed: 12.4.1, 12.10.0\n"
     "try: cudaenv install 11.8\n"},
    {"prefix_is_not_repeated", [](S s) { s.set("CUDAENV_VERSION", "cuda-11.8.0"); },
     "cudaenv: CUDA 11.8.0 is not installed (set by the variable CUDAENV_VERSION)\n"
     "  installed: 12.4.1, 12.10.0\n"
     "try: cudaenv install 11.8.0\n"},
    {"leftover_is_not_listed", [](S s) { s.set("CUDAENV_VERSION", "12.11"); },
     "cudaenv: CUDA 12.11 is not installed (set by the variable CUDAENV_VERSION)\n"
     "  installed: 12.4.1, 12.10.0\n"
     "try: cudaenv install 12.11\n"},
    {"missing_name",
     [](S s) {
       s.toolkit("/r", "site");
       s.file("/r/version", "mine");
     },
     "cudaenv: no toolkit is called mine (set by /r/version:1)\n"
     "  installed: site, 12.4.1, 12.10.0\n"
     "try: cudaenv adopt DIRECTORY --name mine\n"},
    {"VER_02_path", [](S s) { s.file(k_file, "../../tmp/x\n"); },
     "cudaenv: /proj/.cuda-version:1: \"../../tmp/x\" is not a version\n"
     "  expected " +
         std::string(k_spec_expected) +
         "\n"
         "try: cudaenv local VERSION\n"},
    {"VER_01_control_bytes_are_escaped", [](S s) { s.file(k_file, "\x1b[31m12\n"); },
     "cudaenv: /proj/.cuda-version:1: \"\\x1b[31m12\" is not a version\n"
     "  expected " +
         std::string(k_spec_expected) +
         "\n"
         "try: cudaenv local VERSION\n"},
    {"long_word_is_cut", [](S s) { s.set("CUDAENV_VERSION", std::string(60000, '1')); },
     "cudaenv: CUDAENV_VERSION: \"" + std::string(80, '1') +
         "...\" is not a version\n"
         "  expected " +
         std::string(k_spec_expected) +
         "\n"
         "try: unset CUDAENV_VERSION\n"},
    {"global_file", [](S s) { s.file("/r/version", "1/2"); },
     "cudaenv: /r/version:1: \"1/2\" is not a version\n"
     "  expected " +
         std::string(k_spec_expected) +
         "\n"
         "try: cudaenv global VERSION\n"},
    {"utf16", [](S s) { s.file(k_file, "\xff\xfe"); },
     "cudaenv: /proj/.cuda-version is saved as UTF-16\n"
     "  save it as UTF-8, or write it anew\n"
     "try: cudaenv local VERSION\n"},
    {"too_large", [](S s) { s.file(k_file, std::string(70000, '\n')); },
     "cudaenv: /proj/.cuda-version is larger than 64 KiB\n"
     "  expected " +
         std::string(k_spec_expected) +
         "\n"
         "try: cudaenv local VERSION\n"},
    {"unreadable", [](S s) { s.unreadable(k_file); }, "cudaenv: cannot read /proj/.cuda-version: Permission denied\n"},
};

INSTANTIATE_TEST_SUITE_P(Rows, SelectionProblem, testing::ValuesIn(k_rows), test::RowName());

TEST(SelectionProblemWithoutToolkits, says_that_nothing_is_installed) {
  MemorySystem system;
  system.set("CUDAENV_VERSION", "latest");
  Roots roots;
  roots.own.assign("/r");
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  const auto problem = std::make_unique<ProblemText>();
  describe_problem(selector->select(), *selector, "", *problem);
  EXPECT_EQ(printed(*problem),
            "cudaenv: CUDA latest is not installed (set by the variable CUDAENV_VERSION)\n"
            "  installed: nothing\n"
            "try: cudaenv install latest\n");
}

TEST(SelectionProblemPath, of_full_length_fits) {
  const std::string directory = "/" + std::string(4000, 'd');
  MemorySystem system;
  system.enter(directory);
  system.file(directory + "/.cuda-version", "11.8");
  Roots roots;
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  const auto problem = std::make_unique<ProblemText>();
  describe_problem(selector->select(), *selector, "", *problem);
  EXPECT_FALSE(problem->message.is_cut());
  EXPECT_TRUE(problem->message.view().ends_with("/.cuda-version:1)"));
}

struct ToolRow {
  const char* name;
  Selection selection;
  bool is_elsewhere;
  std::string expected;
};

class MissingTool : public testing::TestWithParam<ToolRow> {};

TEST_P(MissingTool, reads) {
  ToolkitList having;
  if (GetParam().is_elsewhere) {
    having.add("12.4.1");
    having.add("11.8.0");
  }
  const auto problem = std::make_unique<ProblemText>();
  describe_missing_tool(GetParam().selection, "nvprof", having, *problem);
  EXPECT_EQ(printed(*problem), GetParam().expected);
}

Selection chosen(std::string_view name, Origin origin) {
  Selection selection{SelectionStatus::selected, origin, {}, {}, {}, name, 0};
  if (name == "system") selection.status = SelectionStatus::system;
  return selection;
}

const ToolRow k_tool_rows[] = {
    {"in_other_toolkits", chosen("13.0.2", {OriginKind::project_file, k_file, 1}), true,
     "cudaenv: nvprof is not in CUDA 13.0.2 (set by /proj/.cuda-version:1)\n"
     "  installed toolkits that have it: 11.8.0, 12.4.1\n"
     "try: cudaenv exec -v 12.4.1 -- nvprof\n"},
    {"not_in_a_named_toolkit", chosen("mine", {OriginKind::variable, "CUDAENV_VERSION", 0}), true,
     "cudaenv: nvprof is not in toolkit mine (set by the variable CUDAENV_VERSION)\n"
     "  installed toolkits that have it: 11.8.0, 12.4.1\n"
     "try: cudaenv exec -v 12.4.1 -- nvprof\n"},
    {"nothing_selected", chosen("system", {}), true,
     "cudaenv: nvprof is not on PATH (nothing selects a toolkit here)\n"
     "  installed toolkits that have it: 11.8.0, 12.4.1\n"
     "try: cudaenv exec -v 12.4.1 -- nvprof\n"},
    {"system_selected", chosen("system", {OriginKind::global_file, "/r/version", 1}), true,
     "cudaenv: nvprof is not on PATH (system is set by /r/version:1)\n"
     "  installed toolkits that have it: 11.8.0, 12.4.1\n"
     "try: cudaenv exec -v 12.4.1 -- nvprof\n"},
    {"unknown", chosen("13.0.2", {OriginKind::project_file, k_file, 1}), false,
     "cudaenv: unknown tool nvprof: no installed toolkit has it (set by /proj/.cuda-version:1)\n"},
    {"unknown_to_system", chosen("system", {}), false,
     "cudaenv: unknown tool nvprof: no installed toolkit has it, nor PATH (nothing selects a toolkit here)\n"},
};

INSTANTIATE_TEST_SUITE_P(Rows, MissingTool, testing::ValuesIn(k_tool_rows), test::RowName());

TEST(RootProblem, VER_01_shows_the_carriage_return) {
  const auto problem = std::make_unique<ProblemText>();
  describe_root_problem({RootStatus::bad_variable, "CUDAENV_ROOT", "/r\r"}, *problem);
  EXPECT_EQ(printed(*problem),
            "cudaenv: CUDAENV_ROOT is \"/r\\x0d\"\n"
            "  expected an absolute path without control characters, of at most 3072 bytes\n"
            "try: unset CUDAENV_ROOT\n");
}

TEST(RootProblem, no_home) {
  const auto problem = std::make_unique<ProblemText>();
  describe_root_problem({RootStatus::no_home, {}, {}}, *problem);
  EXPECT_EQ(printed(*problem),
            "cudaenv: there is no place for toolkits: neither CUDAENV_ROOT nor HOME names a directory\n"
            "try: export CUDAENV_ROOT=DIRECTORY\n");
}

struct WarningRow {
  const char* name;
  SelectionWarning warning;
  std::string expected;
};

class WarningText : public testing::TestWithParam<WarningRow> {};

TEST_P(WarningText, reads) {
  FixedText<512> text;
  describe_warning(GetParam().warning, text);
  EXPECT_EQ(text.view(), GetParam().expected);
}

const WarningRow k_warning_rows[] = {
    {"empty",
     {WarningKind::empty_file, {OriginKind::project_file, k_file, 0}, {}},
     "/proj/.cuda-version is empty and is skipped"},
    {"not_a_file",
     {WarningKind::not_a_file, {OriginKind::project_file, k_file, 0}, {}},
     "/proj/.cuda-version is not a file and is skipped"},
    {"extra_word",
     {WarningKind::extra_word, {OriginKind::project_file, k_file, 2}, "11.8\a"},
     "/proj/.cuda-version:2: only the first version counts, \"11.8\\x07\" is ignored"},
};

INSTANTIATE_TEST_SUITE_P(Rows, WarningText, testing::ValuesIn(k_warning_rows), test::RowName());

}  // namespace
}  // namespace cudaenv::core
