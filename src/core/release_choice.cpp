// SPDX-License-Identifier: Apache-2.0
#include "core/release_choice.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

std::string listed(const std::vector<Version>& releases) {
  std::vector<std::string> texts;
  for (const Version& release : releases) texts.push_back(to_text(release));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<Version> known_around(const Spec& spec, const Registry& registry) {
  const Version& version = spec.version;
  if (spec.given == 3) return nearest_releases(registry, version, Among::installable);
  return nearest_releases(registry, version.major, spec.given < 2 ? 0 : version.minor, Among::installable);
}

// The closing lines of a "no such release".
Error with_nearest(Error error, const std::vector<Version>& releases) {
  if (releases.empty()) {
    error.hint = "cudaenv install --list";
    return error;
  }
  error.details.push_back("nearest: " + listed(releases));
  error.hint = "cudaenv install " + to_text(releases.back());
  return error;
}

bool is_preview(const Registry& registry, const Version& release) {
  const ReleaseRow* row = find_release(registry, release);
  return row && row->is_preview;
}

// Those published that lie around the number asked for, so that the message offers what this base really has: of the
// nearest minors the newest update, unless an update was asked for.
std::vector<Version> published_around(const Spec& spec, const std::vector<Version>& published,
                                      const Registry& registry) {
  const Version& wanted = spec.version;
  const auto is_nearer = [&](const Version& release, const Version& other) {
    const bool is_newer_update = spec.given < 3 && release.major == other.major && release.minor == other.minor;
    return is_newer_update ? release > other : release < other;
  };
  std::optional<Version> below;
  std::optional<Version> above;
  for (const Version& release : published) {
    if (is_preview(registry, release)) continue;
    if (release < wanted && (!below || release > *below)) below = release;
    if (release > wanted && (!above || is_nearer(release, *above))) above = release;
  }
  std::vector<Version> around;
  if (below) around.push_back(*below);
  if (above) around.push_back(*above);
  return around;
}

Version first_with_archives(const Registry& registry) {
  for (const ReleaseRow& row : registry.releases)
    if (row.has_archives) return row.release;
  return {};
}

Error not_published(const Spec& spec, const std::vector<Version>& published, const Registry& registry) {
  const Version& version = spec.version;
  const auto known =
      spec.given >= 2 ? releases_of(registry, version.major, version.minor) : releases_of(registry, version.major);
  const auto asked = [&](const ReleaseRow& row) { return spec.matches(row.release); };
  const bool is_released = std::any_of(known.begin(), known.end(), asked);
  const bool has_archives =
      std::any_of(known.begin(), known.end(), [&](const ReleaseRow& row) { return asked(row) && row.has_archives; });
  if (is_released && !has_archives) {
    Error error{ErrorKind::not_found, fmt::format("CUDA {} was published without redistributable archives", spec.text)};
    if (const Version first = first_with_archives(registry); known.front().release < first)
      error.details.push_back(fmt::format(
          "they start with {}; an older toolkit can be registered with `cudaenv adopt DIRECTORY`", to_text(first)));
    return with_nearest(std::move(error), published_around(spec, published, registry));
  }
  return with_nearest(
      {ErrorKind::not_found, fmt::format("CUDA {} is not among the releases published here", spec.text)},
      published_around(spec, published, registry));
}

// What is wrong with a number that no release can fit, and the release that was meant, if one can be told.
struct Mistake {
  std::string message;
  std::optional<Version> meant;
};

std::optional<Mistake> mistake_in(const Spec& spec, const Registry& registry) {
  if (spec.kind != SpecKind::number || spec.given < 2) return std::nullopt;
  const Version& version = spec.version;
  if (find_release(registry, version) && spec.given == 3) return std::nullopt;
  if (spec.given == 3) {
    DottedVersion number;
    number.part = {version.major, version.minor, version.patch, 0, 0};
    number.count = 3;
    if (const auto match = release_of_component_version(registry, number)) {
      const Version release = match->release->release;
      return Mistake{
          fmt::format("{} is the number of {}; the release is {}", spec.text, match->component, to_text(release)),
          release};
    }
  }
  const Released released =
      spec.given == 3 ? was_released(registry, version) : was_released(registry, version.major, version.minor);
  if (released != Released::no) return std::nullopt;
  return Mistake{fmt::format("CUDA {} was never released", spec.text), std::nullopt};
}

Error error_of(const Mistake& mistake, const std::vector<Version>& around) {
  Error error{ErrorKind::not_found, mistake.message};
  if (!mistake.meant) return with_nearest(std::move(error), around);
  error.hint = "cudaenv install " + to_text(*mistake.meant);
  return error;
}

}  // namespace

std::optional<Version> newest_known(const Spec& spec, const Registry& registry) {
  if (spec.kind != SpecKind::number && spec.kind != SpecKind::latest) return std::nullopt;
  std::optional<Version> newest;
  for (const ReleaseRow& row : registry.releases)
    if (spec.matches(row.release) && (!row.is_preview || spec.given == 3)) newest = row.release;
  return newest;
}

std::optional<Error> mistaken_number(const Spec& spec, const Registry& registry) {
  const auto mistake = mistake_in(spec, registry);
  if (!mistake) return std::nullopt;
  return error_of(*mistake, known_around(spec, registry));
}

Result<Version> choose_release(const Spec& spec, const std::vector<Version>& published, const Registry& registry) {
  if (spec.kind == SpecKind::system || spec.kind == SpecKind::name)
    return fail(ErrorKind::usage, fmt::format("\"{}\" is not a release that can be installed", spec.text),
                "cudaenv install --list");
  std::optional<Version> newest;
  for (const Version& release : published) {
    if (!spec.matches(release) || (newest && release <= *newest)) continue;
    if (spec.given != 3 && is_preview(registry, release)) continue;
    newest = release;
  }
  if (newest) return *newest;
  if (published.empty())
    return fail(ErrorKind::not_found,
                fmt::format("CUDA {} is not published here: there are no releases at all", spec.text));
  if (auto mistake = mistake_in(spec, registry)) {
    const bool is_here =
        mistake->meant && std::find(published.begin(), published.end(), *mistake->meant) != published.end();
    if (!is_here) mistake->meant.reset();
    return fail(error_of(*mistake, published_around(spec, published, registry)));
  }
  return fail(not_published(spec, published, registry));
}

}  // namespace cudaenv::core
