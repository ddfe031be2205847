// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <algorithm>
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

// Whether another job has the terminal, as after `cudaenv install &`: what is drawn would meet what is typed.
bool is_in_background() {
  const pid_t owner = ::tcgetpgrp(STDERR_FILENO);
  return owner >= 0 && owner != ::getpgrp();
}

}  // namespace

Output::Output(const Environment& environment, Verbosity verbosity, ColorChoice color)
    : m_verbosity(verbosity),
      m_can_redraw(is_capable_terminal(environment)),
      m_has_color(decide_color(environment, color, m_can_redraw)) {}

void Output::data(std::string_view text) {
  clear_drawn();
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

TerminalSize Output::terminal_size() const {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void Output::redraw(std::span<const std::string> lines) {
  if (is_in_background()) {
    m_drawn.clear();
    return;
  }
  const std::size_t most = terminal_size().columns - 1;  // in the last column some terminals begin a new line
  std::string drawn = to_first_drawn();
  m_drawn.clear();
  for (const std::string& line : lines) {
    const std::string_view cut = std::string_view(line).substr(0, most);
    drawn += fmt::format("{}{}\x1b[K", m_drawn.empty() ? "" : "\r\n", cut);
    m_drawn.push_back(cut.size());
  }
  drawn += "\x1b[J\r";  // at the start, where the ^C of a terminal does no harm
  std::fwrite(drawn.data(), 1, drawn.size(), stderr);
}

void Output::clear_drawn() {
  if (m_drawn.empty()) return;
  const std::string clearing = to_first_drawn() + "\x1b[J";
  m_drawn.clear();
  if (!is_in_background()) std::fwrite(clearing.data(), 1, clearing.size(), stderr);
}

// A terminal that has become narrower since has broken the lines anew.
std::string Output::to_first_drawn() const {
  const std::size_t columns = terminal_size().columns;
  std::size_t up = 0;
  for (std::size_t i = 0; i + 1 < m_drawn.size(); ++i)
    up += std::max<std::size_t>(1, (m_drawn[i] + columns - 1) / columns);
  return up == 0 ? "\r" : fmt::format("\r\x1b[{}A", up);
}

void Output::line(std::string_view style, std::string_view label, std::string_view text) {
  clear_drawn();
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
