// SPDX-License-Identifier: Apache-2.0
#include "store/shim_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

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

core::ShimAnswer answer_of(std::string_view function) {
  for (const OddAnswer& odd : k_odd_answers)
    if (odd.function == function) return odd.answer;
  return core::ShimAnswer::error;
}

constexpr std::size_t k_enough = 1024;  // functions of a shim that only refuses

using Key = std::pair<std::string, std::string>;  // name, version

elf::PlannedFunction planned(const elf::Export& offered, const std::string& version) {
  return {offered.name, version, offered.is_default, offered.is_weak, answer_of(offered.name)};
}

// What about a library a shim cannot stand for; empty if nothing.
std::string obstacle_in(const ShimSource& source) {
  std::set<std::string> names;
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

PlannedShim plan_shim(const std::string& soname, const std::vector<const ShimSource*>& sources,
                      const std::string& root) {
  PlannedShim shim{{soname, root, {}, {}, {}}, {}};
  shim.plan.needed = needed_by_all(sources);
  std::map<Key, std::size_t> functions;
  for (const ShimSource* source : sources) {
    if (shim.refusal = obstacle_in(*source); !shim.refusal.empty()) return shim;
    for (const elf::Export& offered : source->library.exports)
      if (functions.try_emplace({offered.name, offered.version}, functions.size()).second)
        shim.plan.functions.push_back(planned(offered, offered.version));
  }
  for (const ShimSource* source : sources) {
    std::set<Key> own;
    for (const elf::Export& offered : source->library.exports) own.insert({offered.name, offered.version});
    elf::PlannedLibrary library{source->key, {}};
    for (const auto& [key, index] : functions)
      if (!own.contains(key)) library.absent.push_back(index);
    shim.plan.libraries.push_back(std::move(library));
  }
  return shim;
}

PlannedShim plan_refusing_shim(const std::string& soname, const ShimSources& sources, const std::string& root) {
  PlannedShim shim{{soname, root, {}, {}, {}}, {}};
  std::set<std::string> names;
  for (const ShimSource& source : sources.installed)
    for (const elf::Export& offered : source.library.exports)
      if (offered.is_function && names.size() < k_enough && names.insert(offered.name).second)
        shim.plan.functions.push_back(planned(offered, soname));
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
