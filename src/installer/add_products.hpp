// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "commands/app.hpp"
#include "installer/changeable.hpp"
#include "installer/products.hpp"

namespace cudaenv::installer {

// Plans those of the products that `receipt` (null: of a toolkit that is not installed yet) does not have as they were
// asked for; says of each other one that it is there.
[[nodiscard]] Result<std::vector<PlannedProduct>> missing_products(commands::App& app,
                                                                   const std::vector<WantedProduct>& wanted,
                                                                   const store::Receipt* receipt,
                                                                   const std::vector<redist::Source>& bases,
                                                                   const ProductTarget& target);

// What would be fetched, to stdout.
void print_products(commands::App& app, const std::vector<PlannedProduct>& products, const store::Receipt* receipt);

// Puts them into the toolkit, in the place of older versions, and says what was done.
[[nodiscard]] Result<void> add_products(commands::App& app, const Changeable& into,
                                        std::vector<PlannedProduct> products, const std::string& command);

// The products that were typed, and those of a receipt that were not, as they are there: what is typed for a toolkit
// that is made anew.
[[nodiscard]] Result<std::vector<std::string>> with_those_of(const store::Receipt& receipt,
                                                             const std::vector<std::string>& typed,
                                                             const core::Registry& registry);

// Where each product's licence can be read, or what it is called.
std::vector<std::string> licences_of(const std::vector<PlannedProduct>& products);

// "nothing was added" or "added to it: cudnn 9.14.0"
std::string added_text(const store::Receipt& receipt);

}  // namespace cudaenv::installer
