// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "base/value.hpp"

namespace cudaenv::base {

enum class Verbosity { quiet, normal, verbose };
enum class ColorChoice { automatic, always, never };

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
  // Whether a line on stderr can be drawn over: a terminal that is not a dumb one.
  bool can_redraw() const { return m_can_redraw; }
  // Draws a line, cut to the terminal's width, over the one drawn before; whatever is printed next takes its place.
  // Only where can_redraw().
  void redraw(std::string_view line);
  void clear_line();

  // Fails if stdout could not take all data (a full disk); a closed pipe is no failure.
  [[nodiscard]] Result<void> finish();

 private:
  void line(std::string_view style, std::string_view label, std::string_view text);

  Verbosity m_verbosity;
  bool m_can_redraw;
  bool m_has_color;
  bool m_is_drawn = false;
  bool m_has_told = false;
};

}  // namespace cudaenv::base
