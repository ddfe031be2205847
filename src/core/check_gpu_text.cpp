// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "core/check_words.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

using Texts = std::vector<std::string>;

// "0", "0-3", "0, 2"
std::string ranges(const std::vector<std::uint32_t>& ascending) {
  Texts parts;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t end = i + 1;
    while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1) ++end;
    parts.push_back(end - i == 1 ? fmt::format("{}", ascending[i])
                                 : fmt::format("{}-{}", ascending[i], ascending[end - 1]));
    i = end;
  }
  return base::join(parts, ", ");
}

// "Tesla V100-SXM2-16GB, 7.0", or what of it is known.
std::string kind_of(const Gpu& gpu) {
  if (!gpu.capability) return gpu.name;
  return gpu.name.empty() ? to_text(*gpu.capability) : fmt::format("{}, {}", gpu.name, to_text(*gpu.capability));
}

std::string named(std::string_view gpus, const std::string& kind) {
  return kind.empty() ? std::string(gpus) : fmt::format("{} ({})", gpus, kind);
}

std::string minor_text(const ToolkitArchitecturesRow& row) { return to_text(Minor{row.major, row.minor}); }

// "Volta 7.2", as the generation is "Volta (Jetson Xavier)"; the number alone where the tables have no name.
std::string generation_of(const Registry& registry, ComputeCapability capability) {
  const ChipRow* chip = find_chip(registry, capability);
  if (!chip) return to_text(capability);
  return fmt::format("{} {}", chip->generation.substr(0, chip->generation.find(" (")), to_text(capability));
}

// "GPUs 0-3 (8.0)": of one capability.
std::string brief_gpus(const MachineFacts& machine, const std::vector<std::uint32_t>& positions) {
  std::vector<std::uint32_t> indices;
  for (const std::uint32_t position : positions) indices.push_back(machine.gpus[position].index);
  const auto& capability = machine.gpus[positions.front()].capability;
  return named(fmt::format("GPU{} {}", indices.size() == 1 ? "" : "s", ranges(indices)),
               capability ? to_text(*capability) : "");
}

// Members are named for what they put into the reason.
class Words {
 public:
  Words(const CheckCase& question, Reason& reason)
      : m_question(question), m_machine(question.machine), m_registry(question.registry), m_reason(reason) {
    if (reason.gpus.empty()) return;
    m_gpus = gpus_text(m_machine, reason.gpus);
    m_brief_gpus = brief_gpus(m_machine, reason.gpus);
    m_capability = m_machine.gpus[reason.gpus.front()].capability.value_or(ComputeCapability{});
    m_range = toolkits_for(m_registry, m_capability);
  }

  void gpu_unknown();
  void toolkit_unknown();
  void gpu_dropped();
  void gpu_too_new();
  void gpu_not_driven();
  void gpu_lower_minor();
  void gpu_deprecated();

 private:
  const std::string& toolkit() const { return m_question.toolkit.name; }
  // What helps with GPUs that cannot be used, where others can.
  void offer(std::string way) {
    const bool has_others = m_reason.verdict == Verdict::limited;
    m_reason.cure = std::move(way);
    if (has_others) m_reason.cure.append(m_reason.cure.empty() ? "" : ", or ").append("work on the other GPUs");
  }
  void cite_row(const ToolkitArchitecturesRow* row) {
    if (row) cite(m_reason, row->source);
  }

  const CheckCase& m_question;
  const MachineFacts& m_machine;
  const Registry& m_registry;
  Reason& m_reason;
  std::string m_gpus;
  std::string m_brief_gpus;  // without names
  ComputeCapability m_capability;
  ToolkitRange m_range;
};

