// SPDX-License-Identifier: Apache-2.0
#include "installer/mirror_verify.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"
#include "redist/held_archives.hpp"

namespace cudaenv::installer {
namespace {

// What the manifests say should be there, and what is wrong with it.
struct Findings {
  std::map<std::string, redist::ArchiveJob> wanted;  // by path below the mirror
  std::set<std::string> manifests;                   // names
  std::set<std::string> licences;                    // paths of texts that lie beside NVIDIA's archives
  std::vector<std::string> faults;                   // a line each
};

void add_archives(const MirrorDirectory& mirror, const core::Component& component,
                  const core::PlatformArchives& platform, Findings& findings) {
  for (const auto& [variant, archive] : platform.by_variant) {
    auto job = mirror.job(component.name, archive);
    if (!job) {
      findings.faults.push_back(job.error().message);
      continue;
    }
    const auto [at, is_new] = findings.wanted.emplace(archive.relative_path, std::move(*job));
    if (!is_new && at->second.archive.sha256 != archive.sha256)
      findings.faults.push_back(
          fmt::format("{}: two manifests have different digests for it", base::escaped(archive.relative_path)));
  }
}

Result<Findings> read_manifests(const MirrorDirectory& mirror, const redist::AcceptedManifest& accepted,
                                const core::Registry& registry) {
  Findings findings;
  CUDAENV_TRY(source, redist::open_source(mirror.path().native(), {}, mirror.path()));
  CUDAENV_TRY(names, mirror.manifests());
  for (const std::string& name : names) {
    findings.manifests.insert(name);
    const auto fetched = redist::fetch_manifest(source, *core::release_of_manifest_name(name), registry, accepted);
    if (fetched) {
      for (const core::Component& component : fetched->manifest.components) {
        findings.licences.insert(component.license_path);
        for (const core::PlatformArchives& platform : component.platforms)
          add_archives(mirror, component, platform, findings);
      }
      continue;
    }
    if (fetched.error().kind == ErrorKind::interrupted) return fail(fetched.error());
    findings.faults.push_back(fmt::format("{}: {}", name, fetched.error().message));
    for (const std::string& detail : fetched.error().details)
      if (fetched.error().kind == ErrorKind::untrusted) findings.faults.push_back("  " + detail);
  }
  return findings;
}

void tell_strays(const MirrorDirectory& mirror, const Findings& findings, const std::vector<std::string>& files,
                 base::Output& output) {
  for (const std::string& file : files) {
    const bool is_known = findings.wanted.contains(file) || findings.manifests.contains(file) ||
                          findings.licences.contains(file) || file == k_index_page;
    if (!is_known)
      output.note(fmt::format("belongs to no manifest: {}", base::escaped((mirror.path() / file).native())));
  }
}

}  // namespace

Result<void> verify_mirror(const MirrorDirectory& mirror, const redist::AcceptedManifest& accepted,
                           commands::App& app) {
  CUDAENV_TRY(findings, read_manifests(mirror, accepted, app.facts.registry()));
  if (findings.manifests.empty())
    return fail(ErrorKind::not_found, fmt::format("there is no manifest in {}", mirror.shown()),
                fmt::format("cudaenv mirror {} 12.8", mirror.shown()));
  std::vector<redist::ArchiveJob> jobs;
  for (const auto& [path, job] : findings.wanted) jobs.push_back(job);
  CUDAENV_TRY(held, redist::examine(jobs));
  std::size_t whole = 0;
  std::size_t absent = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    absent += held[i].holding == redist::Holding::absent ? 1 : 0;
    if (held[i].holding == redist::Holding::whole) {
      ++whole;
      bytes += jobs[i].archive.size;
    }
    if (held[i].holding == redist::Holding::damaged)
      findings.faults.push_back(fmt::format("{}: {}", base::escaped(jobs[i].archive.relative_path), held[i].damage));
  }
  CUDAENV_TRY(files, mirror.files());
  tell_strays(mirror, findings, files, app.output);
  const std::string counts =
      fmt::format("{} manifest{}, {} archives ({}) are right, {} that they name are absent", findings.manifests.size(),
                  findings.manifests.size() == 1 ? "" : "s", whole, base::human_size(bytes), absent);
  if (findings.faults.empty()) {
    app.output.note(fmt::format("{}: {}", mirror.shown(), counts));
    return {};
  }
  Error error{ErrorKind::integrity, fmt::format("{} is damaged", mirror.shown()), {}, std::move(findings.faults)};
  error.details.push_back(counts);
  error.details.emplace_back("what is damaged is fetched anew by the command that fetched it");
  error.hint = fmt::format("cudaenv mirror {} RELEASE...", mirror.shown());
  return fail(std::move(error));
}

}  // namespace cudaenv::installer
