// SPDX-License-Identifier: Apache-2.0
#include "driver/questions.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "driver/cuda_api.hpp"
#include "driver/nvml_api.hpp"

namespace cudaenv::driver {
namespace {

// What is cheap is asked first: cuDriverGetVersion needs neither a GPU nor cuInit, NVML makes no context. cuInit takes
// some hundred milliseconds, and is called only if that left something open.
class Questions {
 public:
  Questions(core::Observation known, const core::Registry& registry, const LibrarySearch& search, int output)
      : m_known(std::move(known)), m_registry(registry), m_search(search), m_output(output) {}

  void ask() {
    const Library libcuda = load(&core::Observation::libcuda, k_libcuda);
    ask_cuda_version(libcuda);
    const Library nvml = load(&core::Observation::nvml, k_nvml);
    ask_nvml(nvml);
    if (needs_cuda_init(m_known, m_registry)) ask_cuda_devices(libcuda);
    learn([](core::Observation& seen) { seen.end = core::ProbeEnd::finished; });
  }

 private:
  static constexpr std::string_view k_libcuda = "libcuda.so.1";
  static constexpr std::string_view k_tegra_libcuda = "libcuda.so.1.1";
  static constexpr std::string_view k_nvml = "libnvidia-ml.so.1";

  // Adds a fact to what is known here and tells it to the parent.
  template <class Change>
  void learn(Change change) {
    core::Observation part;
    change(part);
    change(m_known);
    const std::string text = to_text(part);
    for (std::size_t put = 0; put < text.size();) {
      const ssize_t written = ::write(m_output, text.data() + put, text.size() - put);
      if (written < 0 && errno != EINTR) ::_exit(1);  // nobody listens
      if (written > 0) put += static_cast<std::size_t>(written);
    }
  }

  void announce(std::string call) {
    learn([&](core::Observation& seen) { seen.end_call = call; });
  }

  template <class Function, class... Arguments>
  int call(const char* name, Function* function, Arguments... arguments) {
    announce(name);
    return function(arguments...);
  }

  Library load(core::ObservedLibrary core::Observation::*library, std::string_view name) {
    announce(fmt::format("dlopen({})", name));
    const bool has_other_name = name == k_libcuda && m_known.host == core::HostKind::tegra;
    Library loaded = has_other_name ? Library({name, k_tegra_libcuda}, m_search) : Library({name}, m_search);
    learn([&](core::Observation& seen) { seen.*library = loaded.found(); });
    return loaded;
  }

  // --- libcuda ---

  void ask_cuda_version(const Library& libcuda) {
    auto* get_version = libcuda.symbol<cuda::DriverGetVersion>({"cuDriverGetVersion"});
    if (!get_version) return;
    int version = 0;
    const int status = call("cuDriverGetVersion", get_version, &version);
    learn([&](core::Observation& seen) {
      seen.version_status = status;
      seen.version = status == cuda::k_success ? version : 0;
    });
  }

  void ask_cuda_devices(const Library& libcuda) {
    auto* init = libcuda.symbol<cuda::Init>({"cuInit"});
    auto* get_count = libcuda.symbol<cuda::DeviceGetCount>({"cuDeviceGetCount"});
    if (!init || !get_count) return;
    const int status = call("cuInit", init, 0U);
    learn([&](core::Observation& seen) { seen.init_status = status; });
    int count = 0;
    if (status != cuda::k_success || call("cuDeviceGetCount", get_count, &count) != cuda::k_success || count < 0)
      return;
    learn([&](core::Observation& seen) { seen.cuda_count = static_cast<std::uint32_t>(count); });
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      const core::ObservedGpu gpu = cuda_device(libcuda, ordinal);
      learn([&](core::Observation& seen) { seen.cuda_gpus.push_back(gpu); });
    }
  }

  core::ObservedGpu cuda_device(const Library& libcuda, int ordinal) {
    core::ObservedGpu gpu;
    gpu.index = static_cast<std::uint32_t>(ordinal);
    cuda::Device device = 0;
    auto* get = libcuda.symbol<cuda::DeviceGet>({"cuDeviceGet"});
    if (!get || call("cuDeviceGet", get, &device, ordinal) != cuda::k_success) return gpu;
    std::array<char, 256> name{};
    auto* get_name = libcuda.symbol<cuda::DeviceGetName>({"cuDeviceGetName"});
    if (get_name && call("cuDeviceGetName", get_name, name.data(), int{name.size()} - 1, device) == cuda::k_success)
      gpu.name = name.data();
    int major = 0;
    int minor = 0;
    auto* get_attribute = libcuda.symbol<cuda::DeviceGetAttribute>({"cuDeviceGetAttribute"});
    const auto ask = [&](int& value, int attribute) {
      return get_attribute && call("cuDeviceGetAttribute", get_attribute, &value, attribute, device) == cuda::k_success;
    };
    if (ask(major, cuda::k_compute_capability_major) && ask(minor, cuda::k_compute_capability_minor))
      gpu.capability = capability(major, minor);
    cuda::Uuid uuid{};
    auto* get_uuid = libcuda.symbol<cuda::DeviceGetUuid>({"cuDeviceGetUuid"});
    if (get_uuid && call("cuDeviceGetUuid", get_uuid, &uuid, device) == cuda::k_success) gpu.uuid = uuid_text(uuid);
    return gpu;
  }

