// SPDX-License-Identifier: Apache-2.0
#include "base/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "component/redist/scratch.hpp"

namespace cudaenv::base {
namespace {

using namespace std::chrono_literals;
using End = ChildOutcome::End;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_ample = 20s;
constexpr std::chrono::milliseconds k_short = 100ms;

void say(int output, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(output, text.data(), text.size());
    if (put < 0) ::_exit(99);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

[[noreturn]] void sleep_for_ever() {
  while (true) ::pause();
}

ChildOutcome outcome_of(const std::function<int(int)>& body, std::chrono::milliseconds deadline = k_ample,
                        std::size_t most = 1 << 20) {
  auto outcome = run_child(body, deadline, most);
  EXPECT_TRUE(outcome) << test::told(outcome.error());
  return outcome ? std::move(*outcome) : ChildOutcome();
}

// Whether this process has a child, ended or not.
bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

std::size_t open_descriptors() {
  const auto names = list_directory("/proc/self/fd");
  return names ? names->size() : 0;
}

// What a descriptor stands for.
std::string shown(int fd) {
  const auto target = link_target(fmt::format("/proc/self/fd/{}", fd));
  return target ? target->native() : "";
}

// How a process of its own ends that does `f`: for what must not be done to this one.
template <class F>
int status_of(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// --- How it ends ---

TEST(Child, says_what_it_says_and_exits) {
  const ChildOutcome outcome = outcome_of([](int output) {
    say(output, "one\n");
    say(output, std::string_view("t\0wo\n", 5));
    return 42;
  });
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.number, 42);
  EXPECT_EQ(outcome.output, std::string("one\nt\0wo\n", 9));
  EXPECT_FALSE(has_children());
}

TEST(Child, need_not_say_anything) {
  const ChildOutcome outcome = outcome_of([](int) { return 0; });
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.number, 0);
  EXPECT_EQ(outcome.output, "");
}

TEST(Child, may_say_all_that_it_is_granted) {
  const std::string text(1 << 20, 'x');
  const ChildOutcome outcome = outcome_of([&](int output) {
    say(output, text);
    return 0;
  });
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.output, text);
}

TEST(Child, that_is_killed_tells_the_signal_and_what_it_had_said) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGTERM}) {
    const ChildOutcome outcome = outcome_of([&](int output) {
      say(output, "before");
      ::signal(signal, SIG_DFL);
      ::raise(signal);
      return 0;
    });
    EXPECT_EQ(outcome.end, End::killed);
    EXPECT_EQ(outcome.number, signal);
    EXPECT_EQ(outcome.output, "before");
  }
  EXPECT_FALSE(has_children());
}

TEST(Child, changes_nothing_here) {
  int number = 1;
  outcome_of([&](int) { return number = 2; });
  EXPECT_EQ(number, 1);
}

// --- Limits ---

TEST(ChildLimit, one_that_hangs_is_killed_at_the_deadline) {
  const auto start = Clock::now();
  const ChildOutcome outcome = outcome_of(
      [](int output) {
        for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
        say(output, "before");
        sleep_for_ever();
        return 0;
      },
      k_short);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outcome.output, "before");
  EXPECT_GE(Clock::now() - start, k_short);
  EXPECT_LT(Clock::now() - start, k_ample);
  EXPECT_FALSE(has_children());
}

TEST(ChildLimit, one_that_closes_its_output_and_hangs_is_killed_too) {
  const ChildOutcome outcome = outcome_of(
      [](int output) {
        say(output, "all");
        ::closefrom(0);
        sleep_for_ever();
        return 0;
      },
      k_short);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outcome.output, "all");
  EXPECT_FALSE(has_children());
}

TEST(ChildLimit, one_that_never_stops_talking_is_killed_before_the_deadline) {
  const auto start = Clock::now();
  const ChildOutcome outcome = outcome_of(
      [](int output) {
        while (true) say(output, std::string(5000, 'x'));
        return 0;
      },
      k_ample, 100'000);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_GT(outcome.output.size(), 100'000u);
  EXPECT_LT(outcome.output.size(), 110'000u);
  EXPECT_LT(Clock::now() - start, k_ample / 2);
  EXPECT_FALSE(has_children());
}

TEST(ChildLimit, no_time_at_all_is_no_answer) {
  const ChildOutcome outcome = outcome_of(
      [](int) {
        sleep_for_ever();
        return 0;
      },
      0ms);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_FALSE(has_children());
}

// A daemon that a driver's library starts.
[[noreturn]] void stay(int output) {
  say(output, fmt::format("{}\n", ::getpid()));
  ::alarm(10);  // its end, long after the test
  sleep_for_ever();
}

// 0 if the text does not start with one.
pid_t process_in(const std::string& text) { return static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10)); }

