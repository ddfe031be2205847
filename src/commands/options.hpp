// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

// What was typed for each command. Parsing fills these in (cli/parser.cpp); each command's run() takes one.

namespace cudaenv::commands {

struct InstallOptions {
  std::optional<std::string> spec;
  std::string profile;
  std::vector<std::string> with;
  std::vector<std::string> without;
  std::string platform;
  std::vector<std::string> mirrors;
  std::string accept_manifest;
  std::optional<unsigned> jobs;  // 0: as many as there are cores
  bool force = false;
  bool dry_run = false;
  bool list = false;
  bool locked = false;
  std::vector<std::string> add;  // products
};

struct AddOptions {
  std::vector<std::string> products;
  std::optional<std::string> to;
  std::vector<std::string> mirrors;
  std::string accept_manifest;
  bool dry_run = false;
};

struct RemoveOptions {
  std::vector<std::string> products;
  std::optional<std::string> from;
};

struct LockOptions {
  std::optional<std::string> spec;
  std::string profile;
  std::vector<std::string> with;
  std::vector<std::string> without;
  std::vector<std::string> platforms;
  std::vector<std::string> mirrors;
  std::string accept_manifest;
  std::string output;
  bool check = false;
  std::vector<std::string> add;  // products
};

struct MirrorOptions {
  std::string directory;
  std::vector<std::string> specs;
  std::string profile;
  std::vector<std::string> with;
  std::vector<std::string> without;
  std::vector<std::string> platforms;
  std::vector<std::string> mirrors;
  std::string accept_manifest;
  bool dry_run = false;
  bool verify = false;
};

struct UninstallOptions {
  std::vector<std::string> versions;
};

struct VersionsOptions {
  bool bare = false;
  bool json = false;
  bool size = false;
};

struct VerifyOptions {
  std::vector<std::string> versions;
  bool all = false;
  bool json = false;
};

struct RepairOptions {
  std::vector<std::string> versions;
  std::vector<std::string> mirrors;
};

struct PruneOptions {
  bool dry_run = false;
};

struct VersionOptions {};

// `local` and `global`: the same command on another file.
enum class PinTarget { local, global };
struct PinOptions {
  PinTarget target = PinTarget::local;
  std::optional<std::string> spec;
  bool unset = false;
  bool force = false;
};

struct WhichOptions {
  std::string tool;
};

struct WhenceOptions {
  std::string tool;
};

struct PrefixOptions {
  std::optional<std::string> spec;
};

struct RootOptions {};

struct ExecOptions {
  std::optional<std::string> spec;
  std::vector<std::string> command;
  // From a shim alone: its name, with `command` what follows it; and the root that it lies in.
  std::optional<std::string> shim;
  std::optional<std::string> shim_root;
};

struct EnvOptions {
  std::optional<std::string> spec;
  std::string shell;
  std::string format;
  bool hook = false;  // from the shell integration alone
};

struct InitOptions {
  std::string shell;
};

struct CompletionsOptions {
  std::string shell;
};

// From a completion script alone.
struct CompleteOptions {
  std::string kind;  // of value
  std::string word;  // the one before the value, which may depend on it
};

struct ShellOptions {
  std::optional<std::string> spec;
  bool unset = false;
  bool force = false;
  std::string emit;  // from the shell integration alone: the shell that evaluates what is printed
};

struct CheckOptions {
  std::vector<std::string> specs;
  std::optional<std::string> driver;
  std::vector<std::string> gpus;
  bool json = false;
};

struct InfoOptions {
  bool json = false;
};

struct AdoptOptions {
  std::string directory;
  std::string name;
};

struct RehashOptions {};

struct ConfigOptions {
  std::string action;  // get, set, unset, list
  std::string key;
  std::vector<std::string> values;
};

using Options =
    std::variant<InstallOptions, UninstallOptions, AddOptions, RemoveOptions, LockOptions, MirrorOptions, VerifyOptions,
                 RepairOptions, PruneOptions, VersionsOptions, VersionOptions, PinOptions, WhichOptions, WhenceOptions,
                 PrefixOptions, RootOptions, ExecOptions, EnvOptions, InitOptions, ShellOptions, CheckOptions,
                 InfoOptions, AdoptOptions, RehashOptions, ConfigOptions, CompletionsOptions, CompleteOptions>;

// Whether a command is one of these.
template <class T, class... Those>
inline constexpr bool is_one_of = (std::is_same_v<T, Those> || ...);

// Whether a command needs the libraries for network, archives or digests, and so is one of the installer program's.
template <class T>
inline constexpr bool is_for_installer =
    is_one_of<T, InstallOptions, AddOptions, RemoveOptions, LockOptions, MirrorOptions, VerifyOptions, RepairOptions>;

}  // namespace cudaenv::commands
