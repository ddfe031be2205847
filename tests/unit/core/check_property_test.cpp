// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "core/check_rules.hpp"
#include "core/version_text.hpp"
#include "machines.hpp"
#include "registry/builtin.hpp"

// What must hold of every release, driver branch and chip in the tables.

namespace cudaenv::core {
namespace {

const Registry& facts() { return registry::builtin(); }

ToolkitFacts toolkit_of(Version release) {
  return {.name = "CUDA " + to_text(release), .release = release, .architectures = {}};
}

Verdict verdict_of(Version release, const MachineFacts& machine) {
  const ToolkitFacts toolkit = toolkit_of(release);
  return worst_of(judge(CheckCase(facts(), toolkit, machine)));
}

// A machine with the newest driver of the branch; what the branch implements is taken as sure.
MachineFacts machine_of(const DriverBranchRow& branch, ComputeCapability gpu) {
  return test::Machine().driver(std::to_string(branch.branch) + ".999").gpu(to_text(gpu)).described().facts();
}

template <class Visit>
void for_each_machine(Visit visit) {
  for (const ChipRow& chip : facts().chips)
    for (const DriverBranchRow& branch : facts().driver_branches)
      visit(branch, chip, machine_of(branch, chip.capability));
}

std::string shown(Version release, const MachineFacts& machine) {
  return to_text(release) + " on " + to_text(*machine.kernel_version) + " with " + to_text(machine.gpus.front());
}

TEST(CheckProperty, ANewerDriverRefusesNothingButWhatItNoLongerDrives) {
  for (const ChipRow& chip : facts().chips) {
    for (const ReleaseRow& row : facts().releases) {
      bool was_allowed = false;
      for (const DriverBranchRow& branch : facts().driver_branches) {
        const MachineFacts machine = machine_of(branch, chip.capability);
        const bool is_allowed = verdict_of(row.release, machine) != Verdict::refused;
        const bool is_driven = chip.last_driver_branch == 0 || branch.branch <= chip.last_driver_branch;
        ASSERT_TRUE(is_allowed || !was_allowed || !is_driven) << shown(row.release, machine);
        was_allowed = is_allowed && is_driven;
      }
    }
  }
}

TEST(CheckProperty, SuggestionsAreNotRefused) {
  for_each_machine([](const DriverBranchRow&, const ChipRow&, const MachineFacts& machine) {
    for (const ReleaseRow& row : facts().releases) {
      // One release a minor is enough: the updates of a minor are judged alike.
      if (&row != &releases_of(facts(), row.release.major, row.release.minor).front()) continue;
      const Suggestion suggestion = suggest(facts(), toolkit_of(row.release), machine);
      const Verdict verdict = verdict_of(row.release, machine);
      if (suggestion.release) {
        EXPECT_EQ(verdict, Verdict::refused) << shown(row.release, machine);
        EXPECT_NE(verdict_of(*suggestion.release, machine), Verdict::refused) << shown(row.release, machine);
        EXPECT_FALSE(find_release(facts(), *suggestion.release)->is_preview);
      }
      if (suggestion.best) {
        const Verdict best = verdict_of(*suggestion.best, machine);
        EXPECT_TRUE(best == Verdict::ok || best == Verdict::unknown) << shown(row.release, machine);
        EXPECT_TRUE(suggestion.release || verdict != Verdict::refused) << shown(row.release, machine);
      }
    }
  });
}

TEST(CheckProperty, TheNewestFitIsNotRefused) {
  std::vector<Version> releases;
  for (const ReleaseRow& row : facts().releases) releases.push_back(row.release);
  for_each_machine([&](const DriverBranchRow&, const ChipRow&, const MachineFacts& machine) {
    const auto fit = newest_fit(facts(), releases, machine);
    const auto is_allowed = [&](Version release) { return verdict_of(release, machine) != Verdict::refused; };
    ASSERT_EQ(fit.has_value(), std::any_of(releases.begin(), releases.end(), is_allowed));
    if (!fit) return;
    EXPECT_TRUE(is_allowed(*fit)) << shown(*fit, machine);
    for (const Version release : releases)
      EXPECT_LE(verdict_of(*fit, machine), verdict_of(release, machine)) << shown(release, machine);
  });
}

TEST(CheckProperty, OrderOfGpusDoesNotCount) {
  for (const ChipRow& first : facts().chips) {
    for (const ChipRow& second : facts().chips) {
      for (const DriverBranchRow& branch : facts().driver_branches) {
        MachineFacts machine = machine_of(branch, first.capability);
        Gpu& other = machine.gpus.emplace_back();
        other.index = 1;
        other.capability = second.capability;
        MachineFacts turned = machine;
        std::reverse(turned.gpus.begin(), turned.gpus.end());
        for (const Version release : {Version{10, 2, 89}, {11, 7, 1}, {12, 4, 1}, {12, 9, 1}, {13, 0, 2}, {13, 4, 1}})
          ASSERT_EQ(verdict_of(release, machine), verdict_of(release, turned)) << shown(release, machine);
      }
    }
  }
}

TEST(CheckProperty, EveryReasonIsOneLineWithASource) {
  for_each_machine([](const DriverBranchRow&, const ChipRow&, const MachineFacts& machine) {
    for (const Version release : {Version{10, 2, 89}, {11, 7, 1}, {12, 6, 3}, {12, 9, 1}, {13, 0, 2}, {13, 4, 1}}) {
      const Assessment assessment = check(facts(), toolkit_of(release), machine);
      for (const Reason& reason : assessment.reasons) {
        EXPECT_FALSE(reason.text.empty()) << to_text(reason.kind);
        EXPECT_EQ((reason.text + reason.cure).find('\n'), std::string::npos) << reason.text;
        for (std::string_view ids = reason.source; !ids.empty();) {
          const std::string_view id = ids.substr(0, ids.find(' '));
          EXPECT_NE(find_source(facts(), id), nullptr) << id;
          ids.remove_prefix(std::min(id.size() + 1, ids.size()));
        }
      }
    }
  });
}

}  // namespace
}  // namespace cudaenv::core
