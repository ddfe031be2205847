// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "core/check_words.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

// Members are named for what they put into the reason.
class Words {
 public:
  Words(const CheckCase& question, Reason& reason)
      : m_question(question), m_machine(question.machine), m_registry(question.registry), m_reason(reason) {}

  void driver_unknown();
  void driver_newer_than_us();
  void driver_too_old();
  void toolkit_newer();

 private:
  const std::string& toolkit() const { return m_question.toolkit.name; }
  std::uint32_t major() const { return m_question.toolkit.release->major; }
  std::string driver() const { return driver_name(m_question); }
  std::string driver_reach() const;
  std::string needed_driver() const;
  std::string architectures() const;
  bool is_left_behind_by(std::uint32_t branch) const;
  // Whether the driver's libraries are there already, and the kernel's part is the old one.
  bool reboot_helps() const {
    return m_machine.is_out_of_step && m_machine.libcuda_cuda && m_machine.libcuda_cuda->major >= major();
  }
  std::string compat_package();
  void cite_driver();

  const CheckCase& m_question;
  const MachineFacts& m_machine;
  const Registry& m_registry;
  Reason& m_reason;
};

// The CUDA versions that the driver runs: "12.x", or "11.0" where no more than its own minor is sure.
std::string Words::driver_reach() const {
  const MajorRow* row = find_major(m_registry, m_machine.cuda->major);
  const bool is_whole_major =
      row && row->minor_version_compatible && !is_below_minimum(m_question, m_machine.cuda->major);
  return is_whole_major ? fmt::format("{}.x", m_machine.cuda->major) : to_text(*m_machine.cuda);
}

// "driver 580.65.06 or newer": by the toolkit's major, or by its release where the major has no such rule.
std::string Words::needed_driver() const {
  const std::string_view side = m_machine.host == HostKind::wsl ? "Windows driver" : "driver";
  if (m_machine.host != HostKind::tegra)
    if (const DottedVersion* minimum = minimum_driver(m_question, major()))
      return fmt::format("{} {} or newer", side, driver_text(*minimum));
  const MajorRow* row = find_major(m_registry, major());
  const bool is_by_release = row && !row->minor_version_compatible;
  const ReleaseRow* release = release_row(m_question);
  if (is_by_release && release && m_machine.host == HostKind::plain)
    return fmt::format("{} {} or newer", side, driver_text(release->minimum_driver));
  return fmt::format("a {} for CUDA {}", side,
                     is_by_release ? to_text(minor_of(*m_question.toolkit.release)) : fmt::format("{}", major()));
}

// "sm_86 and sm_90": what to build for. Empty if there is no GPU to go by.
std::string Words::architectures() const {
  std::vector<std::string> forms;
  for (const std::uint16_t code : codes_to_build(m_question)) forms.push_back(fmt::format("sm_{}", code));
  return listed(forms);
}

// Whether an update would not help: the driver that is needed drives none of the visible GPUs any more.
bool Words::is_left_behind_by(std::uint32_t branch) const {
  const auto is_dropped = [&](std::uint32_t position) {
    const auto& capability = m_machine.gpus[position].capability;
    const ChipRow* chip = capability ? find_chip(m_registry, *capability) : nullptr;
    return chip && chip->last_driver_branch != 0 && chip->last_driver_branch < branch;
  };
  const auto& visible = m_question.visible;
  return m_machine.gpu_status == GpuStatus::known && !visible.empty() &&
         std::all_of(visible.begin(), visible.end(), is_dropped);
}

// Forward compatibility as a clause, where NVIDIA supports it; empty elsewhere. Named, never switched on by itself.
std::string Words::compat_package() {
  const Minor minor = minor_of(*m_question.toolkit.release);
  if (m_machine.host == HostKind::tegra)
    return fmt::format("install the board's cuda_compat package for CUDA {} or a newer JetPack", to_text(minor));
  const std::uint32_t branch = kernel_branch(m_question);
  const CompatRow* row = find_compat(m_registry, minor, branch);
  if (!row || m_machine.host != HostKind::plain || m_machine.gpu_status != GpuStatus::known) return {};
  for (const std::uint32_t position : m_question.visible) {
    const Gpu& gpu = m_machine.gpus[position];
    if (!gpu.capability || !is_data_center(m_registry, gpu.name, *gpu.capability)) continue;
    cite(m_reason, row->source);
    return fmt::format("install NVIDIA's package cuda-compat-{}-{}, which lets {} run it on a {} driver", minor.major,
                       minor.minor, to_text(gpu), branch);
  }
  return {};
}

void Words::cite_driver() {
  if (const MajorRow* row = find_major(m_registry, major())) cite(m_reason, row->source);
  if (m_machine.cuda_source != FactSource::branch_table) return;
  if (const DriverBranchRow* row = find_driver_branch(m_registry, kernel_branch(m_question)))
    cite(m_reason, row->source);
}

