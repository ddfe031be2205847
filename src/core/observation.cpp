// SPDX-License-Identifier: Apache-2.0
#include "core/observation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

// The text: a head, then lines of words with one blank between. The first word is the kind of fact; in the others all
// but printable ASCII is written %XX, and so is the percent sign, so that a name with a line end in it stays one word.

constexpr std::string_view k_head = "cudaenv-observation 1";
constexpr std::string_view k_nothing = "-";

std::string word(std::string_view value) {
  std::string text;
  for (const char c : value)
    if (c > ' ' && c < 0x7f && c != '%')
      text += c;
    else
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return text;
}

template <class Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> value_of(std::string_view written) {
  std::string value;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '%') {
      value += written[i];
      continue;
    }
    const auto byte = number_of<unsigned char>(written.substr(i + 1, 2), 16);
    if (!byte || i + 2 >= written.size()) return std::nullopt;
    value += static_cast<char>(*byte);
    i += 2;
  }
  return value;
}

constexpr std::array<std::pair<HostKind, std::string_view>, 3> k_hosts{
    {{HostKind::plain, "plain"}, {HostKind::wsl, "wsl"}, {HostKind::tegra, "tegra"}}};
constexpr std::array<std::pair<ProbeEnd, std::string_view>, 4> k_ends{{{ProbeEnd::finished, "finished"},
                                                                       {ProbeEnd::timed_out, "timed-out"},
                                                                       {ProbeEnd::killed, "killed"},
                                                                       {ProbeEnd::exited, "exited"}}};

template <class Value, std::size_t N>
std::string_view name_of(const std::array<std::pair<Value, std::string_view>, N>& names, Value wanted) {
  const auto at = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == wanted; });
  return at == names.end() ? k_nothing : at->second;
}

template <class Value, std::size_t N>
bool take_name(const std::array<std::pair<Value, std::string_view>, N>& names, std::string_view name, Value& value) {
  const auto at = std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.second == name; });
  if (at == names.end()) return false;
  value = at->first;
  return true;
}

// --- Writing ---

void write_library(std::string& text, std::string_view name, const ObservedLibrary& library) {
  if (!library.path.empty()) text += fmt::format("{}.path {}\n", name, word(library.path));
  if (!library.error.empty()) text += fmt::format("{}.error {}\n", name, word(library.error));
  if (!library.stub.empty()) text += fmt::format("{}.stub {}\n", name, word(library.stub));
}

void write_gpus(std::string& text, std::string_view name, const std::vector<ObservedGpu>& gpus) {
  for (const ObservedGpu& gpu : gpus) {
    text += fmt::format("{}.gpu {} {} {} {} {}", name, gpu.index,
                        gpu.capability ? to_text(*gpu.capability) : std::string(k_nothing), gpu.has_mig ? "mig" : "-",
                        word(gpu.uuid), word(gpu.name));
    for (const std::string& uuid : gpu.mig_uuids) text += fmt::format(" {}", word(uuid));
    text += "\n";
  }
}

void write_number(std::string& text, std::string_view name, auto number) {
  if (number) text += fmt::format("{} {}\n", name, *number);
}

void write_host(std::string& text, const Observation& seen) {
  if (seen.host != HostKind::plain) text += fmt::format("host {}\n", name_of(k_hosts, seen.host));
  if (!seen.kernel_version.empty())
    text += fmt::format("kernel {} {}\n", word(seen.kernel_version), word(seen.kernel_version_file));
  if (seen.has_nvidia_module) text += "module nvidia\n";
  if (seen.has_nouveau) text += "module nouveau\n";
  if (seen.has_dxg) text += "module dxg\n";
  for (const std::uint16_t device : seen.pci_devices) text += fmt::format("pci {:04x}\n", device);
  if (seen.visible_devices) text += fmt::format("visible-devices {}\n", word(*seen.visible_devices));
  if (seen.device_order) text += fmt::format("device-order {}\n", word(*seen.device_order));
}

// --- Reading ---

using Words = std::vector<std::string>;  // after the kind

bool read_gpu(std::vector<ObservedGpu>& gpus, const Words& words) {
  if (words.size() < 5) return false;
  ObservedGpu gpu;
  const auto index = number_of<std::uint32_t>(words[0]);
  if (!index) return false;
  gpu.index = *index;
  if (const auto version = parse_dotted_version(words[1]);
      version && version->count == 2 && (*version)[0] <= 99 && (*version)[1] <= 9)
    gpu.capability = {static_cast<std::uint16_t>((*version)[0]), static_cast<std::uint16_t>((*version)[1])};
  gpu.has_mig = words[2] == "mig";
  gpu.uuid = words[3];
  gpu.name = words[4];
  gpu.mig_uuids.assign(words.begin() + 5, words.end());
  gpus.push_back(std::move(gpu));
  return true;
}

bool read_module(Observation& seen, const std::string& name) {
  if (name == "nvidia") return seen.has_nvidia_module = true;
  if (name == "nouveau") return seen.has_nouveau = true;
  if (name == "dxg") return seen.has_dxg = true;
  return false;
}

template <class Value>
bool read_number(std::optional<Value>& value, const std::string& written) {
  const auto number = number_of<Value>(written);
  if (number) value = number;
  return number.has_value();
}

bool read_version(Observation& seen, const Words& words) {
  seen.version = number_of<int>(words[1]).value_or(0);
  return read_number(seen.version_status, words[0]);
}

