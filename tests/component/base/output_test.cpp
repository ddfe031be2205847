// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <cstdio>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "unit/core/named_rows.hpp"

namespace cudaenv::base {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Puts a pseudo-terminal or a file in the place of stderr as long as it lives.
class StderrIs {
 public:
  enum class What { terminal, file };
  explicit StderrIs(What what) : m_former(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    if (what == What::terminal) {
      m_master = Fd(::posix_openpt(O_RDWR | O_NOCTTY));
      EXPECT_EQ(::grantpt(*m_master) | ::unlockpt(*m_master), 0);
    }
    const char* path = what == What::terminal ? ::ptsname(*m_master) : "/dev/null";
    const Fd target(::open(path, O_WRONLY | O_NOCTTY));
    EXPECT_TRUE(target);
    ::dup2(*target, STDERR_FILENO);
  }
  ~StderrIs() { ::dup2(*m_former, STDERR_FILENO); }

 private:
  Fd m_former;
  Fd m_master;
};

struct ColorRow {
  const char* name;
  Variables variables;
  ColorChoice choice;
  StderrIs::What stderr_is;
  bool has_color;
};

class OutputColor : public testing::TestWithParam<ColorRow> {};

TEST_P(OutputColor, is_used_when_it_should) {
  const ColorRow& row = GetParam();
  std::optional<Output> output;
  {
    const StderrIs guard(row.stderr_is);
    output.emplace(Environment(row.variables), Verbosity::normal, row.choice);
  }
  testing::internal::CaptureStderr();
  output->warning("w");
  output->error({ErrorKind::network, "e", "h", {"d"}});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find('\x1b') != std::string::npos, row.has_color) << text;
  if (!row.has_color) {
    EXPECT_EQ(text, "cudaenv: warning: w\ncudaenv: e\n  d\ntry: h\n");
  }
}

constexpr auto k_terminal = StderrIs::What::terminal;
constexpr auto k_file = StderrIs::What::file;
constexpr auto k_auto = ColorChoice::automatic;
const std::pair<std::string, std::string> k_xterm = {"TERM", "xterm-256color"};

const ColorRow k_color_rows[] = {
    {"terminal", Variables{k_xterm}, k_auto, k_terminal, true},
    {"no_terminal", Variables{k_xterm}, k_auto, k_file, false},
    {"dumb_terminal", Variables{{"TERM", "dumb"}}, k_auto, k_terminal, false},
    {"terminal_without_a_name", {}, k_auto, k_terminal, false},
    {"no_color", Variables{k_xterm, {"NO_COLOR", "1"}}, k_auto, k_terminal, false},
    {"no_color_set_to_nothing_is_not_set", Variables{k_xterm, {"NO_COLOR", ""}}, k_auto, k_terminal, true},
    {"no_color_beats_force", Variables{k_xterm, {"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}}, k_auto, k_terminal, false},
    {"force_without_a_terminal", Variables{{"CLICOLOR_FORCE", "1"}}, k_auto, k_file, true},
    {"force_of_zero_is_none", Variables{{"CLICOLOR_FORCE", "0"}}, k_auto, k_file, false},
    {"clicolor_off", Variables{k_xterm, {"CLICOLOR", "0"}}, k_auto, k_terminal, false},
    {"flag_always_beats_all", Variables{{"NO_COLOR", "1"}, {"TERM", "dumb"}}, ColorChoice::always, k_file, true},
    {"flag_never_beats_all", Variables{k_xterm, {"CLICOLOR_FORCE", "1"}}, ColorChoice::never, k_terminal, false},
};

INSTANTIATE_TEST_SUITE_P(Rows, OutputColor, testing::ValuesIn(k_color_rows), test::RowName());

struct VerbosityRow {
  const char* name;
  Verbosity verbosity;
  const char* text;
};

class OutputVerbosity : public testing::TestWithParam<VerbosityRow> {};

TEST_P(OutputVerbosity, decides_what_a_person_sees) {
  Output output({}, GetParam().verbosity, ColorChoice::never);
  testing::internal::CaptureStderr();
  output.note("n");
  output.detail("d");
  output.warning("w");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), GetParam().text);
}

constexpr VerbosityRow k_verbosity_rows[] = {
    {"quiet", Verbosity::quiet, "cudaenv: warning: w\n"},
    {"normal", Verbosity::normal, "cudaenv: n\ncudaenv: warning: w\n"},
    {"verbose", Verbosity::verbose, "cudaenv: n\ncudaenv: d\ncudaenv: warning: w\n"},
};

INSTANTIATE_TEST_SUITE_P(Rows, OutputVerbosity, testing::ValuesIn(k_verbosity_rows), test::RowName());

TEST(OutputData, goes_to_stdout_as_it_is) {
  Output output({}, Verbosity::quiet, ColorChoice::always);
  testing::internal::CaptureStdout();
  output.data(std::string_view("a\0b", 3));
  output.json(Value(Value::Object{{"a", 1}}));
  EXPECT_TRUE(output.finish());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), std::string("a\0b{\n  \"a\": 1\n}\n", 16));
}

TEST(OutputData, full_disk_is_told) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  std::fflush(stdout);
  const Fd former(::dup(STDOUT_FILENO));
  const Fd full(::open("/dev/full", O_WRONLY));
  ::dup2(*full, STDOUT_FILENO);
  Output output({}, Verbosity::normal, ColorChoice::never);
  output.data("x");
  const auto finished = output.finish();
  std::clearerr(stdout);
  ::dup2(*former, STDOUT_FILENO);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::filesystem);
}

}  // namespace
}  // namespace cudaenv::base