bool is_running(pid_t process) {
  // Gone, or a zombie where nobody reaps orphans.
  const std::string stat = test::content_of(fmt::format("/proc/{}/stat", process));
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

bool ends_soon(pid_t process) {
  const auto end = Clock::now() + k_ample;
  while (is_running(process) && Clock::now() < end) ::usleep(1000);
  return !is_running(process);
}

TEST(ChildLimit, a_grandchild_that_keeps_the_output_open_is_not_waited_for) {
  const auto start = Clock::now();
  const ChildOutcome outcome = outcome_of([](int output) {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) stay(output);
    ::usleep(20'000);
    say(output, "child\n");
    return 4;
  });
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.number, 4);
  EXPECT_NE(outcome.output.find("child\n"), std::string::npos);
  EXPECT_FALSE(has_children());
  std::string digits = outcome.output;
  digits.erase(0, digits.find_first_of("0123456789"));
  if (const pid_t grandchild = process_in(digits); grandchild > 1) ::kill(grandchild, SIGKILL);
}

TEST(ChildLimit, what_it_started_is_killed_with_it) {
  const ChildOutcome outcome = outcome_of(
      [](int output) {
        if (::fork() == 0) stay(output);
        sleep_for_ever();
        return 0;
      },
      k_short);
  EXPECT_EQ(outcome.end, End::timed_out);
  const pid_t grandchild = process_in(outcome.output);
  ASSERT_GT(grandchild, 1);
  EXPECT_TRUE(ends_soon(grandchild));
}

// --- What it gets and leaves ---

TEST(ChildStreams, are_none) {
  const ChildOutcome outcome = outcome_of([](int output) {
    for (const int stream : {0, 1, 2}) say(output, shown(stream) + " ");
    return output > STDERR_FILENO ? 0 : 1;
  });
  EXPECT_EQ(outcome.number, 0);
  EXPECT_EQ(outcome.output, "/dev/null /dev/null /dev/null ");
}

TEST(ChildStreams, that_were_closed_before_do_no_harm) {
  for (int closed = 1; closed < 8; ++closed)  // a set of the three
    EXPECT_EQ(status_of([&] {
                for (int stream = 0; stream < 3; ++stream)
                  if (closed >> stream & 1) ::close(stream);
                const auto outcome = run_child(
                    [](int output) {
                      for (const int stream : {0, 1, 2})
                        if (shown(stream) != "/dev/null") return 9;
                      // What prints to where standard streams should be does not get into the answer.
                      for (const int stream : {1, 2}) say(stream, "noise");
                      say(output, "answer");
                      return 7;
                    },
                    k_ample);
                if (!outcome || outcome->end != End::exited || outcome->number != 7) return 1;
                if (outcome->output != "answer") return 2;
                for (int stream = 0; stream < 3; ++stream)  // nothing of ours stays in their place
                  if (closed >> stream & 1 && ::fcntl(stream, F_GETFD) >= 0) return 3;
                return 0;
              }),
              0)
        << closed;
}

TEST(ChildStreams, are_there_for_the_program_that_it_becomes) {
  const std::string script = "for n in 0 1 2; do readlink /proc/$$/fd/$n; done";
  for (int closed = 0; closed < 8; ++closed)
    EXPECT_EQ(status_of([&] {
                for (int stream = 0; stream < 3; ++stream)
                  if (closed >> stream & 1) ::close(stream);
                const auto outcome = run_child(
                    [&](int output) {
                      return become_program({"/bin/sh", "-c", script}, Environment::of_process(), output);
                    },
                    k_ample);
                if (!outcome || outcome->end != End::exited || outcome->number != 0) return 1;
                const std::string& text = outcome->output;
                return text.starts_with("/dev/null\npipe:") && text.ends_with("\n/dev/null\n") ? 0 : 2;
              }),
              0)
        << closed;
}

TEST(ChildProgram, gets_no_descriptor_but_its_streams) {
  const ChildOutcome outcome = outcome_of([](int output) {
    return become_program({"/bin/sh", "-c", "ls /proc/$$/fd; exit 3"}, Environment::of_process(), output);
  });
  EXPECT_EQ(outcome.number, 3);
  for (const std::string_view stream : {"0\n", "1\n", "2\n"}) EXPECT_NE(outcome.output.find(stream), std::string::npos);
  const auto names = list_directory("/proc/self/fd");
  ASSERT_TRUE(names);
  for (const std::string& name : *names) {
    const int fd = std::stoi(name);
    const int flags = ::fcntl(fd, F_GETFD);
    if (fd < 3 || flags < 0 || (flags & FD_CLOEXEC) == 0) continue;  // what the test itself was started with
    EXPECT_EQ(fmt::format("\n{}", outcome.output).find(fmt::format("\n{}\n", name)), std::string::npos) << name;
  }
}

TEST(ChildProgram, that_is_not_there_is_a_status) {
  const ChildOutcome outcome = outcome_of([](int output) {
    return become_program({"/nowhere/nvcc", "--list-gpu-arch"}, Environment(), output);
  });
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_NE(outcome.number, 0);
  EXPECT_EQ(outcome.output, "");
}

