// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaenv::base {
namespace {

// How a child of ours ends that does `f` and then leaves with 0.
template <class F>
int end_of(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

void expect(bool condition) {
  if (!condition) ::_exit(1);
}

class Interrupt : public testing::TestWithParam<int> {};

TEST_P(Interrupt, DL_11_first_one_asks_and_a_second_one_ends) {
  const int signal = GetParam();
  EXPECT_EQ(end_of([&] {
              catch_interrupts();
              expect(!is_interrupted());
              ::raise(signal);
              expect(is_interrupted());
            }),
            0);
  const int status = end_of([&] {
    catch_interrupts();
    ::raise(signal);
    ::raise(signal);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), signal);
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(InterruptKinds, second_one_of_another_kind_ends_too) {
  const int status = end_of([] {
    catch_interrupts();
    ::raise(SIGINT);
    ::raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(InterruptKinds, what_nohup_ignores_stays_ignored) {
  EXPECT_EQ(end_of([] {
              std::signal(SIGHUP, SIG_IGN);
              catch_interrupts();
              ::raise(SIGHUP);
              expect(!is_interrupted());
              ::raise(SIGINT);
              ::raise(SIGHUP);
              expect(is_interrupted());
            }),
            0);
}

TEST(InterruptKinds, error_is_of_its_own_kind) { EXPECT_EQ(interrupted_error().kind, ErrorKind::interrupted); }

}  // namespace
}  // namespace cudaenv::base
