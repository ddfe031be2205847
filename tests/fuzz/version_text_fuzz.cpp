// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "core/version_file.hpp"

// Whatever a version file holds, what comes out can be a directory name and nothing else.
void fuzz(std::string_view bytes) {
  using namespace cudaenv::core;
  const VersionText text = parse_version_text(bytes);
  if (text.status != VersionTextStatus::spec) return;
  require(text.spec.text == text.word && !text.word.empty());
  require(text.word.find('/') == std::string_view::npos && text.word[0] != '.' && text.word[0] != '-');
  if (text.spec.kind == SpecKind::number) require(text.spec.matches(text.spec.version));
}