void Words::driver_unknown() {
  if (!m_machine.driver_reason.empty())
    m_reason.text = m_machine.driver_reason;
  else if (m_machine.driver == DriverStatus::absent)
    m_reason.text = fmt::format("no driver found: not checked whether {} runs here", toolkit());
  else if (m_machine.driver == DriverStatus::nouveau)
    m_reason.text = fmt::format(
        "nouveau drives the card, and CUDA needs NVIDIA's driver: not checked whether {} runs here", toolkit());
  else if (m_machine.is_described && !m_machine.kernel_version)
    m_reason.text = fmt::format("no driver was named: not checked whether it runs {}", toolkit());
  else if (m_machine.driver == DriverStatus::unknown)
    m_reason.text = fmt::format("the driver does not answer: not checked whether it runs {}", toolkit());
  else
    m_reason.text = fmt::format("not known whether {} runs {}", driver(), toolkit());
}

void Words::driver_newer_than_us() {
  m_reason.text = fmt::format("not known whether {} runs {}: this cudaenv knows no more of it than CUDA {} or newer",
                              driver(), toolkit(), to_text(*m_machine.cuda));
}

void Words::driver_too_old() {
  std::vector<std::string> have;
  if (m_machine.kernel_version && m_machine.host != HostKind::tegra)
    have.push_back(driver_text(*m_machine.kernel_version));
  if (m_machine.has_compat_library) have.push_back("with a cuda-compat library");
  const bool knows_reach = m_machine.cuda && !m_machine.is_cuda_at_least;
  if (knows_reach) have.push_back(fmt::format("for CUDA up to {}", driver_reach()));
  m_reason.text = fmt::format("{} needs {}; this one is {}", toolkit(), needed_driver(), base::join(have, ", "));
  m_reason.brief = "needs " + needed_driver();

  const DottedVersion* minimum = minimum_driver(m_question, major());
  const bool is_left_behind = minimum && is_left_behind_by((*minimum)[0]);
  std::vector<std::string> ways;
  // No driver helps a toolkit that has no code for the GPUs.
  const bool is_worth_a_driver = can_serve_a_gpu(m_question);
  if (reboot_helps())
    ways.push_back("reboot");
  else if (!is_left_behind && is_worth_a_driver && m_machine.host != HostKind::tegra)
    ways.push_back("update the driver");
  ways.push_back(knows_reach ? fmt::format("use CUDA {}", driver_reach()) : "use an older toolkit");
  cite_driver();
  if (is_worth_a_driver)
    if (const std::string way = compat_package(); !way.empty()) ways.push_back(way);
  m_reason.cure = base::join(ways, ", or ");
  if (is_left_behind)
    m_reason.cure += fmt::format("; drivers that new do not drive {}", gpus_text(m_machine, m_question.visible));
}

void Words::toolkit_newer() {
  const bool is_ptx_newer = !has_same_ptx(m_question);
  const std::string_view effect =
      is_ptx_newer ? "PTX made by it does not load there (error 222)" : "functions new in it fail there (error 36)";
  m_reason.text =
      m_machine.has_compat_library
          ? fmt::format("{} is newer than the cuda-compat library (CUDA {}) on {}: {}", toolkit(),
                        to_text(*m_machine.cuda), driver(), effect)
          : fmt::format("{} is newer than {} (CUDA {}): {}", toolkit(), driver(), to_text(*m_machine.cuda), effect);
  m_reason.brief = fmt::format("newer than the driver's CUDA {}: {}", to_text(*m_machine.cuda),
                               is_ptx_newer ? "" : "functions new in it fail (error 36)");
  std::vector<std::string> ways;
  if (is_ptx_newer && can_serve_a_gpu(m_question)) {
    const std::string names = architectures();
    m_reason.brief += fmt::format("build for {}, its PTX does not load (error 222)",
                                  names.empty() ? "your GPU's own sm_ number" : names);
    if (m_reason.architecture == 0)
      ways.push_back("build with -arch=sm_ and the number of your GPU");
    else if (names.find(' ') == std::string::npos)
      ways.push_back(fmt::format("build with -arch={}", names));
    else
      ways.push_back(fmt::format("build for {} with -gencode", names));
    if (const auto* row = architectures_row(m_question)) cite(m_reason, row->source);
  }
  const ReleaseRow* row = release_row(m_question);
  if (reboot_helps())
    ways.push_back("reboot");
  else if (row && can_serve_a_gpu(m_question) && m_machine.host == HostKind::plain &&
           !is_left_behind_by(row->minimum_driver[0]))
    ways.push_back(fmt::format("update the driver to {} or newer", driver_text(row->minimum_driver)));
  m_reason.cure = base::join(ways, ", or ");
  cite_driver();
}

}  // namespace

std::string driver_name(const CheckCase& question) {
  const MachineFacts& machine = question.machine;
  if (!machine.kernel_version) return "this driver";
  if (machine.host == HostKind::tegra) return "driver " + to_text(*machine.kernel_version);
  return fmt::format("{}driver {}", machine.host == HostKind::wsl ? "Windows " : "",
                     driver_text(*machine.kernel_version));
}

void put_driver_words(const CheckCase& question, Reason& reason) {
  Words words(question, reason);
  switch (reason.kind) {
    case ReasonKind::driver_unknown: return words.driver_unknown();
    case ReasonKind::driver_newer_than_us: return words.driver_newer_than_us();
    case ReasonKind::driver_too_old:
    case ReasonKind::driver_below_minimum: return words.driver_too_old();
    case ReasonKind::toolkit_newer: return words.toolkit_newer();
    default: break;  // about GPUs
  }
}

}  // namespace cudaenv::core
