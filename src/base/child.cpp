// SPDX-License-Identifier: Apache-2.0
#include "base/child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"

namespace cudaenv::base {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_time_to_die{500};

[[noreturn]] void run_in_child(const std::function<int(int)>& body, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
  ::signal(SIGPIPE, SIG_DFL);
  // Out of the way of the standard streams, which may have been closed when this program started.
  if (const int moved = ::fcntl(output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); moved >= 0) output = moved;
  if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  ::_exit(body(output));
}

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) + 1 : 0;
}

enum class Read { to_the_end, out_of_time, too_much };

Read read_all(int fd, Clock::time_point end, std::size_t most, std::string& output) {
  std::array<char, 4096> buffer;
  while (true) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, milliseconds_until(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Read::out_of_time;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Read::to_the_end;
    output.append(buffer.data(), static_cast<std::size_t>(got));
    if (output.size() > most) return Read::too_much;
  }
}

// Its wait status; nothing if it has not ended by then.
std::optional<int> wait_for(pid_t child, Clock::time_point end) {
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return 0;  // somebody else has reaped it
    if (Clock::now() >= end) return std::nullopt;
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace

Result<ChildOutcome> run_child(const std::function<int(int output)>& body, milliseconds deadline, std::size_t most) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorKind::internal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const Clock::time_point end = Clock::now() + deadline;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorKind::internal, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) run_in_child(body, *writer, parent);
  writer.reset();

  ChildOutcome outcome;
  const Read read = read_all(*reader, end, most, outcome.output);
  std::optional<int> status;
  if (read == Read::to_the_end) status = wait_for(child, end);
  if (!status) {
    ::kill(child, SIGKILL);
    wait_for(child, Clock::now() + k_time_to_die);
    outcome.end = ChildOutcome::End::timed_out;
    return outcome;
  }
  outcome.end = WIFSIGNALED(*status) ? ChildOutcome::End::killed : ChildOutcome::End::exited;
  outcome.number = WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status);
  return outcome;
}

}  // namespace cudaenv::base
