// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/machine_text.hpp"
#include "commands/refusal.hpp"
#include "commands/run.hpp"
#include "core/check.hpp"
#include "core/version_text.hpp"

namespace cudaenv::commands {
namespace {

// A fact in a column, how it was learnt behind it.
std::string row(std::string_view label, std::string_view value, std::string_view source) {
  return base::escaped(fmt::format("{:<12} {}{}", label, value, source.empty() ? "" : fmt::format("  ({})", source))) +
         "\n";
}

std::string driver_rows(const core::MachineFacts& machine) {
  if (!machine.kernel_version && !machine.cuda)
    return row("driver", machine.driver_reason.empty() ? "unknown" : machine.driver_reason, "");
  std::string text;
  text += row("driver", machine.kernel_version ? core::driver_text(*machine.kernel_version) : "unknown",
              to_text(machine.kernel_version_source));
  std::string cuda = machine.cuda ? core::to_text(*machine.cuda) : "unknown";
  if (machine.is_cuda_at_least) cuda += " or newer";
  text += row("its CUDA", cuda, to_text(machine.cuda_source));
  if (!machine.libcuda.empty())
    text += row("libcuda", machine.libcuda,
                machine.has_compat_library ? "forward compatibility: newer than the kernel's part" : "");
  return text;
}

std::string gpu_rows(const core::MachineFacts& machine) {
  std::string text;
  for (const core::Gpu& gpu : machine.gpus) {
    std::string value = gpu.name.empty() ? "" : gpu.name + ", ";
    value += gpu.capability ? fmt::format("compute capability {}", core::to_text(*gpu.capability))
                            : "compute capability unknown";
    if (!gpu.uuid.empty()) value += ", " + gpu.uuid;
    if (gpu.has_mig) value += ", " + mig_text(gpu);
    if (!gpu.is_visible && !is_without_instance(gpu)) value += ", hidden by CUDA_VISIBLE_DEVICES";
    text += row(fmt::format("GPU {}", gpu.index), value, to_text(machine.gpu_source));
  }
  const bool is_told = machine.gpus.empty() && machine.gpu_reason == machine.driver_reason;
  if (!is_told && (!machine.gpu_reason.empty() || machine.gpus.empty()))
    text += row("GPUs", machine.gpu_reason.empty() ? "unknown" : machine.gpu_reason, "");
  if (machine.visible_devices)
    text += row("visible", fmt::format("CUDA_VISIBLE_DEVICES=\"{}\"", *machine.visible_devices), "");
  return text;
}

std::string release_row(App& app, const core::MachineFacts& machine) {
  const std::string fits = in_words(core::newest_fits(app.facts.registry(), machine));
  return machine.cuda && !fits.empty() ? row("newest fit", fits, "") : "";
}

}  // namespace

Result<ExitCode> run(const InfoOptions& options, App& app) {
  CUDAENV_TRY(machine, app.machine.facts(Asking::anew));
  app.machine.save_decisions();
  if (options.json) {
    app.output.json(document(*machine));
    return ExitCode::done;
  }
  if (machine->host == core::HostKind::wsl) app.output.data(row("host", "WSL: the driver is Windows'", ""));
  if (machine->host == core::HostKind::tegra)
    app.output.data(row("host", "Jetson: the driver comes with the board", ""));
  app.output.data(driver_rows(*machine) + gpu_rows(*machine) + release_row(app, *machine));
  for (const std::string& note : machine->notes)
    if (note != machine->gpu_reason) app.output.data(row("note", note, ""));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
