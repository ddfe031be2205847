// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "core/observation.hpp"
#include "registry/builtin.hpp"

// Whatever the kept text of an observation holds, it is read again as it was understood, and something can be
// concluded.
void fuzz(std::string_view bytes) {
  using namespace cudaenv::core;
  const auto seen = parse_observation(bytes);
  if (!seen) return;
  const std::string text = to_text(*seen);
  const auto again = parse_observation(text);
  require(again && to_text(*again) == text);
  const MachineFacts facts = conclude(*seen, cudaenv::registry::builtin());
  require(facts.driver == DriverStatus::present || !facts.cuda);
  require(facts.gpu_status == GpuStatus::known || facts.gpus.empty());
  is_settled(*seen);
  needs_cuda_init(*seen, cudaenv::registry::builtin());
}
