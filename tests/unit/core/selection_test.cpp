// SPDX-License-Identifier: Apache-2.0
#include "core/selection.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memory_system.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using test::MemorySystem;

constexpr const char* k_own = "/home/u/.cudaenv";
constexpr const char* k_shared = "/opt/cudaenv";

// What a selection comes to, as text that a failing test can print.
std::string told(const Selection& selection) {
  const auto place = [&] {
    std::string text(selection.origin.path);
    if (selection.origin.line != 0) text += ":" + std::to_string(selection.origin.line);
    return text.empty() ? text : " from " + text;
  };
  switch (selection.status) {
    case SelectionStatus::system: return "system" + place();
    case SelectionStatus::selected: return std::string(selection.directory) + place();
    case SelectionStatus::not_installed: return "not installed: " + std::string(selection.word) + place();
    case SelectionStatus::invalid: return "invalid: " + std::string(selection.word) + place();
    case SelectionStatus::utf16: return "utf16" + place();
    case SelectionStatus::too_large: return "too large" + place();
    case SelectionStatus::unreadable: return "unreadable" + place();
  }
  return "?";
}

struct Row {
  const char* name;
  std::function<void(MemorySystem&)> arrange;
  std::string expected;
  std::vector<WarningKind> warnings = {};
};

class SelectionTree : public testing::TestWithParam<Row> {
 protected:
  SelectionTree() {
    for (const char* name : {"11.8.0", "12.4.1", "12.9.0", "12.10.0"}) system.toolkit(k_own, name);
    system.directory("/home/u/proj/src");
    system.enter("/home/u/proj/src");
    roots.own.assign(k_own);
    roots.shared.assign(k_shared);
  }

  MemorySystem system;
  Roots roots;
};

TEST_P(SelectionTree, selects) {
  GetParam().arrange(system);
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  EXPECT_EQ(told(selector->select()), GetParam().expected);
  EXPECT_EQ(system.warnings, GetParam().warnings);
}

const std::string k_v = std::string(k_own) + "/versions/";
using S = MemorySystem&;

