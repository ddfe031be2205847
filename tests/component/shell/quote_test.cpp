// SPDX-License-Identifier: Apache-2.0
#include "shell/quote.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "component/redist/scratch.hpp"
#include "shell/render.hpp"
#include "unit/core/named_rows.hpp"

// The real shells are the only judges of what they take for one word.

namespace cudaenv::shell {
namespace {

struct RealShell {
  const char* name;
  Shell shell;
  std::vector<std::string> options;  // no start-up files
};

// Each test runs the shell once, since a start costs more than all words together.
class RealShellTest : public testing::TestWithParam<RealShell> {
 protected:
  void SetUp() override {
    for (const char* directory : {"/bin", "/usr/bin", "/usr/local/bin"})
      if (m_program.empty() && base::executable_exists(base::Path(directory) / GetParam().name))
        m_program = base::Path(directory) / GetParam().name;
    if (m_program.empty()) GTEST_SKIP() << "there is no " << GetParam().name;
  }

  // What the script prints; it is run with this environment and nothing else.
  std::string output_of(const std::string& script, base::Environment environment = {}) {
    const base::Path path = m_scratch.file("script", script);
    environment.set("HOME", m_scratch.path().native());
    if (!environment.get("PATH")) environment.set("PATH", "/usr/bin:/bin");
    const base::Path out = m_scratch / "out";
    const pid_t child = ::fork();
    if (child == 0) {
      const base::Fd file(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      if (!file || ::dup2(*file, STDOUT_FILENO) < 0) ::_exit(126);
      std::vector<std::string> words{m_program.native()};
      words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
      words.push_back(path.native());
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      std::vector<std::string> strings = environment.strings();
      std::vector<char*> variables;
      for (std::string& string : strings) variables.push_back(string.data());
      variables.push_back(nullptr);
      ::execve(m_program.c_str(), arguments.data(), variables.data());
      ::_exit(127);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << script.substr(0, 500);
    return test::content_of(out);
  }

  base::Path m_program;
  test::Scratch m_scratch;
};

std::string random_bytes(std::mt19937& random) {
  static constexpr std::string_view k_favourites = "'\"\\$`!\n\r\t ~*?[]{}();&|<>#=%^\x01\x7f\x80\xff";
  std::string text;
  for (auto size = random() % 40; size > 0; --size)
    text += random() % 2 == 0 ? k_favourites[random() % k_favourites.size()] : static_cast<char>(1 + random() % 255);
  return text;
}

std::vector<std::string> sample_words() {
  std::vector<std::string> words = {
      "", "'", "''", "\\", "\\'", "a'b", "\n", "-n", "caf\xc3\xa9", "\xef\x98\x81", "\xee\x80\x80\xef\xa3\xbf"};
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  words.push_back(all);
  std::mt19937 random(20260131);
  for (int i = 0; i < 300; ++i) words.push_back(random_bytes(random));
  return words;
}

// A program that prints its arguments, each with a NUL after it: no shell's own printf is trusted.
std::string printed_by_arguments(const std::string& word) { return "/usr/bin/env printf '%s\\0' " + word + "\n"; }

TEST_P(RealShellTest, takes_a_quoted_text_for_one_word_of_the_same_bytes) {
  for (const char* locale : {"C", "C.UTF-8"}) {
    std::string script;
    std::string expected;
    for (const std::string& word : sample_words()) {
      script += printed_by_arguments(quote(GetParam().shell, word));
      expected += word + '\0';
    }
    base::Environment environment;
    environment.set("LC_ALL", locale);
    const std::string output = output_of(script, environment);
    EXPECT_TRUE(output == expected)
        << locale << ": differs at byte "
        << std::mismatch(output.begin(), output.end(), expected.begin(), expected.end()).first - output.begin();
  }
}

const std::string k_print_environment = "/usr/bin/env -0\n";

std::optional<std::string> value_in(const std::string& printed, const std::string& name) {
  const std::string all = '\0' + printed;
  const std::size_t at = all.find('\0' + name + "=");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t start = at + name.size() + 2;
  return all.substr(start, all.find('\0', start) - start);
}

TEST_P(RealShellTest, rendered_plan_gives_tools_exactly_that_environment) {
  const core::EnvPlan plan{{{"CUDA_HOME", "/it's a \\ \"home\" $x\n"},
                            {"PATH", "/opt/a b/bin:/usr/bin:/bin"},
                            {"LD_LIBRARY_PATH", "/x::/y"},
                            {"CPATH", ""},
                            {"LIBRARY_PATH", "/a:/b/stubs"},
                            {"CUDA_PATH", "/plain"},
                            {"CUDAENV_OUTSIDE", "CUDA_HOME=%3B;CPATH="},
                            {"CUDACXX", std::nullopt},
                            {"NEVER_SET", std::nullopt}}};
  base::Environment environment;
  environment.set("CUDACXX", "/old/nvcc");
  environment.set("LD_LIBRARY_PATH", "/old");
  const std::string printed = output_of(render(GetParam().shell, plan) + k_print_environment, environment);
  for (const auto& [name, value] : plan.changes) EXPECT_EQ(value_in(printed, name), value) << name;
}

TEST_P(RealShellTest, rendered_plan_prints_nothing) {
  const core::EnvPlan plan{{{"CUDA_HOME", "/x"}, {"PATH", "/not/there:/usr/bin:/bin"}, {"NEVER_SET", std::nullopt}}};
  EXPECT_EQ(output_of(render(GetParam().shell, plan) + "true\n"), "");
}

const RealShell k_shells[] = {
    {"bash", Shell::bash, {"--norc", "--noprofile", "-eu"}},
    {"zsh", Shell::zsh, {"-f", "-eu"}},
    {"fish", Shell::fish, {"--no-config"}},
};

INSTANTIATE_TEST_SUITE_P(Shells, RealShellTest, testing::ValuesIn(k_shells), test::RowName());

TEST(RealZsh, quotes_hold_under_rc_quotes_too) {
  if (!base::executable_exists("/usr/bin/zsh")) GTEST_SKIP() << "there is no /usr/bin/zsh";
  const test::Scratch scratch;
  std::string script = "setopt rc_quotes\n";
  std::string expected;
  for (const char* word : {"'", "''", "a''b", "'a'"}) {
    script += printed_by_arguments(quote(Shell::zsh, word));
    expected += std::string(word) + '\0';
  }
  const base::Path path = scratch.file("script", script);
  const std::string command = "/usr/bin/zsh -f " + path.native() + " > " + (scratch / "out").native();
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(test::content_of(scratch / "out"), expected);
}

}  // namespace
}  // namespace cudaenv::shell