void Words::gpu_unknown() {
  if (!m_reason.gpus.empty()) {
    m_reason.text = fmt::format("the compute capability of {} is not known: not checked whether {} has code for it",
                                m_gpus, toolkit());
    return;
  }
  const bool are_hidden = m_machine.gpu_status == GpuStatus::known && !m_machine.gpus.empty();
  if (!m_machine.gpu_reason.empty())
    m_reason.text = m_machine.gpu_reason;
  else if (are_hidden)
    m_reason.text =
        fmt::format("CUDA_VISIBLE_DEVICES hides every GPU: not checked whether {} has code for one", toolkit());
  else if (m_machine.is_described)
    m_reason.text = fmt::format("no GPU was named: not checked whether {} has code for it", toolkit());
  else if (m_machine.gpu_status == GpuStatus::unknown)
    m_reason.text =
        fmt::format("the driver does not tell its GPUs: not checked whether {} has code for them", toolkit());
  else
    m_reason.text = fmt::format(
        "the driver lists no GPU (asleep, not passed to the container, or too new for it): not checked whether {} has "
        "code for one",
        toolkit());
}

void Words::toolkit_unknown() {
  if (!m_question.toolkit.release)
    m_reason.text = fmt::format("{} does not say its release: not checked whether the driver runs it", toolkit());
  else
    m_reason.text = fmt::format("the tables do not say which GPUs {} has code for", toolkit());
}

void Words::gpu_dropped() {
  m_reason.brief = fmt::format("no code for {}", m_brief_gpus);
  if (m_range.newest) m_reason.brief += fmt::format("; the last with it is {}", minor_text(*m_range.newest));
  m_reason.text = fmt::format("{} has no code for {}", toolkit(), m_gpus);
  const auto minors = m_registry.architectures;
  if (m_range.newest) {
    const auto next =
        std::find_if(minors.begin(), minors.end(), [&](const auto& row) { return &row > m_range.newest; });
    const std::string since = next == minors.end() ? "" : fmt::format(" from CUDA {} on", minor_text(*next));
    m_reason.text += fmt::format(": {} is gone{}; last toolkit with it: {}", generation_of(m_registry, m_capability),
                                 since, minor_text(*m_range.newest));
    offer(fmt::format("use CUDA {} or older", minor_text(*m_range.newest)));
    cite_row(m_range.newest);
  } else {
    m_reason.text += fmt::format(": no toolkit from CUDA {} on has {}", minor_text(minors.front()),
                                 generation_of(m_registry, m_capability));
    offer("");
  }
  cite_row(architectures_row(m_question));
}

void Words::gpu_too_new() {
  m_reason.brief = fmt::format("no code for {}", m_brief_gpus);
  if (m_range.oldest) m_reason.brief += fmt::format("; the first with it is {}", minor_text(*m_range.oldest));
  m_reason.text = fmt::format("{} has no code for {}: ", toolkit(), m_gpus);
  const auto& release = m_question.toolkit.release;
  const ToolkitArchitecturesRow* first = m_range.oldest;
  if (!first) {
    m_reason.text += fmt::format("no toolkit known here has {}", to_text(m_capability));
    offer("");
  } else if (release && minor_of(*release) >= Minor{first->major, first->minor}) {
    m_reason.text += fmt::format("its nvcc does not list sm_{}", architecture_code(m_capability));
    offer("");
  } else {
    m_reason.text += fmt::format("first toolkit with {}: {}", to_text(m_capability), minor_text(*first));
    offer(fmt::format("use CUDA {} or newer", minor_text(*first)));
  }
  cite_row(first);
  cite_row(architectures_row(m_question));
}

void Words::gpu_not_driven() {
  const ChipRow& chip = *find_chip(m_registry, m_capability);
  const bool is_too_old = kernel_branch(m_question) < chip.first_driver_branch;
  const std::uint32_t branch = is_too_old ? chip.first_driver_branch : chip.last_driver_branch;
  m_reason.text = fmt::format("{} does not drive {}: the {} driver branch for {} is {}", driver_name(m_question),
                              m_gpus, is_too_old ? "first" : "last", generation_of(m_registry, m_capability), branch);
  m_reason.brief = fmt::format("{} does not drive {}", driver_name(m_question), m_brief_gpus);
  std::string way = fmt::format("use driver {} or {}", branch, is_too_old ? "newer" : "older");
  if (!can_serve_a_gpu(m_question) && m_range.oldest && is_too_old) {
    m_reason.text += fmt::format(", and {} has no code for it either", toolkit());
    way += fmt::format(" with CUDA {} or newer", minor_text(*m_range.oldest));
  }
  offer(way);
}

