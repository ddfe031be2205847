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
#include "base/interrupt.hpp"

namespace cudaenv::base {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_time_to_die{500};
constexpr milliseconds k_step{50};  // between looks at what is not told by the pipe

void close_streams() {
  // Without O_CLOEXEC: it may be one of the three itself.
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  if (null > STDERR_FILENO) ::close(null);
}

[[noreturn]] void run_in_child(const std::function<int(int)>& body, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
  ::signal(SIGPIPE, SIG_DFL);
  // Out of the way of the standard streams, which may have been closed when this program started.
  if (const int moved = ::fcntl(output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); moved >= 0) output = moved;
  close_streams();
  ::_exit(body(output));
}

// While SIGCHLD is ignored, which is inherited, nobody can learn how a child ended.
class WaitableChildren {
 public:
  WaitableChildren() : m_before(::signal(SIGCHLD, SIG_DFL)) {}
  WaitableChildren(const WaitableChildren&) = delete;
  WaitableChildren& operator=(const WaitableChildren&) = delete;
  ~WaitableChildren() { ::signal(SIGCHLD, m_before); }

 private:
  void (*m_before)(int);
};

enum class Read { to_the_end, ended, out_of_time, too_much, interrupted };

// One read of what is there; whether there may be more.
bool read_some(int fd, std::string& output) {
  std::array<char, 4096> buffer;
  ssize_t got;
  do got = ::read(fd, buffer.data(), buffer.size());
  while (got < 0 && errno == EINTR);
  if (got > 0) output.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

bool is_readable(int fd, milliseconds wait) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(wait.count())) > 0;
}

// Its wait status; nothing if it runs on. Once it was told it is not told again.
std::optional<int> status_of(pid_t child) {
  int status = 0;
  const pid_t ended = ::waitpid(child, &status, WNOHANG);
  if (ended == child) return status;
  return ended < 0 && errno != EINTR ? std::optional(0) : std::nullopt;  // somebody else has reaped it
}

// Until it has said all, or has ended: what it started may keep the pipe open for ever.
Read read_all(int fd, pid_t child, Clock::time_point end, std::size_t most, std::string& output,
              std::optional<int>& status) {
  while (output.size() <= most) {
    if (is_interrupted()) return Read::interrupted;
    if (is_readable(fd, k_step)) {
      if (!read_some(fd, output)) return Read::to_the_end;
    } else if ((status = status_of(child))) {
      while (output.size() <= most && Clock::now() < end && is_readable(fd, milliseconds(0)) && read_some(fd, output)) {
      }
      return Read::ended;
    }
    if (Clock::now() >= end) return Read::out_of_time;
  }
  return Read::too_much;
}

enum class Heed { nothing, interrupts };

std::optional<int> wait_for(pid_t child, Clock::time_point end, Heed heed) {
  while (true) {
    if (auto status = status_of(child)) return status;
    if (Clock::now() >= end || (heed == Heed::interrupts && is_interrupted())) return std::nullopt;
    ::poll(nullptr, 0, 1);
  }
}

void kill_all(pid_t child) {
  ::kill(-child, SIGKILL);  // it leads a group of its own
  ::kill(child, SIGKILL);
  wait_for(child, Clock::now() + k_time_to_die, Heed::nothing);
}

}  // namespace

Result<ChildOutcome> run_child(const std::function<int(int output)>& body, milliseconds deadline, std::size_t most) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorKind::internal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const Clock::time_point end = Clock::now() + deadline;
  const WaitableChildren waitable;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorKind::internal, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) run_in_child(body, *writer, parent);
  writer.reset();

  ::setpgid(child, child);  // whoever of the two is first

  ChildOutcome outcome;
  std::optional<int> status;
  const Read read = read_all(*reader, child, end, most, outcome.output, status);
  if (read == Read::to_the_end) status = wait_for(child, end, Heed::interrupts);
  if (!status || is_interrupted()) {
    kill_all(child);
    if (is_interrupted()) return fail(interrupted_error());
    outcome.end = ChildOutcome::End::timed_out;
    return outcome;
  }
  outcome.end = WIFSIGNALED(*status) ? ChildOutcome::End::killed : ChildOutcome::End::exited;
  outcome.number = WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status);
  return outcome;
}

Result<void> detach(const std::function<int()>& body) {
  const WaitableChildren waitable;
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorKind::internal, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);  // so that the one that stays is a child of init's, which waits for it
    close_streams();
    ::_exit(body());
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {};
}

}  // namespace cudaenv::base
