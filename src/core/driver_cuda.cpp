// SPDX-License-Identifier: Apache-2.0
#include "core/driver_cuda.hpp"

#include <algorithm>

namespace cudaenv::core {
namespace {

Minor cuda_of(const DriverBranchRow& row) { return {row.cuda_major, row.cuda_minor}; }

}  // namespace

std::optional<DriverCuda> cuda_of_driver(const Registry& registry, DottedVersion driver, DriverNumbers numbers) {
  const auto rows = registry.driver_branches;
  if (!driver || rows.empty() || driver[0] < rows.front().branch) return std::nullopt;
  const DriverBranchRow* row = branch_of(registry, driver, numbers);
  if (!row) return DriverCuda{cuda_of(rows.back()), true, std::nullopt};

  const bool is_exact = row->branch == driver[0];
  if (is_exact && row->certain) return DriverCuda{cuda_of(*row), false, cuda_of(*row)};
  const auto next = std::find_if(row, rows.data() + rows.size(),
                                 [&](const DriverBranchRow& later) { return cuda_of(later) > cuda_of(*row); });
  const bool has_next = next != rows.data() + rows.size();
  const bool may_be_next_major =
      !is_exact && numbers == DriverNumbers::of_linux && has_next && next->cuda_major != row->cuda_major;
  return DriverCuda{cuda_of(*row), !row->certain || may_be_next_major,
                    has_next ? std::optional(cuda_of(*next)) : std::nullopt};
}

}  // namespace cudaenv::core
