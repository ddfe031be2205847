// SPDX-License-Identifier: Apache-2.0
#include "store/toolkits.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/text.hpp"
#include "core/selection.hpp"
#include "core/spec.hpp"
#include "store/posix_system.hpp"

namespace cudaenv::store {
namespace {

// Sorted.
constexpr std::string_view k_host_tools[] = {"ar",      "as",   "bash",    "c++",     "cc",     "clang", "clang++",
                                             "cmake",   "cpp",  "cudaenv", "env",     "g++",    "gcc",   "gcov",
                                             "gdb",     "ld",   "ld.bfd",  "ld.gold", "make",   "nm",    "objcopy",
                                             "objdump", "perl", "pip",     "python",  "ranlib", "sh",    "strip"};
static_assert(std::is_sorted(std::begin(k_host_tools), std::end(k_host_tools)));

// What NVIDIA calls its tools, as they are or with a part added: nsys, nsys-ui.
constexpr std::string_view k_cuda_tools[] = {"__nvcc_device_query",
                                             "bin2c",
                                             "compute-sanitizer",
                                             "cu++filt",
                                             "cuda",
                                             "cudafe++",
                                             "cuobjdump",
                                             "fatbinary",
                                             "ncu",
                                             "nsight",
                                             "nsys",
                                             "nv-nsight",
                                             "nvcc",
                                             "nvdisasm",
                                             "nvlink",
                                             "nvprof",
                                             "nvprune",
                                             "nvvp",
                                             "ptxas",
                                             "tileiras"};

constexpr std::string_view k_system_directories[] = {"/usr/local/bin", "/usr/bin", "/bin"};

bool is_cuda_tool(std::string_view name) {
  return std::any_of(std::begin(k_cuda_tools), std::end(k_cuda_tools), [&](std::string_view tool) {
    return name.starts_with(tool) && (name.size() == tool.size() || name[tool.size()] == '-');
  });
}

// A program of the system's or cudaenv itself, with a target or a version in its name too: gcc-13, python3.12,
// x86_64-linux-gnu-g++-13.
bool is_host_tool(std::string_view name) {
  for (const std::string_view part : base::split(name, '-')) {
    const std::string_view word = part.substr(0, part.find_last_not_of("0123456789.") + 1);
    if (std::binary_search(std::begin(k_host_tools), std::end(k_host_tools), word)) return true;
  }
  return false;
}

bool is_in_system(std::string_view tool) {
  return std::any_of(std::begin(k_system_directories), std::end(k_system_directories),
                     [&](std::string_view directory) { return base::executable_exists(base::Path(directory) / tool); });
}

bool comes_before(const Toolkit& a, const Toolkit& b) {
  if (a.release.has_value() != b.release.has_value()) return !a.release;
  return a.release ? *a.release < *b.release : a.name < b.name;
}

bool is_toolkit_directory_name(std::string_view name) {
  return core::parse_version(name) || core::is_toolkit_name(name);
}

bool is_hidden(const Toolkit& toolkit, const std::vector<Toolkit>& own) {
  return std::any_of(own.begin(), own.end(), [&](const Toolkit& other) {
    return other.name == toolkit.name && (!other.is_missing || toolkit.is_missing);
  });
}

bool belongs_to_others(const Toolkit& toolkit) { return toolkit.is_shared || toolkit.adopted_from; }

}  // namespace

Result<std::vector<Toolkit>> registered_toolkits(const Roots& roots) {
  PosixSystem system;
  const core::Roots searched = roots.for_selection();
  const auto selector = std::make_unique<core::Selector<PosixSystem>>(system, searched);
  std::vector<Toolkit> toolkits;
  for (const Root* root : roots.both()) {
    const bool is_shared = root != &roots.own;
    auto names = base::list_directory(root->versions());
    if (!names && is_shared) continue;  // as selection has it: what others lock up was not meant for us
    if (!names) return fail(std::move(names).error());
    for (const std::string& name : *names) {
      if (!is_toolkit_directory_name(name)) continue;
      Toolkit toolkit{name, root->toolkit(name), core::parse_version(name), std::nullopt, is_shared};
      if (auto target = base::link_target(toolkit.directory)) toolkit.adopted_from = std::move(*target);
      toolkit.is_missing = !selector->installed().is_toolkit(root->path.native(), name);
      if (toolkit.is_missing && !toolkit.adopted_from) continue;  // not whole
      if (!is_hidden(toolkit, toolkits)) toolkits.push_back(std::move(toolkit));
    }
  }
  std::stable_sort(toolkits.begin(), toolkits.end(), comes_before);
  return toolkits;
}

Result<std::vector<Toolkit>> installed_toolkits(const Roots& roots) {
  CUDAENV_TRY(toolkits, registered_toolkits(roots));
  std::erase_if(toolkits, [](const Toolkit& toolkit) { return toolkit.is_missing; });
  return std::move(toolkits);
}

Result<std::optional<Toolkit>> find_toolkit(const Roots& roots, std::string_view name) {
  CUDAENV_TRY(toolkits, installed_toolkits(roots));
  for (Toolkit& toolkit : toolkits)
    if (toolkit.name == name) return std::move(toolkit);
  return std::nullopt;
}

Result<std::vector<std::string>> tools_of(const Toolkit& toolkit) {
  auto names = base::list_directory(toolkit.directory / "bin");
  if (!names && belongs_to_others(toolkit)) return std::vector<std::string>();
  if (!names) return names;
  std::erase_if(*names,
                [&](const std::string& name) { return !base::executable_exists(toolkit.directory / "bin" / name); });
  return names;
}

// A shim stands before the system's program of its name and fails where the selected toolkit has no such tool. So there
// is none for a host's tools, and of an adopted directory, whose bin may hold anything, only for those of CUDA and for
// what the system does not have.
bool gets_shim(const Toolkit& toolkit, std::string_view tool) {
  if (tool.starts_with('.')) return false;
  if (is_cuda_tool(tool)) return true;
  return !is_host_tool(tool) && !(toolkit.adopted_from && is_in_system(tool));
}

}  // namespace cudaenv::store