  // As NVML writes it: GPU-8932f937-d72c-4106-c12f-20bd9faed9f6.
  static std::string uuid_text(const cuda::Uuid& uuid) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
  }

  static std::optional<core::ComputeCapability> capability(int major, int minor) {
    if (major <= 0 || major > 99 || minor < 0 || minor > 9) return std::nullopt;
    return core::ComputeCapability{static_cast<std::uint16_t>(major), static_cast<std::uint16_t>(minor)};
  }

  // --- NVML ---

  void ask_nvml(const Library& nvml) {
    auto* init = nvml.symbol<nvml::Init>({"nvmlInit_v2", "nvmlInit"});
    if (!init) return;
    const int status = call("nvmlInit_v2", init);
    learn([&](core::Observation& seen) { seen.nvml_status = status; });
    if (status != nvml::k_success) return;

    std::array<char, nvml::k_driver_version_size + 1> version{};
    auto* get_version = nvml.symbol<nvml::SystemGetDriverVersion>({"nvmlSystemGetDriverVersion"});
    if (get_version &&
        call("nvmlSystemGetDriverVersion", get_version, version.data(), nvml::k_driver_version_size) == nvml::k_success)
      learn([&](core::Observation& seen) { seen.nvml_driver = version.data(); });

    unsigned count = 0;
    auto* get_count = nvml.symbol<nvml::DeviceGetCount>({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
    if (!get_count || call("nvmlDeviceGetCount_v2", get_count, &count) != nvml::k_success) return;
    learn([&](core::Observation& seen) { seen.nvml_count = count; });
    for (unsigned index = 0; index < count; ++index) {
      const core::ObservedGpu gpu = nvml_device(nvml, index);
      learn([&](core::Observation& seen) { seen.nvml_gpus.push_back(gpu); });
    }
  }

  core::ObservedGpu nvml_device(const Library& nvml, unsigned index) {
    core::ObservedGpu gpu;
    gpu.index = index;
    nvml::Device device = nullptr;
    auto* get =
        nvml.symbol<nvml::DeviceGetHandleByIndex>({"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
    // One that is lost is still counted.
    if (!get || call("nvmlDeviceGetHandleByIndex_v2", get, index, &device) != nvml::k_success) return gpu;
    std::array<char, nvml::k_name_size + 1> name{};
    auto* get_name = nvml.symbol<nvml::DeviceGetName>({"nvmlDeviceGetName"});
    if (get_name && call("nvmlDeviceGetName", get_name, device, name.data(), nvml::k_name_size) == nvml::k_success)
      gpu.name = name.data();
    gpu.uuid = nvml_uuid(nvml, device);
    int major = 0;
    int minor = 0;
    auto* get_capability = nvml.symbol<nvml::DeviceGetCudaComputeCapability>({"nvmlDeviceGetCudaComputeCapability"});
    if (get_capability &&
        call("nvmlDeviceGetCudaComputeCapability", get_capability, device, &major, &minor) == nvml::k_success)
      gpu.capability = capability(major, minor);
    ask_instances(nvml, device, gpu);
    return gpu;
  }

  std::string nvml_uuid(const Library& nvml, nvml::Device device) {
    std::array<char, nvml::k_uuid_size + 1> uuid{};
    auto* get_uuid = nvml.symbol<nvml::DeviceGetUuid>({"nvmlDeviceGetUUID"});
    const bool is_told =
        get_uuid && call("nvmlDeviceGetUUID", get_uuid, device, uuid.data(), nvml::k_uuid_size) == nvml::k_success;
    return is_told ? uuid.data() : std::string();
  }

  void ask_instances(const Library& nvml, nvml::Device device, core::ObservedGpu& gpu) {
    unsigned current = 0;
    unsigned pending = 0;
    auto* get_mode = nvml.symbol<nvml::DeviceGetMigMode>({"nvmlDeviceGetMigMode"});
    if (!get_mode || call("nvmlDeviceGetMigMode", get_mode, device, &current, &pending) != nvml::k_success) return;
    gpu.has_mig = current == nvml::k_mig_enabled;
    unsigned most = 0;
    auto* get_most = nvml.symbol<nvml::DeviceGetMaxMigDeviceCount>({"nvmlDeviceGetMaxMigDeviceCount"});
    auto* get = nvml.symbol<nvml::DeviceGetMigDeviceHandleByIndex>({"nvmlDeviceGetMigDeviceHandleByIndex"});
    if (!gpu.has_mig || !get || !get_most) return;
    if (call("nvmlDeviceGetMaxMigDeviceCount", get_most, device, &most) != nvml::k_success) return;
    for (unsigned index = 0; index < most; ++index) {
      nvml::Device instance = nullptr;
      if (call("nvmlDeviceGetMigDeviceHandleByIndex", get, device, index, &instance) != nvml::k_success) continue;
      if (std::string uuid = nvml_uuid(nvml, instance); !uuid.empty()) gpu.mig_uuids.push_back(std::move(uuid));
    }
  }

  core::Observation m_known;
  const core::Registry& m_registry;
  const LibrarySearch& m_search;
  int m_output;
};

}  // namespace

void ask_libraries(core::Observation known, const core::Registry& registry, const LibrarySearch& search, int output) {
  Questions(std::move(known), registry, search, output).ask();
}

}  // namespace cudaenv::driver
