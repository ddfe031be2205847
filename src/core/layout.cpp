// SPDX-License-Identifier: Apache-2.0
#include "core/layout.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "core/version_text.hpp"

// nvcc, CMake, PyTorch and hand-written makefiles each know one of the layouts that NVIDIA's installers make: lib64,
// targets/<cpu>-linux/{include,lib}, extras/CUPTI. The archives hold `lib` only. So all real files live in `include`
// and `lib`, and the other names are relative links to them.

namespace cudaenv::core {
namespace {

std::optional<std::string> moved(std::string_view path, std::string_view from, std::string_view to) {
  if (!path.starts_with(from)) return std::nullopt;
  return std::string(to) + std::string(path.substr(from.size()));
}

bool is_licence(std::string_view path) {
  return path.find('/') == std::string_view::npos &&
         (path.starts_with("LICENSE") || path.starts_with("EULA") || path.starts_with("NOTICE") ||
          path.starts_with("CHANGELOG") || path.starts_with("README"));
}

// "12" of "lib/12/libcutensor.so": archives that are one for every CUDA keep the libraries for each apart.
std::optional<std::string_view> cuda_of_library(std::string_view path) {
  constexpr std::string_view k_lib = "lib/";
  if (!path.starts_with(k_lib)) return std::nullopt;
  path.remove_prefix(k_lib.size());
  const std::size_t end = path.find('/');
  if (end == std::string_view::npos || !parse_dotted_version(path.substr(0, end))) return std::nullopt;
  return path.substr(0, end);
}

using Parts = std::vector<std::string_view>;

// The parts of the directory that a path lies in.
Parts directory_of(std::string_view path) {
  Parts parts = base::split(path, '/');
  parts.pop_back();
  return parts;
}

// What a relative target leads to, seen from a directory.
Parts followed(Parts directory, std::string_view target) {
  for (const std::string_view part : base::split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      directory.push_back(part);
    else if (!directory.empty())
      directory.pop_back();
  }
  return directory;
}

std::string joined(const Parts& parts) { return fmt::format("{}", fmt::join(parts, "/")); }

class LinkPlanner {
 public:
  explicit LinkPlanner(const Tree& tree) : m_tree(tree) {}

  bool has(const std::string& path) const { return m_tree.contains(path); }

  bool has_below(const std::string& directory) const {
    const auto first = m_tree.lower_bound(directory + "/");
    return first != m_tree.end() && first->starts_with(directory + "/");
  }

  // The first wish for a name counts: an Nsight may be there in two versions.
  void add(const std::string& path, std::string target) {
    const bool is_planned =
        std::any_of(m_links.begin(), m_links.end(), [&](const LinkToMake& link) { return link.path == path; });
    if (!is_planned && !has(path) && !has_below(path)) m_links.push_back({path, std::move(target)});
  }

  // f(name) for each thing directly in the directory.
  template <class F>
  void for_each_in(const std::string& directory, F f) const {
    std::string last;
    for (auto it = m_tree.lower_bound(directory + "/"); it != m_tree.end(); ++it) {
      if (!it->starts_with(directory + "/")) break;
      const std::string_view rest = std::string_view(*it).substr(directory.size() + 1);
      const std::string name(rest.substr(0, rest.find('/')));
      if (name.empty() || name == last) continue;
      last = name;
      f(name);
    }
  }

  std::vector<LinkToMake> take() { return std::move(m_links); }

 private:
  const Tree& m_tree;
  std::vector<LinkToMake> m_links;
};

// cudart-12.8.pc -> cudart.pc
std::optional<std::string> unversioned_pc(std::string_view name) {
  if (!name.ends_with(".pc")) return std::nullopt;
  const std::string_view stem = name.substr(0, name.size() - 3);
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  if (!parse_dotted_version(stem.substr(dash + 1))) return std::nullopt;
  return std::string(stem.substr(0, dash)) + ".pc";
}

void plan_nsight(LinkPlanner& planner) {
  struct Tool {
    const char* product;
    const char* path;
  };
  // From 12.5.1 on the archives of these bring no bin. Source: registry/components.toml, nsight_compute.
  constexpr Tool k_tools[] = {{"nsight-compute", "ncu"},
                              {"nsight-compute", "ncu-ui"},
                              {"nsight-systems", "bin/nsys"},
                              {"nsight-systems", "bin/nsys-ui"}};
  for (const Tool& tool : k_tools) {
    planner.for_each_in(tool.product, [&](const std::string& version) {
      const std::string real = fmt::format("{}/{}/{}", tool.product, version, tool.path);
      const std::string_view path = tool.path;
      if (planner.has(real)) planner.add(fmt::format("bin/{}", path.substr(path.rfind('/') + 1)), "../" + real);
    });
  }
}

}  // namespace

bool is_for_toolkit(std::string_view path, const PlannedComponent& component) {
  const auto number = component.lib_directory.empty() ? std::nullopt : cuda_of_library(path);
  return !number || *number == component.lib_directory;
}

std::string installed_path(std::string_view path, const PlannedComponent& component,
                           std::string_view target_directory) {
  const std::string& name = component.component->name;
  const bool is_at_top = path.find('/') == std::string_view::npos;
  if (is_licence(path) || (is_at_top && !component.product.empty()))
    return fmt::format("share/licenses/{}/{}", name, path);
  if (component.row && component.row->component_class == ComponentClass::driver)
    return fmt::format("extras/{}/{}", name, path);
  if (!component.place.empty()) return fmt::format("{}/{}", component.place, path);
  if (!component.lib_directory.empty())
    if (auto library = moved(path, fmt::format("lib/{}/", component.lib_directory), "lib/")) return *library;
  const std::string target = fmt::format("targets/{}/", target_directory);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{target + "lib/", "lib/"},
                                 {target + "include/", "include/"},
                                 {"lib64/", "lib/"},
                                 {"pkg-config/", "lib/pkgconfig/"},
                                 {"pkgconfig/", "lib/pkgconfig/"}})
    if (auto elsewhere = moved(path, from, to)) return *elsewhere;
  return std::string(path);
}

