// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/dot_part.hpp"
#include "base/exit_code.hpp"
#include "base/text.hpp"

namespace cudaenv::base {

Error replace_process(const std::vector<std::string>& command, const Environment& environment) {
  std::vector<std::string> strings = environment.strings();
  std::vector<char*> variables;
  for (std::string& string : strings) variables.push_back(string.data());
  variables.push_back(nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  environ = variables.data();  // execvp looks the command up on the PATH in here
  ::execvp(arguments.front(), arguments.data());
  const int reason = errno;
  return Error{reason == ENOENT ? ErrorKind::no_command : ErrorKind::execution,
               fmt::format("cannot start {}: {}", escaped(command.front()), std::strerror(reason))};
}

int become_program(const std::vector<std::string>& command, const Environment& environment, int output) {
  if (::dup2(output, STDOUT_FILENO) < 0) return static_cast<int>(ExitCode::cannot_start);
  return static_cast<int>(exit_code_of(replace_process(command, environment).kind));
}

Result<Path> own_program() { return link_target("/proc/self/exe"); }

Result<Path> working_directory(const Environment& environment) {
  const std::string shown(environment.value("PWD"));
  struct stat by_name;
  struct stat current;
  if (shown.starts_with('/') && !has_dot_part(shown) && ::stat(shown.c_str(), &by_name) == 0 &&
      ::stat(".", &current) == 0 && by_name.st_dev == current.st_dev && by_name.st_ino == current.st_ino)
    return Path(shown);
  std::error_code error;
  Path physical = std::filesystem::current_path(error);
  if (error) return fail(file_error("find", ".", error.value()));
  return physical;
}

}  // namespace cudaenv::base
