// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "base/value.hpp"

namespace cudaenv::base {

enum class Verbosity { quiet, normal, verbose };
enum class ColorChoice { automatic, always, never };

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Where everything that a person or a script sees goes through: data to stdout, all else to stderr.
class Output {
 public:
  Output(const Environment& environment, Verbosity verbosity, ColorChoice color);

  // Data, without a line end of its own.
  void data(std::string_view text);
  void json(const Value& document);

  // A line for the person: what was done. Not under --quiet.
  void note(std::string_view line);
  // Why nothing seems to happen: under --quiet too.
  void waiting(std::string_view line);
  // Only under --verbose.
  void detail(std::string_view line);
  void warning(std::string_view line);
  void error(const Error& error);

  Verbosity verbosity() const { return m_verbosity; }
  // Whether a person was told anything.
  bool has_told() const { return m_has_told; }
  // Whether lines on stderr can be drawn over: a terminal that is not a dumb one.
  bool can_redraw() const { return m_can_redraw; }
  TerminalSize terminal_size() const;  // as it is now
  // Draws lines, cut to the terminal's width, over those drawn before; whatever is printed next takes their place. Only
  // where can_redraw(). Nothing is drawn while the terminal is another job's.
  void redraw(std::span<const std::string> lines);
  void clear_drawn();

  // Fails if stdout could not take all data (a full disk); a closed pipe is no failure.
  [[nodiscard]] Result<void> finish();

 private:
  std::string to_first_drawn() const;
  void line(std::string_view style, std::string_view label, std::string_view text);

  Verbosity m_verbosity;
  bool m_can_redraw;
  bool m_has_color;
  std::vector<std::size_t> m_drawn;  // lengths of the lines on the terminal; the cursor is at the start of the last
  bool m_has_told = false;
};

}  // namespace cudaenv::base
