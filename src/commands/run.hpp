// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/exit_code.hpp"
#include "base/result.hpp"
#include "commands/app.hpp"
#include "commands/options.hpp"

// Every command, in one overload set: options in, result out. Each lives in the file of its name.

namespace cudaenv::commands {

Result<ExitCode> run(const UninstallOptions& options, App& app);
Result<ExitCode> run(const PruneOptions& options, App& app);
Result<ExitCode> run(const VersionsOptions& options, App& app);
Result<ExitCode> run(const VersionOptions& options, App& app);
Result<ExitCode> run(const PinOptions& options, App& app);
Result<ExitCode> run(const WhichOptions& options, App& app);
Result<ExitCode> run(const WhenceOptions& options, App& app);
Result<ExitCode> run(const PrefixOptions& options, App& app);
Result<ExitCode> run(const RootOptions& options, App& app);
Result<ExitCode> run(const ExecOptions& options, App& app);
Result<ExitCode> run(const EnvOptions& options, App& app);
Result<ExitCode> run(const InitOptions& options, App& app);
Result<ExitCode> run(const ShellOptions& options, App& app);
Result<ExitCode> run(const CheckOptions& options, App& app);
Result<ExitCode> run(const InfoOptions& options, App& app);
Result<ExitCode> run(const AdoptOptions& options, App& app);
Result<ExitCode> run(const RehashOptions& options, App& app);
Result<ExitCode> run(const ConfigOptions& options, App& app);
Result<ExitCode> run(const CompleteOptions& options, App& app);

// In src/cli, which knows the options of every command.
Result<ExitCode> run(const CompletionsOptions& options, App& app);

// In the installer program alone (src/installer): these need the network's libraries.
Result<ExitCode> run(const InstallOptions& options, App& app);
Result<ExitCode> run(const VerifyOptions& options, App& app);
Result<ExitCode> run(const RepairOptions& options, App& app);
Result<ExitCode> run(const LockOptions& options, App& app);
Result<ExitCode> run(const MirrorOptions& options, App& app);
Result<ExitCode> run(const AddOptions& options, App& app);
Result<ExitCode> run(const RemoveOptions& options, App& app);

}  // namespace cudaenv::commands
