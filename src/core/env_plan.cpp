// SPDX-License-Identifier: Apache-2.0
#include "core/env_plan.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/text.hpp"

// A plan is the difference between two environments. First the outside one is worked out, as if no toolkit had ever
// been selected; then the toolkit is put into it. So switching from A to B cannot differ from entering B.
// Entries of ours are known by their path and simply go. CUDAENV_OUTSIDE keeps only what that would not give back: a
// variable that was set and is now ours, a list that was empty but set, an entry of the user's that looks like ours, a
// PATH that was not set.

namespace cudaenv::core {
namespace {

namespace names = env_names;
using base::Environment;

// Without a PATH the system has this one, which an entry of ours must not hide.
constexpr std::string_view k_usual_path = "/bin:/usr/bin";

// What a variable was outside; nothing: not set.
struct Former {
  std::optional<std::string> value;
};

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

// Whether cudaenv may have put the path into a variable: it lies in a toolkit of ours or is that of the library shims.
bool is_ours(std::string_view path, const std::vector<std::string>& roots) {
  return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
    return is_below(path, root + "/versions") || path == root + "/shims/lib";
  });
}

bool is_list(std::string_view name) {
  return std::find(std::begin(names::k_plan_lists), std::end(names::k_plan_lists), name) !=
         std::end(names::k_plan_lists);
}

// What is left of a value without our entries; nothing if nothing is.
std::optional<std::string> rest_of(std::string_view name, std::string_view value,
                                   const std::vector<std::string>& roots) {
  if (!is_list(name)) return is_ours(value, roots) ? std::nullopt : std::optional<std::string>(value);
  if (value.empty()) return std::nullopt;
  std::vector<std::string> elements;
  for (const std::string_view element : base::split(value, ':'))
    if (!is_ours(element, roots)) elements.emplace_back(element);
  if (elements.empty()) return std::nullopt;
  return base::join(elements, ":");
}

// NAME=value;NAME=value;. with percent signs, semicolons and control bytes of the values as %XX: a person can read it.
// A name alone was not set. What does not end with the dot was cut off, and the last value with it.
constexpr std::string_view k_end_of_memory = ";.";

std::string packed(std::string_view name, std::optional<std::string_view> value) {
  std::string text(name);
  if (!value) return text;
  text += '=';
  for (const char c : *value) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f || c == '%' || c == ';' ? fmt::format("%{:02X}", byte) : std::string(1, c);
  }
  return text;
}

std::optional<Former> unpacked(std::string_view text, std::string_view name) {
  if (!text.ends_with(k_end_of_memory)) return std::nullopt;
  for (const std::string_view member : base::split(text, ';')) {
    if (member == name) return Former();
    if (!member.starts_with(name) || member.substr(name.size(), 1) != "=") continue;
    std::string value;
    for (std::size_t at = name.size() + 1; at < member.size(); ++at) {
      unsigned byte = 0;
      const char* const digits = member.data() + at + 1;
      if (member[at] != '%') {
        value += member[at];
      } else if (at + 2 < member.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
        value += static_cast<char>(byte);
        at += 2;
      } else {
        return std::nullopt;
      }
    }
    return Former{std::move(value)};
  }
  return std::nullopt;
}

// The environment as it would be without us. What the user changed since a toolkit was selected stays as it is now.
Environment outside_of(const Environment& current, const std::vector<std::string>& roots) {
  Environment outside = current;
  outside.unset(names::k_active);
  outside.unset(names::k_outside);
  if (current.value(names::k_active).empty()) return outside;
  const auto take_out = [&](const char* name) {
    const auto value = current.get(name);
    const auto rest = value ? rest_of(name, *value, roots) : std::nullopt;
    if (!value || rest == *value) return;
    const auto before = unpacked(current.value(names::k_outside), name);
    const auto unchanged = [&] {
      return before->value ? rest_of(name, *before->value, roots) : std::string(k_usual_path);
    };
    const auto wanted = before && (!is_list(name) || rest == unchanged()) ? before->value : rest;
    if (wanted)
      outside.set(name, *wanted);
    else
      outside.unset(name);
  };
  for (const char* name : names::k_plan_values) take_out(name);
  for (const char* name : names::k_plan_lists) take_out(name);
  return outside;
}

