// SPDX-License-Identifier: Apache-2.0
#include "core/gate_record.hpp"

#include <string>

#include "gate_fixture.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using namespace test;

class GateRecordTest : public GateTest {};

// --- What is read ---

TEST_F(GateRecordTest, none_is_none) {
  EXPECT_FALSE(record->load());
  EXPECT_FALSE(allows());
  EXPECT_EQ(record->automatic(), "");
}

TEST_F(GateRecordTest, empty_one_says_nothing) {
  EXPECT_TRUE(load_lines(""));
  EXPECT_FALSE(allows());
  EXPECT_EQ(record->automatic(), "");
}

TEST_F(GateRecordTest, one_that_others_could_have_written_is_none) {
  const std::string lines = allow_line();
  ASSERT_TRUE(load_lines(lines));
  system.of_others.insert(name());
  EXPECT_FALSE(record->load());
  EXPECT_FALSE(allows());
}

TEST_F(GateRecordTest, one_of_other_circumstances_is_none) {
  ASSERT_TRUE(load_lines(allow_line()));
  ASSERT_TRUE(allows());
  system.files[k_module] = "580.65.06\n";
  EXPECT_FALSE(record->load());
  EXPECT_FALSE(allows());
}

TEST_F(GateRecordTest, other_heads_are_none) {
  for (const char* head : {"", "cudaenv-gate 1", "cudaenv-gate 2\n", "cudaenv-gate 1\r\n", "cudaenv-gate 11\n",
                           " cudaenv-gate 1\n", "\ncudaenv-gate 1\n", "Cudaenv-gate 1\n"}) {
    EXPECT_FALSE(load(head + allow_line())) << head;
    EXPECT_FALSE(allows()) << head;
  }
  EXPECT_FALSE(load(std::string(100, '\0')));
}

TEST_F(GateRecordTest, one_that_does_not_fit_is_none) {
  const std::string start = std::string(k_gate_record_head) + allow_line();
  EXPECT_TRUE(load(start + std::string(k_largest_gate_record - 1 - start.size(), 'x')));
  EXPECT_TRUE(allows());
  EXPECT_FALSE(load(start + std::string(k_largest_gate_record - start.size(), 'x')));
  EXPECT_FALSE(allows());
  EXPECT_FALSE(load(start + std::string(4 * k_largest_gate_record, '\n')));
}

TEST_F(GateRecordTest, what_was_read_before_does_not_shine_through) {
  ASSERT_TRUE(load_lines(allow_line() + automatic_line()));
  ASSERT_TRUE(allows());
  ASSERT_TRUE(load_lines(""));
  EXPECT_FALSE(allows());
  EXPECT_EQ(record->automatic(), "");
}

// --- allows() ---

TEST_F(GateRecordTest, allows_the_toolkit_that_is_named) {
  ASSERT_TRUE(load_lines("fact driver 550.54.14\n" + automatic_line() + allow_line() + "architectures x\n"));
  EXPECT_TRUE(allows());
  EXPECT_TRUE(allows());  // it can be asked again
}

TEST_F(GateRecordTest, does_not_allow_another_toolkit) {
  ASSERT_TRUE(load_lines(allow_line()));
  for (const std::string& other : {std::string(k_toolkit) + "0", std::string(k_toolkit) + "/", std::string("/"),
                                   std::string(), std::string(k_toolkit).substr(0, 31)}) {
    selection.directory = other;
    EXPECT_FALSE(allows()) << other;
    system.stamps[other] = system.stamps[k_toolkit];  // even if it is the same directory
    EXPECT_FALSE(allows()) << other;
  }
}

TEST_F(GateRecordTest, does_not_allow_what_was_put_in_its_place) {
  ASSERT_TRUE(load_lines(allow_line()));
  system.touch(k_toolkit);
  EXPECT_FALSE(allows());
  system.stamps.erase(k_toolkit);
  EXPECT_FALSE(allows());
}

