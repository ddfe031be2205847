// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.hpp"

#include <csignal>

namespace cudaenv::base {
namespace {

volatile std::sig_atomic_t g_is_interrupted = 0;  // written by the handler: there is no other way to hear of a signal

void on_signal(int) { g_is_interrupted = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

bool is_interrupted() { return g_is_interrupted != 0; }

Error interrupted_error() { return Error{ErrorKind::interrupted, "interrupted: nothing was changed"}; }

}  // namespace cudaenv::base