std::string installed_target(std::string_view path, std::string_view target, const PlannedComponent& component,
                             std::string_view target_directory) {
  const std::string archived = joined(followed(directory_of(path), target));
  const std::string place = installed_path(path, component, target_directory);
  const std::string led_to = installed_path(archived, component, target_directory);
  if (place == path && led_to == archived) return std::string(target);
  Parts from = directory_of(place);
  Parts to = followed({}, led_to);
  const auto differ = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  Parts way(static_cast<std::size_t>(from.end() - differ.first), "..");
  way.insert(way.end(), differ.second, to.end());
  return way.empty() ? "." : joined(way);
}

std::vector<LinkToMake> plan_links(const Tree& tree, std::string_view target_directory) {
  LinkPlanner planner(tree);
  const std::string target = fmt::format("targets/{}", target_directory);
  if (planner.has_below("lib")) {
    planner.add("lib64", "lib");
    planner.add(target + "/lib", "../../lib");
  }
  if (planner.has_below("include")) planner.add(target + "/include", "../../include");
  if (planner.has("include/cupti.h")) {
    planner.add("extras/CUPTI/include", "../../include");
    planner.add("extras/CUPTI/lib64", "../../lib");
  }
  if (planner.has_below("lib/pkgconfig")) planner.add("pkg-config", "lib/pkgconfig");
  planner.for_each_in("lib/pkgconfig", [&](const std::string& name) {
    if (const auto plain = unversioned_pc(name)) planner.add("lib/pkgconfig/" + *plain, name);
  });
  plan_nsight(planner);
  return planner.take();
}

std::string relocated_pc(std::string_view text) {
  constexpr std::string_view k_here = "${pcfiledir}/../..";
  // The root is the value of the first of these that is an absolute path.
  std::string root;
  for (const std::string_view line : base::split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = base::trimmed(line.substr(0, equals));
    const std::string_view value = base::trimmed(line.substr(equals + 1));
    if ((name == "cudaroot" || name == "cuda_root" || name == "prefix") && value.starts_with('/')) {
      root = value;
      break;
    }
  }
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  std::string out(text);
  if (root.size() <= 1) return out;
  for (std::size_t at = 0; (at = out.find(root, at)) != std::string::npos;) {
    const char next = at + root.size() < out.size() ? out[at + root.size()] : '\n';
    if (next == '/' || next == '\n' || next == '\r' || next == ' ' || next == '\t') {
      out.replace(at, root.size(), k_here);
      at += k_here.size();
    } else {
      at += root.size();
    }
  }
  return out;
}

std::vector<std::string> missing_compiler_files(const Tree& tree) {
  std::vector<std::string> missing;
  for (const char* path : {"bin/nvcc", "bin/nvcc.profile", "bin/ptxas", "nvvm/bin/cicc", "include/crt/host_config.h",
                           "include/cuda_runtime.h", "lib/libcudart_static.a", "lib/libcudadevrt.a"})
    if (!tree.contains(path)) missing.emplace_back(path);
  const auto libdevice = tree.lower_bound("nvvm/libdevice/");
  if (libdevice == tree.end() || !libdevice->starts_with("nvvm/libdevice/")) missing.emplace_back("nvvm/libdevice");
  if (!tree.contains("include/nv/target") && !tree.contains("include/cccl/nv/target"))
    missing.emplace_back("nv/target");
  return missing;
}

std::string version_json(const Version& release, const std::vector<VersionRecord>& components) {
  const auto record = [](std::string_view name, std::string_view version) {
    return base::Value(base::Value::Object{{"name", base::Value(name)}, {"version", base::Value(version)}});
  };
  base::Value::Object document;
  document.emplace_back("cuda", record("CUDA SDK", to_text(release)));
  for (const VersionRecord& component : components)
    document.emplace_back(component.key, record(component.name, component.version));
  return base::to_json(document);
}

}  // namespace cudaenv::core
