// SPDX-License-Identifier: Apache-2.0
#include "installer/changeable.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {

Result<Changeable> changeable_toolkit(commands::App& app, const std::optional<std::string>& typed,
                                      const std::string& command) {
  CUDAENV_TRY(chosen, commands::selected_or_error(app, typed));
  if (!chosen.is_toolkit())
    return fail(
        ErrorKind::usage,
        typed ? "system is no toolkit of cudaenv's" : fmt::format("no toolkit was named, and {}", chosen.origin_text()),
        command + " 12.8");
  CUDAENV_TRY(toolkit, store::find_toolkit(app.roots, chosen.name));
  if (!toolkit) return fail(ErrorKind::not_installed, fmt::format("{} is not installed", chosen.name));
  if (toolkit->adopted_from)
    return fail(ErrorKind::usage,
                fmt::format("{} is adopted from {}", toolkit->name, base::escaped(toolkit->adopted_from->native())),
                "cudaenv install --list",
                {"cudaenv changes only what it has installed itself: install a release, and name that one"});
  if (toolkit->is_shared) {
    const std::string shared = base::escaped(app.roots.shared->path.native());
    return fail(ErrorKind::filesystem,
                fmt::format("{} is in the shared root {}, which is only read", toolkit->name, shared),
                fmt::format("CUDAENV_ROOT={} {} {}", shared, command, toolkit->name));
  }
  CUDAENV_TRY(receipt, store::read_receipt(toolkit->directory));
  return Changeable{std::move(*toolkit), std::move(receipt)};
}

}  // namespace cudaenv::installer
