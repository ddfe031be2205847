// SPDX-License-Identifier: Apache-2.0
#include "commands/machine.hpp"

#include <chrono>

#include "base/child.hpp"
#include "base/env_names.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/own_architectures.hpp"
#include "core/described_machine.hpp"
#include "core/observation.hpp"
#include "driver/probe.hpp"

namespace cudaenv::commands {
namespace {

// A driver that hung, a GPU that slept: asked again after that time.
constexpr std::int64_t k_lifetime_of_doubt_seconds = 600;
constexpr int k_longest_wait_seconds = 12;  // for another process that asks; its own deadline is 10

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
  if (asking == Asking::where_needed && take_recorded()) return &*m_known;
  if (m_is_in_background) {
    CUDAENV_CHECK(start_asking());
    return &*m_known;
  }
  if (asking == Asking::anew) {
    CUDAENV_CHECK(ask());
    return &*m_known;
  }
  // A parallel build starts with many that want to know the same.
  const auto lock = decisions().lock_asking(k_longest_wait_seconds);
  decisions().load();
  if (!take_recorded()) CUDAENV_CHECK(ask());
  return &*m_known;
}

Result<void> Machine::start_asking() {
  // Where nothing can be kept, asking would be in vain, and would be begun at every prompt.
  m_is_asked_in_background = decisions().can_be_kept();
  // Held before there is another process, so that two prompts soon one after the other do not start two.
  if (auto lock = decisions().try_lock_asking()) {
    CUDAENV_CHECK(base::detach([&] {
      m_is_in_background = false;
      decisions().load();
      const bool is_known = take_recorded() || ask();
      lock.reset();
      return is_known ? 0 : 1;
    }));
    lock->leave_to_child();
  }
  m_known = core::MachineFacts();
  m_known->driver_reason = "driver and GPUs are being asked";
  m_is_new = true;  // and nobody else knows better
  return {};
}

bool Machine::take_recorded() {
  const auto text = decisions().observation();
  const auto observation = text ? core::parse_observation(*text) : std::nullopt;
  if (observation) m_known = core::conclude(*observation, m_facts.registry());
  return observation.has_value();
}

Result<void> Machine::ask() {
  const core::Registry& registry = m_facts.registry();
  const core::Observation observation = driver::observe(m_environment, registry);
  if (base::is_interrupted()) return fail(base::interrupted_error());
  // What the answer came from; and where another library would be found first from now on.
  std::vector<std::string> libraries{std::string(m_environment.value(env_names::k_host_root)) + "/etc/ld.so.cache"};
  for (const std::string& path : {observation.libcuda.path, observation.nvml.path})
    if (!path.empty()) libraries.push_back(path);
  decisions().set_observation(core::to_text(observation), libraries,
                              core::is_settled(observation) ? 0 : k_lifetime_of_doubt_seconds);
  m_known = core::conclude(observation, registry);
  m_is_new = true;
  save_decisions();
  return {};
}

std::vector<std::uint16_t> Machine::architectures(const base::Path& toolkit) {
  if (auto known = decisions().architectures(toolkit)) return std::move(*known);
  auto own = own_architectures(toolkit, m_environment);
  if (own) decisions().set_architectures(toolkit, *own);
  return own ? std::move(*own) : std::vector<std::uint16_t>();
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
