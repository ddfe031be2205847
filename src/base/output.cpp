// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json.hpp"

namespace cudaenv::base {
namespace {

// The flag, then NO_COLOR, then CLICOLOR_FORCE, then a dumb terminal, then whether it is a terminal at all.
bool decide_color(const Environment& environment, ColorChoice choice, bool can_redraw) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (!environment.value("NO_COLOR").empty()) return false;
  const std::string_view force = environment.value("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return can_redraw && environment.value("CLICOLOR") != "0";
}

bool is_capable_terminal(const Environment& environment) {
  const std::string_view terminal = environment.value("TERM");
  return ::isatty(STDERR_FILENO) == 1 && !terminal.empty() && terminal != "dumb";
}

std::size_t terminal_width() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

Output::Output(const Environment& environment, Verbosity verbosity, ColorChoice color)
    : m_verbosity(verbosity),
      m_can_redraw(is_capable_terminal(environment)),
      m_has_color(decide_color(environment, color, m_can_redraw)) {}

void Output::data(std::string_view text) {
  clear_line();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Output::json(const Value& document) { data(to_json(document)); }

void Output::note(std::string_view text) {
  if (m_verbosity != Verbosity::quiet) line("", "", text);
}

void Output::waiting(std::string_view text) { line("", "", text); }

void Output::detail(std::string_view text) {
  if (m_verbosity == Verbosity::verbose) line("", "", text);
}

void Output::warning(std::string_view text) { line("\x1b[33m", "warning: ", text); }

void Output::error(const Error& error) {
  line("\x1b[31m", "", error.message);
  std::string rest;
  for (const std::string& detail : error.details) rest += "  " + detail + "\n";
  if (!error.hint.empty()) rest += (m_has_color ? "\x1b[36mtry:\x1b[0m " : "try: ") + error.hint + "\n";
  std::fwrite(rest.data(), 1, rest.size(), stderr);
}

void Output::redraw(std::string_view line) {
  const std::string drawn = fmt::format("\r{}\x1b[K", line.substr(0, terminal_width() - 1));
  std::fwrite(drawn.data(), 1, drawn.size(), stderr);
  m_is_drawn = true;
}

void Output::clear_line() {
  if (!m_is_drawn) return;
  std::fputs("\r\x1b[K", stderr);
  m_is_drawn = false;
}

void Output::line(std::string_view style, std::string_view label, std::string_view text) {
  clear_line();
  m_has_told = true;
  const bool colored = m_has_color && !style.empty();
  const std::string whole =
      fmt::format("{}cudaenv:{} {}{}\n", colored ? style : "", colored ? "\x1b[0m" : "", label, text);
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

Result<void> Output::finish() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  if (errno == EPIPE) return {};
  return fail(ErrorKind::filesystem, fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

}  // namespace cudaenv::base
