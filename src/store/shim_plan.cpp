// SPDX-License-Identifier: Apache-2.0
#include "store/shim_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/shimmed_libraries.hpp"

namespace cudaenv::store {
namespace {

// The functions of libcudart that do not answer with a cudaError_t.
struct OddAnswer {
  std::string_view function;
  core::ShimAnswer answer;
};
constexpr OddAnswer k_odd_answers[] = {
    {"__cudaRegisterFatBinary", core::ShimAnswer::handle},
    {"cudaCreateChannelDesc", core::ShimAnswer::channel},
    {"cudaGetErrorName", core::ShimAnswer::text},
    {"cudaGetErrorString", core::ShimAnswer::text},
};

core::ShimAnswer answer_of(std::string_view function, std::string_view soname) {
  if (core::library_stem(soname) != core::k_cudart) return core::ShimAnswer::end;
  for (const OddAnswer& odd : k_odd_answers)
    if (odd.function == function) return odd.answer;
  return core::ShimAnswer::error;
}

constexpr std::size_t k_enough = 1024;  // functions of a shim that only refuses

elf::PlannedFunction planned(const elf::Export& offered, const std::string& version, std::string_view soname) {
  return {offered.name, version, offered.is_default, offered.is_weak, answer_of(offered.name, soname)};
}

// What about a library a shim cannot stand for; empty if nothing.
std::string obstacle_in(const ShimSource& source) {
  std::unordered_set<std::string_view> names;
  for (const elf::Export& offered : source.library.exports) {
    const auto tell = [&](std::string_view what) {
      return fmt::format("{} {} ({})", base::escaped(source.file.native()), what, base::escaped(offered.name));
    };
    if (!offered.is_function) return tell("offers more than functions");
    if (!names.insert(offered.name).second) return tell("offers a function in several versions");
  }
  return {};
}

// Parts of glibc that a libcudart may need. A shim that needs them too has them loaded with everything else, and not by
// a loader that has to begin its search anew when the shim opens the library.
constexpr std::string_view k_of_glibc[] = {"libpthread.so.0", "librt.so.1"};

std::vector<std::string> needed_by_all(const std::vector<const ShimSource*>& sources) {
  std::vector<std::string> needed;
  for (const std::string_view part : k_of_glibc)
    if (std::all_of(sources.begin(), sources.end(), [&](const ShimSource* source) {
          const std::vector<std::string>& all = source->library.needed;
          return std::find(all.begin(), all.end(), part) != all.end();
        }))
      needed.emplace_back(part);
  return needed;
}

std::vector<std::string> preload_of_all(const std::vector<const ShimSource*>& sources) {
  std::vector<std::string> all;
  for (const ShimSource* source : sources)
    for (const std::string& file : source->preload)
      if (std::find(all.begin(), all.end(), file) == all.end()) all.push_back(file);
  return all;
}

// Two libraries of the same key cannot be told from each other when a process starts. Then nothing is hidden that one
// of them has; what the other one lacks is noticed when it is called.
void add_library(elf::PlannedLibrary added, std::vector<elf::PlannedLibrary>& libraries) {
  for (elf::PlannedLibrary& same : libraries) {
    if (same.key != added.key) continue;
    std::vector<std::size_t> lacked_by_both;
    std::set_intersection(same.absent.begin(), same.absent.end(), added.absent.begin(), added.absent.end(),
                          std::back_inserter(lacked_by_both));
    same.absent = std::move(lacked_by_both);
    return;
  }
  libraries.push_back(std::move(added));
}

PlannedShim plan_shim(const std::string& soname, const std::vector<const ShimSource*>& sources,
                      const std::string& root) {
  PlannedShim shim{{soname, root, {}, {}, {}, {}}, {}};
  shim.plan.needed = needed_by_all(sources);
  shim.plan.preload = preload_of_all(sources);
  std::unordered_map<std::string, std::size_t> numbers;  // by name and version
  std::vector<std::vector<std::size_t>> offered_by;
  for (const ShimSource* source : sources) {
    if (shim.refusal = obstacle_in(*source); !shim.refusal.empty()) return shim;
    std::vector<std::size_t>& own = offered_by.emplace_back();
    for (const elf::Export& offered : source->library.exports) {
      const auto [found, is_new] = numbers.try_emplace(offered.name + '@' + offered.version, numbers.size());
      if (is_new) shim.plan.functions.push_back(planned(offered, offered.version, soname));
      own.push_back(found->second);
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<bool> is_own(numbers.size());
    for (const std::size_t number : offered_by[i]) is_own[number] = true;
    elf::PlannedLibrary library{sources[i]->key, {}};
    for (std::size_t number = 0; number < is_own.size(); ++number)
      if (!is_own[number]) library.absent.push_back(number);
    add_library(std::move(library), shim.plan.libraries);
  }
  return shim;
}

PlannedShim plan_refusing_shim(const std::string& soname, const ShimSources& sources, const std::string& root) {
  PlannedShim shim{{soname, root, {}, {}, {}, {}}, {}};
  std::set<std::string> names;
  for (const ShimSource& source : sources.installed) {
    if (core::library_stem(source.library.soname) != core::library_stem(soname)) continue;
    for (const elf::Export& offered : source.library.exports)
      if (offered.is_function && names.size() < k_enough && names.insert(offered.name).second)
        shim.plan.functions.push_back(planned(offered, soname, soname));
  }
  return shim;
}

}  // namespace

std::vector<PlannedShim> plan_shims(const ShimSources& sources, const std::vector<std::string>& known,
                                    const std::string& root) {
  std::map<std::string, std::vector<const ShimSource*>> by_soname;
  for (const ShimSource& source : sources.installed) by_soname[source.library.soname].push_back(&source);
  for (const ShimSource& source : sources.system) by_soname[source.library.soname].push_back(&source);
  std::vector<PlannedShim> shims;
  for (const auto& [soname, having] : by_soname) shims.push_back(plan_shim(soname, having, root));
  for (const std::string& soname : known)
    if (!by_soname.contains(soname)) shims.push_back(plan_refusing_shim(soname, sources, root));
  return shims;
}

}  // namespace cudaenv::store