void Words::gpu_lower_minor() {
  m_reason.text = fmt::format("{} has no code of its own for {}, which runs sm_{} code instead", toolkit(), m_gpus,
                              m_reason.architecture);
  m_reason.brief = fmt::format("build for sm_{}, which {} runs", m_reason.architecture, m_brief_gpus);
  m_reason.cure = fmt::format("build for sm_{0} (-arch=sm_{0})", m_reason.architecture);
  if (m_range.oldest) {
    m_reason.text += fmt::format("; first toolkit with {}: {}", to_text(m_capability), minor_text(*m_range.oldest));
    cite_row(m_range.oldest);
  }
  cite_row(architectures_row(m_question));
}

void Words::gpu_deprecated() {
  m_reason.text = fmt::format("nvcc of {} calls {} deprecated", toolkit(), m_gpus);
  m_reason.brief = fmt::format("{} is deprecated in it", m_brief_gpus);
  if (m_range.newest && m_range.newest != &m_registry.architectures.back())
    m_reason.text += fmt::format("; last toolkit with {}: {}", to_text(m_capability), minor_text(*m_range.newest));
  m_reason.cure = "nvcc -Wno-deprecated-gpu-targets silences its warning";
  cite_row(architectures_row(m_question));
}

}  // namespace

std::string listed(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  if (texts.size() == 1) return texts.front();
  return fmt::format("{} and {}", fmt::join(texts.begin(), texts.end() - 1, ", "), texts.back());
}

std::string gpus_text(const MachineFacts& machine, const std::vector<std::uint32_t>& positions) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> kinds;
  for (const std::uint32_t position : positions) {
    const Gpu& gpu = machine.gpus[position];
    const std::string kind = kind_of(gpu);
    auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& it) { return it.first == kind; });
    if (at == kinds.end()) at = kinds.insert(at, {kind, {}});
    at->second.push_back(gpu.index);
  }
  Texts texts;
  for (const auto& [kind, indices] : kinds)
    texts.push_back(named(fmt::format("GPU{} {}", indices.size() == 1 ? "" : "s", ranges(indices)), kind));
  return listed(texts);
}

void cite(Reason& reason, std::string_view ids) {
  for (const std::string_view id : base::split(ids, ' ')) {
    const auto cited = base::split(reason.source, ' ');
    if (id.empty() || std::find(cited.begin(), cited.end(), id) != cited.end()) continue;
    reason.source.append(reason.source.empty() ? "" : " ").append(id);
  }
}

const ReleaseRow* release_row(const CheckCase& question) {
  const auto& release = question.toolkit.release;
  return release ? find_release(question.registry, *release) : nullptr;
}

const ToolkitArchitecturesRow* architectures_row(const CheckCase& question) {
  const auto& release = question.toolkit.release;
  return release ? architectures_of(question.registry, *release) : nullptr;
}

void put_gpu_words(const CheckCase& question, Reason& reason) {
  Words words(question, reason);
  switch (reason.kind) {
    case ReasonKind::gpu_unknown: return words.gpu_unknown();
    case ReasonKind::toolkit_unknown: return words.toolkit_unknown();
    case ReasonKind::gpu_dropped: return words.gpu_dropped();
    case ReasonKind::gpu_too_new: return words.gpu_too_new();
    case ReasonKind::gpu_not_driven: return words.gpu_not_driven();
    case ReasonKind::gpu_lower_minor: return words.gpu_lower_minor();
    case ReasonKind::gpu_deprecated: return words.gpu_deprecated();
    default: return;  // about the driver
  }
}

std::string to_text(const Gpu& gpu) { return named(fmt::format("GPU {}", gpu.index), kind_of(gpu)); }

}  // namespace cudaenv::core