TEST_F(GateRecordTest, allows_a_toolkit_in_which_something_changed) {
  ASSERT_TRUE(load_lines(allow_line()));
  system.stamps[k_toolkit].modified_seconds += 1;
  EXPECT_TRUE(allows());
}

TEST_F(GateRecordTest, does_not_allow_what_was_upgraded_in_place) {
  for (const char* file : {"/bin/nvcc", "/version.json"}) {
    const std::string path = std::string(k_toolkit) + file;
    for (int i = 0; i < 2; ++i) {  // one more, another one
      ASSERT_TRUE(load_lines(allow_line()));
      ASSERT_TRUE(allows());
      system.touch(path);
      EXPECT_FALSE(allows()) << path;
    }
  }
}

TEST_F(GateRecordTest, directory_may_have_blanks) {
  const char* directory = "/srv/my  tools/cuda 12 ";
  system.touch(directory);
  selection.directory = directory;
  ASSERT_TRUE(
      load_lines("allow " + digits(record->conditions().toolkit_fingerprint(directory)) + " - " + directory + "\n"));
  EXPECT_TRUE(allows());
}

TEST_F(GateRecordTest, one_of_several_lines_is_enough) {
  ASSERT_TRUE(load_lines(allow_line("0000000000000000") + "allow x\n" + allow_line()));
  EXPECT_TRUE(allows());
}

TEST_F(GateRecordTest, malformed_lines_allow_nothing) {
  const std::string print = toolkit_fingerprint();
  const std::string directory = k_toolkit;
  for (const std::string& line : {std::string("allow"),
                                  std::string("allow "),
                                  std::string("allow  "),
                                  "allow " + print,
                                  "allow " + print + " -",
                                  "allow " + print + " - ",
                                  "allow " + print + "  " + directory,
                                  "allow " + print + " " + directory,
                                  "allow - - " + directory,
                                  "allow " + directory,
                                  "allow  " + print + " - " + directory,
                                  "allow " + print + " - " + directory + " ",
                                  "allow " + print + " -  " + directory,
                                  "allow " + print + " - " + directory + "\r",
                                  "allow " + print + " - " + directory + std::string(1, '\0'),
                                  "allow " + print + " -- " + directory,
                                  " allow " + print + " - " + directory,
                                  "ALLOW " + print + " - " + directory,
                                  "allow\t" + print + " - " + directory,
                                  "allow " + print.substr(1) + " - " + directory,
                                  "allow 0" + print + " - " + directory,
                                  "fact allow " + print + " - " + directory}) {
    ASSERT_TRUE(load_lines(line + "\n")) << line;
    EXPECT_FALSE(allows()) << line;
  }
}

TEST_F(GateRecordTest, cut_one_allows_nothing_more) {
  const std::string text = std::string(k_gate_record_head) + "until 1790000000\n" + allow_line() + automatic_line();
  const std::size_t whole_allowance = text.find("\nauto ");
  for (std::size_t size = 0; size <= text.size(); ++size) {
    if (!load(text.substr(0, size))) continue;
    EXPECT_EQ(allows(), size >= whole_allowance) << size;
    EXPECT_TRUE(std::string_view(k_toolkit).starts_with(record->automatic())) << size;
  }
}

// --- automatic() ---

TEST_F(GateRecordTest, automatic_is_the_directory_as_long_as_nothing_is_installed_or_removed) {
  const std::string line = automatic_line();
  ASSERT_TRUE(load_lines(allow_line() + line));
  EXPECT_EQ(record->automatic(), k_toolkit);
  system.touch("/opt/cudaenv/versions");
  EXPECT_EQ(record->automatic(), "");
  ASSERT_TRUE(load_lines(line + automatic_line()));
  EXPECT_EQ(record->automatic(), k_toolkit);
  system.stamps["/home/u/.cudaenv/versions"].modified_nanoseconds += 1;
  EXPECT_EQ(record->automatic(), "");
}

