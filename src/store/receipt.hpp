// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/version.hpp"

namespace cudaenv::store {

struct ReceiptComponent {
  std::string name;
  std::string version;
  std::string license;
  std::string license_sha256;  // of the licence text that came with it; empty if none did
  std::string archive;         // path below the mirror
  std::string archive_sha256;
  std::uint64_t archive_size = 0;
  std::string human_name = {};  // CUDA NVCC

  // Of a component of another product than the toolkit (core/product.hpp); empty otherwise.
  std::string product = {};          // cudnn
  std::string product_version = {};  // 9.14.0
  std::string product_manifest_sha256 = {};
  std::string product_source = {};  // base of its archives, without credentials
  std::string lib_directory = {};   // of an archive that is one for every CUDA: which of its libraries were taken
};

struct ReceiptFile {
  std::string path;       // below the toolkit
  std::string component;  // empty: made by cudaenv
  mode_t mode = 0;
  std::uint64_t size = 0;
  std::string sha256;
  std::string target;                     // of a link; then there are no mode, size and digest
  std::vector<std::string> also_of = {};  // further components that brought the same
};

// What an installed toolkit is made of; the file that says that it is whole.
struct Receipt {
  core::Version release;
  std::string platform;
  std::string profile;
  std::vector<std::string> with;
  std::vector<std::string> without;
  std::string source;  // base of the archives, without credentials
  std::string manifest_sha256;
  std::string installed;  // UTC, 2026-01-31T12:00:00Z
  int layout = 0;         // core::k_layout of the program that made it
  std::vector<ReceiptComponent> components;
  std::vector<ReceiptFile> files;

  bool has_component(std::string_view name) const;
  // The first component of a product that was added; null if it was not.
  const ReceiptComponent* find_product(std::string_view name) const;
};

std::string to_json(const Receipt& receipt);

// ErrorKind::integrity, with `name` for the text, if it is no receipt, or one whose names would be paths to somewhere
// else (receipt_check.hpp).
[[nodiscard]] Result<Receipt> parse_receipt(std::string_view text, std::string_view name);

// The same of a toolkit's file, with a way to get another if the toolkit is a release; ErrorKind::not_found if there is
// none.
[[nodiscard]] Result<Receipt> read_receipt(const base::Path& toolkit);

}  // namespace cudaenv::store