// Puts entries before and after a list. One that the user has too is not doubled; the user's own empty elements stay.
void surround(Environment& environment, const char* name, const std::vector<std::string>& first,
              const std::vector<std::string>& last = {}) {
  if (first.empty() && last.empty()) return;
  std::vector<std::string> elements = first;
  const std::string_view current = environment.value(name);
  if (!current.empty()) {
    for (const std::string_view element : base::split(current, ':')) {
      const bool is_listed = std::find(first.begin(), first.end(), element) != first.end() ||
                             std::find(last.begin(), last.end(), element) != last.end();
      if (!is_listed) elements.emplace_back(element);
    }
  }
  elements.insert(elements.end(), last.begin(), last.end());
  environment.set(name, base::join(elements, ":"));
}

std::vector<std::string> library_path(const ActiveToolkit& toolkit, const std::vector<std::string>& roots,
                                      const EnvironmentSettings& settings) {
  switch (settings.library_path) {
    case LibraryPath::toolkit: return {toolkit.directory + "/lib"};
    case LibraryPath::shims:
      if (settings.has_library_shims && !roots.empty()) return {roots.front() + "/shims/lib"};
      return {};
    case LibraryPath::none: return {};
  }
  return {};
}

// The environment with the toolkit in force, without bookkeeping.
Environment inside_of(const Environment& outside, const ActiveToolkit& toolkit, const std::vector<std::string>& roots,
                      const EnvironmentSettings& settings) {
  Environment inside = outside;
  const std::string& directory = toolkit.directory;
  for (const char* name : {names::k_cuda_home, names::k_cuda_path, names::k_cmake_root}) inside.set(name, directory);
  // CMake would store the shim as its compiler; the user's own choice of a compiler stays.
  if (toolkit.has_nvcc && outside.value(names::k_cmake_compiler).empty())
    inside.set(names::k_cmake_compiler, directory + "/bin/nvcc");
  if (!outside.get("PATH")) inside.set("PATH", std::string(k_usual_path));
  surround(inside, "PATH", {directory + "/bin"});
  surround(inside, "LD_LIBRARY_PATH", library_path(toolkit, roots, settings));
  if (settings.compiler_paths) {
    std::vector<std::string> includes{directory + "/include"};
    if (settings.has_cccl_include) includes.push_back(directory + "/include/cccl");
    surround(inside, "CPATH", includes);
    // The stubs come after all that the user has, so that a real driver library is found before them.
    surround(inside, "LIBRARY_PATH", {directory + "/lib"}, {directory + "/lib/stubs"});
  }
  return inside;
}

// What taking out our entries would not give back.
std::string to_remember(const Environment& outside, const Environment& inside, const std::vector<std::string>& roots) {
  std::vector<std::string> memory;
  const auto look_at = [&](const char* name) {
    const auto before = outside.get(name);
    const auto now = inside.get(name);
    const auto rest = now ? rest_of(name, *now, roots) : std::nullopt;
    if (before != rest) memory.push_back(packed(name, before));
  };
  for (const char* name : names::k_plan_values) look_at(name);
  for (const char* name : names::k_plan_lists) look_at(name);
  return base::join(memory, ";");
}

}  // namespace

EnvPlan plan_environment(const Environment& current, const std::optional<ActiveToolkit>& toolkit,
                         const std::vector<std::string>& roots, const EnvironmentSettings& settings) {
  const Environment outside = outside_of(current, roots);
  Environment wanted = outside;
  if (toolkit) {
    wanted = inside_of(outside, *toolkit, roots, settings);
    const std::string memory = to_remember(outside, wanted, roots);
    wanted.set(names::k_active, toolkit->name);
    if (!memory.empty()) wanted.set(names::k_outside, memory + std::string(k_end_of_memory));
  }
  EnvPlan plan;
  const auto compare = [&](const char* name) {
    const auto value = wanted.get(name);
    if (value != current.get(name) || value != outside.get(name)) plan.changes.emplace_back(name, value);
  };
  for (const char* name : names::k_plan_values) compare(name);
  for (const char* name : names::k_plan_lists) compare(name);
  compare(names::k_active);
  compare(names::k_outside);
  return plan;
}

Environment unknown_environment() {
  Environment environment;
  for (const char* name : names::k_plan_lists) environment.set(name, std::string(k_unknown));
  return environment;
}

void apply(const EnvPlan& plan, Environment& environment) {
  for (const auto& [name, value] : plan.changes) {
    if (value)
      environment.set(name, *value);
    else
      environment.unset(name);
  }
}

}  // namespace cudaenv::core