// Order of the origins.
const Row k_order[] = {
    {"nothing_is_system", [](S) {}, "system"},
    {"file_in_the_working_directory", [](S s) { s.file("/home/u/proj/src/.cuda-version", "11.8.0\n"); },
     k_v + "11.8.0 from /home/u/proj/src/.cuda-version:1"},
    {"nearest_file_upward",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "12.4.1\n");
       s.file("/home/u/.cuda-version", "11.8.0\n");
     },
     k_v + "12.4.1 from /home/u/proj/.cuda-version:1"},
    {"file_in_the_top_directory", [](S s) { s.file("/.cuda-version", "11.8"); }, k_v + "11.8.0 from /.cuda-version:1"},
    {"variable_before_file",
     [](S s) {
       s.set("CUDAENV_VERSION", "12.4");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "12.4.1 from CUDAENV_VERSION"},
    {"empty_variable_is_none",
     [](S s) {
       s.set("CUDAENV_VERSION", "");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"blank_variable_is_none",
     [](S s) {
       s.set("CUDAENV_VERSION", " # none\n");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"file_before_global",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.file("/home/u/.cudaenv/version", "12.4");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"global", [](S s) { s.file("/home/u/.cudaenv/version", "12.4"); }, k_v + "12.4.1 from /home/u/.cudaenv/version:1"},
    {"global_before_shared",
     [](S s) {
       s.file("/home/u/.cudaenv/version", "12.4");
       s.file("/opt/cudaenv/version", "11.8");
     },
     k_v + "12.4.1 from /home/u/.cudaenv/version:1"},
    {"shared_global", [](S s) { s.file("/opt/cudaenv/version", "11.8"); }, k_v + "11.8.0 from /opt/cudaenv/version:1"},
    {"system_is_written",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "system");
       s.file("/home/u/.cudaenv/version", "12.4");
     },
     "system from /home/u/proj/.cuda-version:1"},
    {"outside_of_any_project",
     [](S s) {
       s.enter("/");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     "system"},
};
INSTANTIATE_TEST_SUITE_P(Order, SelectionTree, testing::ValuesIn(k_order), test::RowName());

// What files hold, and what is no file.
const Row k_files[] = {
    {"VER_01_crlf", [](S s) { s.file("/home/u/proj/.cuda-version", "12.4\r\n"); },
     k_v + "12.4.1 from /home/u/proj/.cuda-version:1"},
    {"line_is_counted", [](S s) { s.file("/home/u/proj/.cuda-version", "# CUDA\n\n12.4\n"); },
     k_v + "12.4.1 from /home/u/proj/.cuda-version:3"},
    {"further_word_warns",
     [](S s) { s.file("/home/u/proj/.cuda-version", "12.4\n11.8\n"); },
     k_v + "12.4.1 from /home/u/proj/.cuda-version:1",
     {WarningKind::extra_word}},
    {"empty_file_is_skipped",
     [](S s) {
       s.file("/home/u/proj/src/.cuda-version", "# nothing\n");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1",
     {WarningKind::empty_file}},
    {"empty_global_is_skipped",
     [](S s) {
       s.file("/home/u/.cudaenv/version", "");
       s.file("/opt/cudaenv/version", "11.8");
     },
     k_v + "11.8.0 from /opt/cudaenv/version:1",
     {WarningKind::empty_file}},
    {"directory_is_skipped",
     [](S s) {
       s.directory("/home/u/proj/src/.cuda-version");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1",
     {WarningKind::not_a_file}},
    {"fifo_is_skipped",
     [](S s) {
       s.fifo("/home/u/proj/src/.cuda-version");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1",
     {WarningKind::not_a_file}},
    {"dangling_link_is_absent",
     [](S s) {
       s.link("/home/u/proj/src/.cuda-version", "nowhere");
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"link_to_a_file_is_one",
     [](S s) {
       s.link("/home/u/proj/.cuda-version", "cuda/pinned");
       s.file("/home/u/proj/cuda/pinned", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"unreadable_is_an_error",
     [](S s) {
       s.unreadable("/home/u/proj/.cuda-version");
       s.file("/home/u/.cuda-version", "11.8");
     },
     "unreadable from /home/u/proj/.cuda-version"},
    {"VER_02_path", [](S s) { s.file("/home/u/proj/.cuda-version", "../../tmp/x\n"); },
     "invalid: ../../tmp/x from /home/u/proj/.cuda-version:1"},
    {"VER_02_path_in_the_variable", [](S s) { s.set("CUDAENV_VERSION", "../11.8.0"); },
     "invalid: ../11.8.0 from CUDAENV_VERSION"},
    {"utf16",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", std::string_view("\xff\xfe"
                                                             "1\0",
                                                             4));
     },
     "utf16 from /home/u/proj/.cuda-version"},
    {"too_large",
     [](S s) { s.file("/home/u/proj/.cuda-version", "12.4\n" + std::string(k_largest_version_file, '\n')); },
     "too large from /home/u/proj/.cuda-version"},
    {"as_large_as_allowed",
     [](S s) { s.file("/home/u/proj/.cuda-version", "12.4\n" + std::string(k_largest_version_file - 5, '\n')); },
     k_v + "12.4.1 from /home/u/proj/.cuda-version:1"},
};
INSTANTIATE_TEST_SUITE_P(Files, SelectionTree, testing::ValuesIn(k_files), test::RowName());

std::string deep(std::size_t size) {
  std::string path = "/home/u/proj";
  while (path.size() < size) path += "/" + std::string(std::min<std::size_t>(200, size - path.size()), 'd');
  return path;
}

// The working directory: PWD where it is true, else what the kernel says.
const Row k_places[] = {
    {"PWD_shows_the_project_behind_a_link",
     [](S s) {
       s.directory("/data/real");
       s.link("/home/u/proj/linked", "/data/real");
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.enter("/data/real");
       s.set("PWD", "/home/u/proj/linked");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"without_PWD_the_physical_directory_counts",
     [](S s) {
       s.directory("/data/real");
       s.link("/home/u/proj/linked", "/data/real");
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.file("/data/.cuda-version", "12.4");
       s.enter("/data/real");
     },
     k_v + "12.4.1 from /data/.cuda-version:1"},
    {"stale_PWD_is_not_believed",
     [](S s) {
       s.directory("/elsewhere");
       s.file("/elsewhere/.cuda-version", "12.4");
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.set("PWD", "/elsewhere");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"PWD_of_nothing",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.set("PWD", "/gone");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"relative_PWD",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.set("PWD", "proj/src");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"empty_PWD",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.set("PWD", "");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"PWD_with_dots_would_search_the_wrong_parents",
     [](S s) {
       s.directory("/home/u/other");
       s.file("/home/u/other/.cuda-version", "12.4");
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.set("PWD", "/home/u/other/../proj/src");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"PWD_with_a_dot",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.set("PWD", "/home/u/./proj/src");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"PWD_with_a_dot_at_the_end",
     [](S s) {
       s.file("/home/u/proj/src/.cuda-version", "11.8");
       s.set("PWD", "/home/u/proj/src/.");
     },
     k_v + "11.8.0 from /home/u/proj/src/.cuda-version:1"},
    {"hidden_directory_is_no_dot",
     [](S s) {
       s.directory("/home/u/.../..x");
       s.file("/home/u/.../.cuda-version", "11.8");
       s.enter("/home/u/.../..x");
       s.set("PWD", "/home/u/.../..x");
     },
     k_v + "11.8.0 from /home/u/.../.cuda-version:1"},
    {"PWD_with_a_slash_at_the_end",
     [](S s) {
       s.file("/home/u/proj/src/.cuda-version", "11.8");
       s.set("PWD", "/home/u/proj/src/");
     },
     k_v + "11.8.0 from /home/u/proj/src/.cuda-version:1"},
    {"PWD_with_double_slashes",
     [](S s) {
       s.file("/home/u/.cuda-version", "11.8");
       s.set("PWD", "/home//u///proj/src//");
     },
     k_v + "11.8.0 from /home//u/.cuda-version:1"},
    {"PWD_of_the_top_directory",
     [](S s) {
       s.enter("/");
       s.set("PWD", "/");
       s.file("/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /.cuda-version:1"},
    {"PWD_of_two_slashes",
     [](S s) {
       s.enter("/");
       s.set("PWD", "//");
       s.file("/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from //.cuda-version:1"},
    {"removed_directory_has_no_project",
     [](S s) {
       s.enter("");
       s.set("PWD", "/home/u/proj/src");
       s.file("/home/u/proj/.cuda-version", "11.8");
       s.file("/home/u/.cudaenv/version", "12.4");
     },
     k_v + "12.4.1 from /home/u/.cudaenv/version:1"},
    {"deep_tree",
     [](S s) {
       s.enter(deep(3900));
       s.directory(deep(3900));
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"directory_whose_version_file_has_no_path",
     [](S s) {
       s.enter(deep(4090));
       s.directory(deep(4090));
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
    {"directory_that_has_no_path",
     [](S s) {
       s.enter(deep(9000));
       s.file("/home/u/proj/.cuda-version", "11.8");
     },
     k_v + "11.8.0 from /home/u/proj/.cuda-version:1"},
};
INSTANTIATE_TEST_SUITE_P(Places, SelectionTree, testing::ValuesIn(k_places), test::RowName());

void ask(S s, const std::string& spec) { s.set("CUDAENV_VERSION", spec); }

// What counts as installed, and which of it a spec takes.
const Row k_installed[] = {
    {"VER_09_minor_is_compared_as_a_number", [](S s) { ask(s, "12"); }, k_v + "12.10.0 from CUDAENV_VERSION"},
    {"minor_takes_newest_patch",
     [](S s) {
       s.toolkit(k_own, "12.4.0");
       s.toolkit(k_own, "12.4.10");
       ask(s, "12.4");
     },
     k_v + "12.4.10 from CUDAENV_VERSION"},
    {"prefix_v", [](S s) { ask(s, "v12.4"); }, k_v + "12.4.1 from CUDAENV_VERSION"},
    {"prefix_cuda", [](S s) { ask(s, "cuda-12.4.1"); }, k_v + "12.4.1 from CUDAENV_VERSION"},
    {"latest", [](S s) { ask(s, "latest"); }, k_v + "12.10.0 from CUDAENV_VERSION"},
    {"automatic", [](S s) { ask(s, "auto"); }, k_v + "12.10.0 from CUDAENV_VERSION"},
    {"VER_07_missing_is_no_fallback",
     [](S s) {
       s.file("/home/u/proj/.cuda-version", "10.2\n");
       s.file("/home/u/.cudaenv/version", "12.4");
     },
     "not installed: 10.2 from /home/u/proj/.cuda-version:1"},
    {"missing_patch", [](S s) { ask(s, "12.4.0"); }, "not installed: 12.4.0 from CUDAENV_VERSION"},
    {"text_prefix_is_none", [](S s) { ask(s, "1"); }, "not installed: 1 from CUDAENV_VERSION"},
    {"missing_name", [](S s) { ask(s, "mine"); }, "not installed: mine from CUDAENV_VERSION"},
    {"without_receipt_is_a_leftover",
     [](S s) {
       s.directory("/home/u/.cudaenv/versions/12.10.1/bin");
       ask(s, "12");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"two_leftovers_in_a_row",
     [](S s) {
       s.directory("/home/u/.cudaenv/versions/12.10.1/bin");
       s.directory("/home/u/.cudaenv/versions/12.10.2/bin");
       ask(s, "latest");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"leftover_asked_for_by_name",
     [](S s) {
       s.directory("/home/u/.cudaenv/versions/12.10.1/bin");
       ask(s, "12.10.1");
     },
     "not installed: 12.10.1 from CUDAENV_VERSION"},
    {"staging_directory_is_no_release",
     [](S s) {
       s.toolkit(k_own, ".12.11.0.staging");
       s.toolkit(k_own, "12.11.0.partial");
       ask(s, "12");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"file_is_no_toolkit",
     [](S s) {
       s.file("/home/u/.cudaenv/versions/12.11.0", "");
       ask(s, "12");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"adopted_under_a_name",
     [](S s) {
       s.directory("/usr/local/cuda-12.2/bin");
       s.link("/home/u/.cudaenv/versions/mine", "/usr/local/cuda-12.2");
       ask(s, "mine");
     },
     k_v + "mine from CUDAENV_VERSION"},
    {"adopted_as_a_release",
     [](S s) {
       s.directory("/usr/local/cuda-12.11/bin");
       s.link("/home/u/.cudaenv/versions/12.11.0", "/usr/local/cuda-12.11");
       ask(s, "12");
     },
     k_v + "12.11.0 from CUDAENV_VERSION"},
    {"adopted_directory_that_is_gone",
     [](S s) {
       s.link("/home/u/.cudaenv/versions/12.11.0", "/usr/local/cuda-12.11");
       ask(s, "12");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"adopted_name_is_not_latest",
     [](S s) {
       s.directory("/usr/local/cuda-99/bin");
       s.link("/home/u/.cudaenv/versions/z99", "/usr/local/cuda-99");
       ask(s, "latest");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"shared_root_offers_its_toolkits",
     [](S s) {
       s.toolkit(k_shared, "13.0.2");
       ask(s, "13");
     },
     "/opt/cudaenv/versions/13.0.2 from CUDAENV_VERSION"},
    {"newest_of_both_roots",
     [](S s) {
       s.toolkit(k_shared, "12.11.0");
       ask(s, "12");
     },
     "/opt/cudaenv/versions/12.11.0 from CUDAENV_VERSION"},
    {"own_before_shared",
     [](S s) {
       s.toolkit(k_shared, "12.10.0");
       ask(s, "12");
     },
     k_v + "12.10.0 from CUDAENV_VERSION"},
    {"shared_in_place_of_an_own_leftover",
     [](S s) {
       s.directory("/home/u/.cudaenv/versions/12.11.0");
       s.toolkit(k_shared, "12.11.0");
       ask(s, "12");
     },
     "/opt/cudaenv/versions/12.11.0 from CUDAENV_VERSION"},
};
INSTANTIATE_TEST_SUITE_P(Installed, SelectionTree, testing::ValuesIn(k_installed), test::RowName());

TEST(Selection, root_at_the_top_directory) {
  MemorySystem system;
  system.toolkit("", "12.4.1");
  system.file("/version", "12");
  Roots roots;
  roots.own.assign("/");
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  EXPECT_EQ(told(selector->select()), "//versions/12.4.1 from //version:1");
}

TEST(Selection, warning_names_the_line_of_the_word_that_is_ignored) {
  MemorySystem system;
  system.file("/.cuda-version", "system\n\n12\n");
  Roots roots;
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  selector->select();
  EXPECT_EQ(system.warned_of, std::vector<std::string>{"/.cuda-version:3"});
}

TEST(Selection, looking_at_other_toolkits_leaves_the_selection_alone) {
  MemorySystem system;
  system.toolkit(k_own, "12.4.1");
  system.toolkit(k_own, "11.8.0");
  Roots roots;
  roots.own.assign(k_own);
  const auto selector = std::make_unique<Selector<MemorySystem>>(system, roots);
  const Selection selection = selector->resolve(*parse_spec("12"), Origin{OriginKind::argument});
  std::vector<std::string> names;
  selector->installed().for_each([&](std::string_view, std::string_view name) { names.emplace_back(name); });
  EXPECT_EQ(names, (std::vector<std::string>{"11.8.0", "12.4.1"}));
  EXPECT_EQ(told(selection), k_v + "12.4.1");
}

}  // namespace
}  // namespace cudaenv::core
