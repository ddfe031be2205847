// SPDX-License-Identifier: Apache-2.0
#include "commands/machine.hpp"

#include <chrono>

#include "base/env_names.hpp"
#include "base/text.hpp"
#include "commands/own_architectures.hpp"
#include "core/described_machine.hpp"
#include "core/observation.hpp"
#include "driver/probe.hpp"

namespace cudaenv::commands {
namespace {

// A driver that hung, a GPU that slept: asked again after that time.
constexpr std::int64_t k_lifetime_of_doubt_seconds = 600;

std::optional<std::string> variable(const base::Environment& environment, const char* name) {
  const auto value = environment.get(name);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

bool is_set(const base::Environment& environment, const char* name) { return !environment.value(name).empty(); }

}  // namespace

Result<core::MachineFacts> Machine::described() const {
  core::MachineDescription description;
  if (is_set(m_environment, env_names::k_override_driver))
    description.driver = std::string(m_environment.value(env_names::k_override_driver));
  if (is_set(m_environment, env_names::k_override_gpus))
    description.gpus = core::split_gpu_list(m_environment.value(env_names::k_override_gpus));
  description.visible_devices = variable(m_environment, env_names::k_visible_devices);
  return core::describe_machine(description, m_facts.registry(),
                                {env_names::k_override_driver, env_names::k_override_gpus});
}

Result<const core::MachineFacts*> Machine::facts(Asking asking) {
  if (m_known && (m_is_new || asking == Asking::where_needed)) return &*m_known;
  if (is_set(m_environment, env_names::k_override_driver) || is_set(m_environment, env_names::k_override_gpus)) {
    CUDAENV_TRY(machine, described());
    m_known = std::move(machine);
    m_is_new = true;
    return &*m_known;
  }
  const core::Registry& registry = m_facts.registry();
  if (asking == Asking::where_needed)
    if (const auto text = decisions().observation())
      if (const auto observation = core::parse_observation(*text)) {
        m_known = core::conclude(*observation, registry);
        return &*m_known;
      }
  const core::Observation observation = driver::observe(m_environment, registry);
  decisions().set_observation(core::to_text(observation),
                              core::is_settled(observation) ? 0 : k_lifetime_of_doubt_seconds);
  m_known = core::conclude(observation, registry);
  m_is_new = true;
  return &*m_known;
}

std::vector<std::uint16_t> Machine::architectures(const base::Path& toolkit) {
  if (auto known = decisions().architectures(toolkit)) return std::move(*known);
  std::vector<std::uint16_t> own = own_architectures(toolkit, m_environment);
  decisions().set_architectures(toolkit, own);
  return own;
}

store::GateCache& Machine::decisions() {
  if (!m_cache) m_cache.emplace(m_roots);
  return *m_cache;
}

void Machine::save_decisions() {
  if (!m_cache) return;
  if (const auto saved = m_cache->save(); !saved)
    m_output.detail("the gate's decision cannot be kept, so each shim will ask again: " + saved.error().message);
}

}  // namespace cudaenv::commands