TEST(ChildLeaves, neither_descriptors_nor_processes) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 4; ++i) {
    outcome_of([](int) { return 1; });
    outcome_of([](int) { return ::raise(SIGKILL); });
    outcome_of(
        [](int) {
          sleep_for_ever();
          return 0;
        },
        1ms);
    outcome_of(
        [](int output) {
          say(output, "too much");
          return 0;
        },
        k_ample, 3);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(has_children());
}

TEST(ChildLeaves, other_children_alone) {
  const pid_t other = ::fork();
  if (other == 0) ::_exit(5);
  outcome_of([](int) { return 1; });
  int status = 0;
  EXPECT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(ChildLeaves, with_its_parent) {
  test::Scratch scratch;
  const Path file = scratch / "pid";
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)run_child(
        [&](int) {
          std::ofstream(file.native() + ".new") << ::getpid();
          ::rename((file.native() + ".new").c_str(), file.c_str());
          sleep_for_ever();
          return 0;
        },
        k_ample);
    ::_exit(0);
  }
  const auto end = Clock::now() + k_ample;
  while (!path_exists(file) && Clock::now() < end) ::usleep(1000);
  const pid_t child = process_in(test::content_of(file));
  ASSERT_GT(child, 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(ends_soon(child));
}

// --- Signals of this process ---

TEST(ChildSignals, that_arrive_here_do_not_disturb) {
  EXPECT_EQ(status_of([] {
              struct sigaction action = {};
              action.sa_handler = [](int) {};
              ::sigaction(SIGUSR1, &action, nullptr);
              const pid_t parent = ::getpid();
              const auto outcome = run_child(
                  [&](int output) {
                    for (int i = 0; i < 20; ++i) {
                      ::kill(parent, SIGUSR1);
                      ::usleep(1000);
                      say(output, "x");
                    }
                    return 7;
                  },
                  k_ample);
              return outcome && outcome->end == End::exited && outcome->number == 7 && outcome->output.size() == 20 ? 0
                                                                                                                    : 1;
            }),
            0);
}

TEST(ChildSignals, that_ask_this_process_to_end_end_it) {
  EXPECT_EQ(status_of([] {
              catch_interrupts();
              const auto start = Clock::now();
              const auto outcome = run_child(
                  [parent = ::getpid()](int) {
                    ::kill(parent, SIGINT);
                    sleep_for_ever();
                    return 0;
                  },
                  k_ample);
              if (outcome || outcome.error().kind != ErrorKind::interrupted) return 1;
              return Clock::now() - start < k_ample / 2 && !has_children() ? 0 : 2;
            }),
            0);
}

TEST(ChildSignals, that_ask_this_process_to_end_end_what_it_started_too) {
  test::Scratch scratch;
  const Path file = scratch / "pid";
  EXPECT_EQ(status_of([&] {
              catch_interrupts();
              const auto outcome = run_child(
                  [&, parent = ::getpid()](int output) {
                    const pid_t grandchild = ::fork();
                    if (grandchild == 0) stay(output);
                    std::ofstream(file.native()) << grandchild << std::flush;
                    ::kill(parent, SIGTERM);
                    sleep_for_ever();
                    return 0;
                  },
                  k_ample);
              return !outcome && outcome.error().kind == ErrorKind::interrupted ? 0 : 1;
            }),
            0);
  const pid_t grandchild = process_in(test::content_of(file));
  ASSERT_GT(grandchild, 1);
  EXPECT_TRUE(ends_soon(grandchild));
}

// A parent may have started us with SIGCHLD ignored: then the kernel reaps children itself.
TEST(ChildSignals, SIGCHLD_ignored_before_hides_no_end_and_is_ignored_again) {
  for (const int end : {0, 3, -SIGKILL})
    EXPECT_EQ(status_of([&] {
                ::signal(SIGCHLD, SIG_IGN);
                const auto outcome = run_child([&](int) { return end < 0 ? ::raise(-end) : end; }, k_ample);
                if (!outcome || outcome->end != (end < 0 ? End::killed : End::exited)) return 1;
                if (outcome->number != std::abs(end)) return 2;
                return ::signal(SIGCHLD, SIG_DFL) == SIG_IGN ? 0 : 3;
              }),
              0)
        << end;
}

TEST(ChildSignals, SIGCHLD_ignored_before_does_not_hide_the_deadline) {
  EXPECT_EQ(status_of([] {
              ::signal(SIGCHLD, SIG_IGN);
              const auto outcome = run_child(
                  [](int) {
                    sleep_for_ever();
                    return 0;
                  },
                  k_short);
              return outcome && outcome->end == End::timed_out && !has_children() ? 0 : 1;
            }),
            0);
}

TEST(ChildFails, where_no_descriptor_is_left) {
  EXPECT_EQ(status_of([] {
              while (::dup(0) >= 0 || ::open("/dev/null", O_RDONLY) >= 0) {
              }
              const auto outcome = run_child([](int) { return 0; }, k_ample);
              return !outcome && outcome.error().kind == ErrorKind::internal ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace cudaenv::base