bool read_kernel(Observation& seen, const Words& words) {
  seen.kernel_version = words[0];
  seen.kernel_version_file = words[1];
  return true;
}

bool read_pci(Observation& seen, const Words& words) {
  const auto device = number_of<std::uint16_t>(words[0], 16);
  if (device) seen.pci_devices.push_back(*device);
  return device.has_value();
}

bool read_end(Observation& seen, const Words& words) {
  if (!take_name(k_ends, words[0], seen.end)) return false;
  if (words.size() > 1) seen.end_number = number_of<int>(words[1]).value_or(0);
  return true;
}

struct Fact {
  std::string_view kind;
  std::size_t words;  // at least
  bool (*read)(Observation& seen, const Words& words);
};

bool keep(std::string& value, const Words& words) {
  value = words[0];
  return true;
}
bool keep(std::optional<std::string>& value, const Words& words) {
  value = words[0];
  return true;
}

constexpr std::array<Fact, 22> k_facts{{
    {"host", 1, [](Observation& seen, const Words& words) { return take_name(k_hosts, words[0], seen.host); }},
    {"kernel", 2, read_kernel},
    {"module", 1, [](Observation& seen, const Words& words) { return read_module(seen, words[0]); }},
    {"pci", 1, read_pci},
    {"visible-devices", 1, [](Observation& seen, const Words& words) { return keep(seen.visible_devices, words); }},
    {"device-order", 1, [](Observation& seen, const Words& words) { return keep(seen.device_order, words); }},
    {"libcuda.path", 1, [](Observation& seen, const Words& words) { return keep(seen.libcuda.path, words); }},
    {"libcuda.error", 1, [](Observation& seen, const Words& words) { return keep(seen.libcuda.error, words); }},
    {"libcuda.stub", 1, [](Observation& seen, const Words& words) { return keep(seen.libcuda.stub, words); }},
    {"libcuda.version", 2, read_version},
    {"libcuda.init", 1, [](Observation& seen, const Words& words) { return read_number(seen.init_status, words[0]); }},
    {"libcuda.count", 1, [](Observation& seen, const Words& words) { return read_number(seen.cuda_count, words[0]); }},
    {"libcuda.gpu", 5, [](Observation& seen, const Words& words) { return read_gpu(seen.cuda_gpus, words); }},
    {"nvml.path", 1, [](Observation& seen, const Words& words) { return keep(seen.nvml.path, words); }},
    {"nvml.error", 1, [](Observation& seen, const Words& words) { return keep(seen.nvml.error, words); }},
    {"nvml.stub", 1, [](Observation& seen, const Words& words) { return keep(seen.nvml.stub, words); }},
    {"nvml.init", 1, [](Observation& seen, const Words& words) { return read_number(seen.nvml_status, words[0]); }},
    {"nvml.driver", 1, [](Observation& seen, const Words& words) { return keep(seen.nvml_driver, words); }},
    {"nvml.count", 1, [](Observation& seen, const Words& words) { return read_number(seen.nvml_count, words[0]); }},
    {"nvml.gpu", 5, [](Observation& seen, const Words& words) { return read_gpu(seen.nvml_gpus, words); }},
    {"call", 1, [](Observation& seen, const Words& words) { return keep(seen.end_call, words); }},
    {"end", 1, read_end},
}};

void read_line(Observation& seen, std::string_view line) {
  const std::vector<std::string_view> parts = base::split(line, ' ');
  const auto fact = std::find_if(k_facts.begin(), k_facts.end(), [&](const Fact& row) { return row.kind == parts[0]; });
  if (fact == k_facts.end()) return;
  Words words;
  for (const std::string_view part : std::span(parts).subspan(1)) {
    std::optional<std::string> value = value_of(part);
    if (!value) return;
    words.push_back(*std::move(value));
  }
  if (words.size() >= fact->words) fact->read(seen, words);
}

}  // namespace

std::string to_text(const Observation& seen) {
  std::string text = fmt::format("{}\n", k_head);
  write_host(text, seen);
  write_library(text, "libcuda", seen.libcuda);
  if (seen.version_status) text += fmt::format("libcuda.version {} {}\n", *seen.version_status, seen.version);
  write_number(text, "libcuda.init", seen.init_status);
  write_number(text, "libcuda.count", seen.cuda_count);
  write_gpus(text, "libcuda", seen.cuda_gpus);
  write_library(text, "nvml", seen.nvml);
  write_number(text, "nvml.init", seen.nvml_status);
  if (!seen.nvml_driver.empty()) text += fmt::format("nvml.driver {}\n", word(seen.nvml_driver));
  write_number(text, "nvml.count", seen.nvml_count);
  write_gpus(text, "nvml", seen.nvml_gpus);
  if (!seen.end_call.empty()) text += fmt::format("call {}\n", word(seen.end_call));
  if (seen.end != ProbeEnd::not_run) text += fmt::format("end {} {}\n", name_of(k_ends, seen.end), seen.end_number);
  return text;
}

std::optional<Observation> parse_observation(std::string_view text) {
  Observation seen;
  bool is_first = true;
  while (true) {
    const std::size_t size = text.find('\n');
    if (size == std::string_view::npos) break;  // what is left was not written to its end
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(size + 1);
    if (is_first && line != k_head) return std::nullopt;
    is_first = false;
    read_line(seen, line);
  }
  if (is_first) return std::nullopt;
  return seen;
}

}  // namespace cudaenv::core
