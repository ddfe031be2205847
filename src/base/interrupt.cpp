// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.hpp"

#include <csignal>

namespace cudaenv::base {
namespace {

volatile std::sig_atomic_t g_is_interrupted = 0;  // written by the handler: there is no other way to hear of a signal

// Only where the handler is `from`: what nohup or a script has set to be ignored stays ignored.
void exchange_handlers(void (*from)(int), void (*to)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != from) continue;
    action = {};
    action.sa_handler = to;
    ::sigaction(signal, &action, nullptr);
  }
}

void on_signal(int) {
  g_is_interrupted = 1;
  exchange_handlers(on_signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() { exchange_handlers(SIG_DFL, on_signal); }

bool is_interrupted() { return g_is_interrupted != 0; }

Error interrupted_error() { return Error{ErrorKind::interrupted, "interrupted"}; }

}  // namespace cudaenv::base
