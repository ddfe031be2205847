// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/check.hpp"
#include "core/version_text.hpp"
#include "machines.hpp"
#include "named_rows.hpp"
#include "registry/builtin.hpp"

// Rows for tests of the gate's rules against the built-in tables.

namespace cudaenv::test {

using Words = std::vector<const char*>;

// A release on a machine, and what the gate says of it.
struct CheckRow {
  const char* name;
  const char* release;
  Machine machine;
  core::Verdict verdict;
  std::vector<core::ReasonKind> reasons;  // the worst first
  Words words = {};                       // that must be told
  Words not_told = {};
};

inline core::ToolkitFacts cuda(std::string_view release) {
  return {.name = "CUDA " + std::string(release), .release = core::parse_version(release), .architectures = {}};
}

inline core::Assessment check(const core::ToolkitFacts& toolkit, const Machine& machine) {
  return core::check(registry::builtin(), toolkit, machine.facts());
}

inline Machine with(const char* driver, const char* gpu, const char* name = "") {
  return Machine().driver(driver).gpu(gpu, name);
}

// A line a reason: what a test looks for words in, and shows when it fails.
inline std::string told(const core::Assessment& assessment) {
  std::string lines;
  for (const core::Reason& reason : assessment.reasons) {
    lines.append(to_text(reason.kind)).append(" (").append(to_text(reason.verdict)).append("): ").append(reason.text);
    lines.append("; cure: ").append(reason.cure).append("; brief: ").append(reason.brief);
    lines.append(" [").append(reason.source).append("]\n");
  }
  return lines;
}

inline std::string names_of(const std::vector<core::ReasonKind>& kinds) {
  std::string names;
  for (const core::ReasonKind kind : kinds) names.append(to_text(kind)).append(" ");
  return names;
}

inline std::string kinds_in(const core::Assessment& assessment) {
  std::vector<core::ReasonKind> kinds;
  for (const core::Reason& reason : assessment.reasons) kinds.push_back(reason.kind);
  return names_of(kinds);
}

inline void expect(const CheckRow& row) {
  const core::Assessment assessment = check(cuda(row.release), row.machine);
  const std::string lines = told(assessment);
  EXPECT_EQ(to_text(assessment.verdict), to_text(row.verdict)) << lines;
  EXPECT_EQ(kinds_in(assessment), names_of(row.reasons)) << lines;
  for (const char* word : row.words) EXPECT_NE(lines.find(word), std::string::npos) << word << " in\n" << lines;
  for (const char* word : row.not_told) EXPECT_EQ(lines.find(word), std::string::npos) << word << " in\n" << lines;
  for (const core::Reason& reason : assessment.reasons) {
    EXPECT_FALSE(reason.text.empty()) << lines;
    EXPECT_FALSE(reason.brief.empty()) << lines;
  }
}

constexpr core::Verdict k_ok = core::Verdict::ok;
constexpr core::Verdict k_unknown = core::Verdict::unknown;
constexpr core::Verdict k_limited = core::Verdict::limited;
constexpr core::Verdict k_refused = core::Verdict::refused;

}  // namespace cudaenv::test
