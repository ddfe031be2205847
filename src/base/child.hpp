// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace cudaenv::base {

// How a child process ended, and what it had said by then.
struct ChildOutcome {
  enum class End { exited, killed, timed_out };
  End end = End::exited;
  int number = 0;  // exited: its status; killed: the signal
  std::string output;
};

// Runs `body` in a forked child and collects what it writes to the descriptor it is given; its return value is the exit
// status. The child has no standard streams and dies with this process. At the deadline, or when it has written more
// than `most` bytes, it is killed with all that it has started; one that cannot be killed (a driver that hangs) is left
// behind, not waited for. ErrorKind::internal if there can be no child, ErrorKind::interrupted if this process was
// asked to end (interrupt.hpp). For a process with one thread.
[[nodiscard]] Result<ChildOutcome> run_child(const std::function<int(int output)>& body,
                                             std::chrono::milliseconds deadline, std::size_t most = 1 << 20);

// Runs `body` in a process that belongs to nobody: it has no standard streams and no terminal, outlives this one, and
// is not waited for. ErrorKind::internal if there can be none.
[[nodiscard]] Result<void> detach(const std::function<int()>& body);

}  // namespace cudaenv::base