TEST_F(GateRecordTest, automatic_may_have_blanks) {
  ASSERT_TRUE(load_lines("auto " + digits(record->conditions().installed_condition()) + " /srv/my tools/12 \n"));
  EXPECT_EQ(record->automatic(), "/srv/my tools/12 ");
}

TEST_F(GateRecordTest, automatic_alone_allows_nothing) {
  ASSERT_TRUE(load_lines(automatic_line()));
  selection.directory = record->automatic();
  EXPECT_FALSE(allows());
}

TEST_F(GateRecordTest, malformed_automatic_is_none) {
  const std::string print = digits(record->conditions().installed_condition());
  for (const std::string& line : {std::string("auto"), std::string("auto "), "auto " + print, "auto " + print + " ",
                                  "auto - " + std::string(k_toolkit), "auto " + std::string(k_toolkit)}) {
    ASSERT_TRUE(load_lines(line + "\n")) << line;
    EXPECT_EQ(record->automatic(), "") << line;
  }
}

// --- until ---

struct UntilRow {
  const char* name;
  const char* line;
  bool is_believed;
};

class GateRecordUntil : public GateRecordTest, public testing::WithParamInterface<UntilRow> {};

TEST_P(GateRecordUntil, ends_it) {
  EXPECT_EQ(load_lines(GetParam().line + std::string("\n") + allow_line()), GetParam().is_believed);
}

const UntilRow k_until[] = {
    {"later", "until 1750000001", true},
    {"now", "until 1750000000", false},
    {"before", "until 1749999999", false},
    {"long_ago", "until 0", false},
    {"empty", "until ", false},
    {"no_number", "until then", false},
    {"far_away", "until 999999999999", true},
    {"no_end_of_digits", "until 99999999999999999999999999999999", true},
    {"the_first_of_two", "until 1749999999\nuntil 1750000001", false},
    {"another_word", "untilx 0", true},
};
INSTANTIATE_TEST_SUITE_P(All, GateRecordUntil, testing::ValuesIn(k_until), test::RowName());

// --- seen ---

TEST_F(GateRecordTest, ends_with_the_libraries_that_were_seen) {
  const char* library = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
  const auto seen = [&](const std::string& file) {
    return "seen " + digits(record->conditions().file_fingerprint(file)) + " " + file + "\n";
  };
  system.touch(library);
  const std::string lines = allow_line() + seen(library) + seen("/usr/lib/wsl/lib/my libcuda.so.1");
  ASSERT_TRUE(load_lines(lines));
  EXPECT_TRUE(allows());
  system.touch(library);  // another one
  EXPECT_FALSE(load_lines(lines));
  EXPECT_FALSE(allows());
  ASSERT_TRUE(load_lines(allow_line() + seen(library)));
  system.stamps.erase(library);  // removed
  EXPECT_FALSE(load_lines(lines));
  ASSERT_TRUE(load_lines(allow_line() + seen(library)));
  system.touch(library);  // there again
  EXPECT_FALSE(load_lines(allow_line() + seen("/usr/lib/wsl/lib/my libcuda.so.1") + lines));
}

TEST_F(GateRecordTest, a_seen_line_that_is_none_ends_it_too) {
  for (const char* line : {"seen ", "seen -", "seen - /usr/lib/libcuda.so.1", "seen /usr/lib/libcuda.so.1",
                           "seen 0000000000000000 /usr/lib/libcuda.so.1"})
    EXPECT_FALSE(load_lines(allow_line() + line + "\n")) << line;
}

TEST_F(GateRecordTest, an_expired_one_is_found_wherever_its_line_stands) {
  EXPECT_FALSE(load_lines(allow_line() + "until 1749999999\n"));
}

TEST_F(GateRecordTest, an_expired_one_says_nothing) {
  EXPECT_FALSE(load_lines("until 1749999999\n" + allow_line() + automatic_line()));
  EXPECT_FALSE(allows());
  EXPECT_EQ(record->automatic(), "");
}

}  // namespace
}  // namespace cudaenv::core
