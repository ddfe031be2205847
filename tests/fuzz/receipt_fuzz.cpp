// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include <filesystem>

#include "core/manifest.hpp"
#include "core/selection_types.hpp"
#include "store/receipt.hpp"

namespace {

using namespace cudaenv;

// By the words of the C++ library, so not by those of the check itself.
bool is_below(const std::filesystem::path& path) {
  return path.is_relative() && !path.empty() && *path.lexically_normal().begin() != "..";
}

void check(const store::ReceiptComponent& component) {
  require(core::is_component_name(component.name) && core::is_plain_relative_path(component.archive));
  require(component.archive_sha256.empty() || core::is_sha256(component.archive_sha256));
  require(component.product.find('/') == std::string::npos);
  require(component.product_version.find('/') == std::string::npos);
  require(component.lib_directory.find_first_not_of("0123456789") == std::string::npos);
}

void check(const store::ReceiptFile& file) {
  const std::filesystem::path path = file.path;
  require(is_below(path) && path.lexically_normal() == path && *path.begin() != core::k_receipt_name);
  require(path.has_filename() && file.path.find('\0') == std::string::npos && (file.mode & ~mode_t{0777}) == 0);
  if (file.target.empty()) return;
  const std::filesystem::path target = file.target;
  require(target.is_relative() && is_below(path.parent_path() / target));
}

}  // namespace

// No receipt makes us write or remove anything but below the toolkit, and what is read is what is written.
void fuzz(std::string_view bytes) {
  const auto receipt = store::parse_receipt(bytes, "receipt.json");
  if (!receipt) {
    require(receipt.error().kind == ErrorKind::integrity &&
            receipt.error().message.starts_with("receipt.json is not "));
    return;
  }
  require(receipt->platform.find('/') == std::string::npos);
  for (const store::ReceiptComponent& component : receipt->components) check(component);
  for (const store::ReceiptFile& file : receipt->files) check(file);
  const std::string text = store::to_json(*receipt);
  const auto again = store::parse_receipt(text, "receipt.json");
  require(again && store::to_json(*again) == text);
}
