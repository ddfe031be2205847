// SPDX-License-Identifier: Apache-2.0
#include "core/component_plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/file_choice.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

constexpr std::string_view k_without = "--without";

bool is_in_profile(const ComponentRow& row, Profile profile) {
  if (!is_in_full_profile(row.component_class)) return false;
  if (profile == Profile::minimal) return row.in_minimal;
  return profile == Profile::full || row.in_default;
}

// Collects names; knows which ones the manifest can serve on the platform.
class Planner {
 public:
  Planner(const Manifest& manifest, const Registry& registry, const Version& release, std::string_view platform)
      : m_manifest(manifest), m_registry(registry), m_release(release), m_platform(platform) {}

  const Archive* archive(std::string_view name) const {
    const Component* component = m_manifest.find(name);
    const PlatformArchives* archives = component ? component->archives_for(m_platform) : nullptr;
    return archives ? archive_for(*archives, m_release) : nullptr;
  }

  // The component's name in this manifest: a renamed one answers to its old and its new name.
  std::string name_here(std::string_view typed) const {
    if (m_manifest.find(typed)) return std::string(typed);
    const ComponentRow* row = find_component(m_registry, typed);
    const ComponentRow* other = row ? other_name_of(m_registry, *row) : nullptr;
    return std::string(other && m_manifest.find(other->name) ? other->name : typed);
  }

  // The name here of one that was typed after `option`, or why there is none.
  Result<std::string> require(std::string_view typed, std::string_view option) const {
    std::string name = name_here(typed);
    if (archive(name)) return name;
    if (m_manifest.find(name))
      return fail(ErrorKind::not_found, fmt::format("component {} of CUDA {} has no archive for {}", name,
                                                    to_text(m_release), base::escaped(m_platform)));
    std::vector<std::string_view> names;
    for (const Component& component : m_manifest.components) names.push_back(component.name);
    if (option == k_without)
      for (const FileGroup& group : file_groups()) names.push_back(group.word);
    const std::vector<std::string> near = base::did_you_mean(typed, names);
    return fail(ErrorKind::not_found,
                fmt::format("CUDA {} has no component \"{}\"", to_text(m_release), base::escaped(typed)),
                near.empty() ? fmt::format("cudaenv install {} --profile full --dry-run", to_text(m_release))
                             : fmt::format("cudaenv install {} {} {}", to_text(m_release), option, near.front()),
                near.size() > 1 ? std::vector{"near: " + base::join(near, ", ")} : std::vector<std::string>());
  }

  // Adds the name and all that it needs, but for what was asked away.
  void add(const std::string& name, const std::set<std::string>& without) {
    if (without.contains(name) || !archive(name) || !m_chosen.insert(name).second) return;
    const ComponentRow* row = find_component(m_registry, name);
    if (!row) return;
    for (const std::string_view need : row->needs) add(name_here(need), without);
  }

  ComponentPlan finish(const std::set<std::string>& without) const {
    ComponentPlan plan;
    for (const std::string& name : m_chosen)
      plan.components.push_back({m_manifest.find(name), *archive(name), find_component(m_registry, name)});
    for (const Component& component : m_manifest.components)
      if (!find_component(m_registry, component.name) && !m_chosen.contains(component.name) && archive(component.name))
        plan.unknown.push_back(component.name);
    for (const std::string& name : without)
      if (std::vector<std::string> needers = needers_of(name); archive(name) && !needers.empty())
        plan.unmet.emplace_back(name, std::move(needers));
    return plan;
  }

 private:
  std::vector<std::string> needers_of(const std::string& name) const {
    std::vector<std::string> needers;
    for (const std::string& chosen : m_chosen) {
      const ComponentRow* row = find_component(m_registry, chosen);
      if (row && std::any_of(row->needs.begin(), row->needs.end(), [&](auto need) { return name_here(need) == name; }))
        needers.push_back(chosen);
    }
    return needers;
  }

  const Manifest& m_manifest;
  const Registry& m_registry;
  const Version m_release;
  const std::string_view m_platform;
  std::set<std::string> m_chosen;
};

}  // namespace

bool is_flat(const PlatformArchives& archives) {
  return archives.by_variant.size() == 1 && archives.by_variant.front().first.empty();
}

std::string_view cuda_of_variant(std::string_view variant) {
  if (variant.starts_with("cuda")) variant.remove_prefix(4);
  return variant;
}

const Archive* archive_for(const PlatformArchives& archives, const Version& release) {
  if (is_flat(archives)) return &archives.by_variant.front().second;
  const Archive* of_major = nullptr;
  const Archive* of_older_minor = nullptr;
  const Archive* of_newer_minor = nullptr;
  std::uint32_t newest = 0;
  std::size_t newer = 0;
  for (const auto& [variant, archive] : archives.by_variant) {
    const auto cuda = parse_dotted_version(cuda_of_variant(variant));
    if (!cuda || cuda->count > 2 || cuda->part[0] != release.major) continue;
    const std::uint32_t minor = cuda->part[1];
    if (cuda->count == 1) {
      of_major = &archive;
    } else if (minor == release.minor) {
      return &archive;
    } else if (minor > release.minor) {
      of_newer_minor = &archive;
      ++newer;
    } else if (!of_older_minor || minor > newest) {
      of_older_minor = &archive;
      newest = minor;
    }
  }
  if (of_major) return of_major;
  if (of_older_minor) return of_older_minor;
  return newer == 1 ? of_newer_minor : nullptr;
}

std::string_view to_text(Profile profile) {
  switch (profile) {
    case Profile::minimal: return "minimal";
    case Profile::standard: return "default";
    case Profile::full: return "full";
  }
  return "default";
}

std::optional<Profile> parse_profile(std::string_view text) {
  for (const Profile profile : {Profile::minimal, Profile::standard, Profile::full})
    if (text == to_text(profile)) return profile;
  return std::nullopt;
}

std::uint64_t ComponentPlan::download_size() const {
  std::uint64_t bytes = 0;
  for (const PlannedComponent& planned : components) bytes += planned.archive.size;
  return bytes;
}

const PlannedComponent* ComponentPlan::find(std::string_view name) const {
  for (const PlannedComponent& planned : components)
    if (planned.component->name == name) return &planned;
  return nullptr;
}

Result<ComponentPlan> plan_components(const Manifest& manifest, const Registry& registry, const Version& release,
                                      std::string_view platform, const ComponentChoice& choice) {
  Planner planner(manifest, registry, release, platform);
  std::set<std::string> without;
  for (const std::string& typed : choice.without) {
    if (find_file_group(typed)) continue;  // of files, not of components
    const std::string name = planner.name_here(typed);
    // Asking away what the release never had is no mistake where the registry knows it: one command for all releases.
    if (!manifest.find(name) && !find_component(registry, name)) CUDAENV_CHECK(planner.require(typed, k_without));
    without.insert(name);
  }
  for (const Component& component : manifest.components) {
    const ComponentRow* row = find_component(registry, component.name);
    if (row && is_in_profile(*row, choice.profile)) planner.add(component.name, without);
  }
  for (const std::string& typed : choice.with) {
    CUDAENV_TRY(name, planner.require(typed, "--with"));
    if (without.contains(name)) return fail(ErrorKind::usage, fmt::format("--with and --without both name {}", name));
    planner.add(name, without);
  }
  ComponentPlan plan = planner.finish(without);
  if (plan.components.empty())
    return fail(ErrorKind::not_found, fmt::format("no component of CUDA {} is left to install", to_text(release)));
  return plan;
}

}  // namespace cudaenv::core
