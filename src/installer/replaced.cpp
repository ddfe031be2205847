// SPDX-License-Identifier: Apache-2.0
#include "installer/replaced.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "store/in_use.hpp"

namespace cudaenv::installer {

void remove_replaced(store::Staging replaced, const std::string& name, base::Output& output) {
  for (bool is_told = false;; is_told = true) {
    const auto user = store::process_using(replaced.path());
    if (!user) return;
    const std::string shown = fmt::format("process {} ({})", user->id, base::escaped(user->name));
    if (user->is_ancestor || base::is_interrupted()) {
      replaced.abandon();
      output.note(fmt::format("{} still runs from the CUDA {} that was replaced: the next install removes that one",
                              shown, name));
      return;
    }
    if (!is_told)
      output.waiting(fmt::format("waiting for {}, which runs from the CUDA {} that was replaced; Ctrl-C stops waiting",
                                 shown, name));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace cudaenv::installer
