// SPDX-License-Identifier: Apache-2.0
#include "installer/sources.hpp"

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace cudaenv::installer {

Result<std::vector<redist::Source>> open_sources(const std::vector<std::string>& typed, const store::Settings& settings,
                                                 const commands::App& app) {
  std::vector<std::string> texts = typed.empty() ? settings.mirrors() : typed;
  if (texts.empty()) texts.emplace_back(redist::k_nvidia_base);
  redist::SourceOptions how;
  if (settings.is_on("network.allow_http")) how.plain_http = redist::PlainHttp::everywhere;
  how.idle_timeout = std::chrono::seconds(settings.number("network.idle_timeout"));
  how.retries = static_cast<int>(settings.number("network.retries"));
  CUDAENV_TRY(here, base::working_directory(app.environment));
  std::vector<redist::Source> sources;
  for (const std::string& text : texts) {
    CUDAENV_TRY(source, redist::open_source(text, how, here));
    sources.push_back(std::move(source));
  }
  return sources;
}

redist::AcceptedManifest accepted_manifest(const std::string& typed, const commands::App& app) {
  if (!typed.empty()) return {typed};
  return {std::string(app.environment.value(env_names::k_accept_manifest))};
}

Result<core::Profile> typed_profile(const std::string& typed, const std::string& hint) {
  if (const auto profile = core::parse_profile(typed)) return *profile;
  return fail(ErrorKind::usage, fmt::format("there is no profile \"{}\"", base::escaped(typed)), hint,
              {"known: minimal, default, full"});
}

void tell_left_out(base::Output& output, const core::ComponentPlan& plan, core::Profile profile,
                   std::string_view done) {
  if (!plan.unknown.empty() && profile != core::Profile::minimal)
    output.note(fmt::format("not {}, because this cudaenv does not know {}: {} (--with NAME takes one)", done,
                            plan.unknown.size() == 1 ? "it" : "them", base::join(plan.unknown, ", ")));
  for (const auto& [needed, by] : plan.unmet)
    output.warning(fmt::format("{} is left out, and {} cannot work without it", needed, base::join(by, ", ")));
}

}  // namespace cudaenv::installer
