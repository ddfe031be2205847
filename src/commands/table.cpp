// SPDX-License-Identifier: Apache-2.0
#include "commands/table.hpp"

namespace cudaenv::commands {
namespace {

template <class T>
Options make() {
  return T{};
}

Options make_list() {
  InstallOptions options;
  options.list = true;
  return options;
}

Options make_global() {
  PinOptions options;
  options.target = PinTarget::global;
  return options;
}

constexpr std::string_view k_of_local =
    "The gate refuses a toolkit that the driver or the GPUs of this machine cannot run (exit 5); --force\n"
    "sets it all the same and lets it pass for this file, until --unset.\n";

constexpr std::string_view k_of_check =
    "  ok       it runs\n"
    "  limited  it runs if you do what is said: build for the GPU's own sm_ number, or mind the other GPU\n"
    "  refused  it needs a newer driver, or has no code for any GPU that programs may see\n"
    "  unknown  no driver or GPU to go by: activated\n\n"
    "Exit status 5 if one that was named is refused. Before renting a machine:\n"
    "  cudaenv check 12.4 13.0 --driver 550.54.14 --gpu \"RTX 4090\"\n";

constexpr std::string_view k_of_exec =
    "A toolkit that the gate refuses is not run (exit 5); CUDAENV_GATE=off before the command opens it.\n";

constexpr std::string_view k_of_verify =
    "Without VERSION: the selected toolkit. Each file is compared with the receipt that the install\n"
    "wrote: is it there, with its mode and its content? Exit status 7 if anything is missing or changed.\n"
    "What was added to a toolkit is counted, and is no fault. Of an adopted toolkit only the presence of\n"
    "the compiler's files can be checked.\n";

constexpr std::string_view k_of_repair =
    "Without VERSION: the selected toolkit. What is as it was installed stays; the rest is fetched, or\n"
    "linked from another toolkit that has the same. What was put into the toolkit is kept. The toolkit\n"
    "is made anew beside the old one and put in its place in one step.\n";

constexpr std::string_view k_of_lock =
    "cuda.lock holds release, profile, platforms, and the digest of the manifest and of each archive.\n"
    "Commit it: `cudaenv install --locked` installs just that, bit for bit, or fails. Without SPEC it\n"
    "stays at its release as long as .cuda-version allows that one; profile, components, platforms and\n"
    "products it keeps until others are typed. A new one takes the products of the installed toolkit.\n";

constexpr std::string_view k_of_mirror =
    "The directory then serves as --mirror, as it is or behind any web server. A second run fetches\n"
    "what is missing and goes on where one was stopped. --verify fetches nothing and takes no SPEC.\n";
constexpr std::string_view k_of_add =
    "Products: cudnn, cudnn_jit, cudnn_samples, cutensor, cusparselt, cudss, cuquantum, cublasmp,\n"
    "cusolvermp, cuvs, nppplus, nvcomp, nvjpeg2000, nvtiff, nvshmem, nvpl. The newest version with an\n"
    "archive for the toolkit's CUDA is taken, unless one is named. What has no manifest at NVIDIA (NCCL,\n"
    "TensorRT) is answered with how to get it.\n";

// clang-format off
constexpr CommandRow k_rows[] = {
    {"install",   "",        "[SPEC] [OPTIONS]",       "Download a release and install it; without SPEC, the one selected here", make<InstallOptions>},
    {"lock",      "",        "[SPEC] [OPTIONS]",       "Write cuda.lock: the very archives that install --locked takes", make<LockOptions>, Visibility::shown, k_of_lock},
    {"mirror",    "",        "DIRECTORY SPEC...",      "Fetch releases into a directory that serves as --mirror without a network", make<MirrorOptions>, Visibility::shown, k_of_mirror},
    {"uninstall", "",        "VERSION...",             "Remove installed toolkits", make<UninstallOptions>},
    {"add",       "",        "PRODUCT... [OPTIONS]",  "Put cuDNN, cuTENSOR and others into a toolkit, as its CUDA needs them", make<AddOptions>, Visibility::shown, k_of_add},
    {"remove",    "",        "PRODUCT... [--from SPEC]", "Take them out again", make<RemoveOptions>},
    {"available", "",        "[SPEC]",                 "List the releases that can be installed", make_list, Visibility::hidden},
    {"verify",    "",        "[VERSION...] [--all]",   "Compare installed toolkits with what was installed", make<VerifyOptions>, Visibility::shown, k_of_verify},
    {"repair",    "",        "[VERSION...]",           "Fetch anew what of a toolkit is not as it was installed", make<RepairOptions>, Visibility::shown, k_of_repair},
    {"prune",     "",        "[--dry-run]",            "Remove kept archives and what killed installs left, and tell how much that frees", make<PruneOptions>},
    {"adopt",     "",        "DIRECTORY [--name NAME]", "Register a toolkit that is on this machine already, without copying it", make<AdoptOptions>},
    {"versions",  "list",    "[--bare | --json] [--size]",   "List installed toolkits, the selected one starred", make<VersionsOptions>},
    {"version",   "current", "",                       "Show the selected toolkit and what selects it", make<VersionOptions>},
    {"local",     "",        "[SPEC]",                 "Show or set the toolkit of this directory (.cuda-version)", make<PinOptions>, Visibility::shown, k_of_local},
    {"pin",       "",        "[SPEC]",                 "Show or set the toolkit of this directory (.cuda-version)", make<PinOptions>, Visibility::hidden},
    {"global",    "",        "[SPEC]",                 "Show or set the default, used where nothing else selects", make_global, Visibility::shown, k_of_local},
    {"which",     "",        "TOOL",                   "Show the real path of a tool of the selected toolkit", make<WhichOptions>},
    {"whence",    "",        "TOOL",                   "List the installed toolkits that have a tool", make<WhenceOptions>},
    {"prefix",    "",        "[SPEC]",                 "Show the directory of a toolkit", make<PrefixOptions>},
    {"root",      "",        "",                       "Show the directory in which toolkits are kept", make<RootOptions>},
    {"exec",      "",        "[-v SPEC] -- COMMAND...", "Run a command with the environment of a toolkit", make<ExecOptions>, Visibility::shown, k_of_exec},
    {"env",       "",        "[SPEC]",                 "Print the environment of a toolkit for a shell or another program", make<EnvOptions>},
    {"check",     "",        "[SPEC...] [OPTIONS]",    "Tell which toolkits run on this machine, or on one that is described, and why not", make<CheckOptions>, Visibility::shown, k_of_check},
    {"info",      "",        "[--json]",               "Show driver and GPUs, and how each fact was learnt", make<InfoOptions>},
    {"shell",     "",        "[SPEC]",                 "Show or set the toolkit of this shell alone", make<ShellOptions>},
    {"init",      "hook",    "SHELL",                  "Print the shell integration: eval \"$(cudaenv init bash)\"", make<InitOptions>},
    {"completions", "",      "SHELL",                  "Print the completion script of a shell", make<CompletionsOptions>},
    {"complete",  "",        "KIND [WORD]",            "List what may be typed for a kind of value", make<CompleteOptions>, Visibility::hidden},
    {"rehash",    "",        "",                       "Rebuild the shims (install, uninstall and adopt do it by themselves)", make<RehashOptions>},
    {"config",    "",        "[get|set|unset|list]",   "Show or change settings", make<ConfigOptions>},
    {"help",      "",        "[COMMAND]",              "Show help", nullptr},
};
// clang-format on

}  // namespace

std::span<const CommandRow> command_rows() { return k_rows; }

const CommandRow* find_command(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const CommandRow& row : k_rows)
    if (row.name == name || row.alias == name) return &row;
  return nullptr;
}

}  // namespace cudaenv::commands
