// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "redist/digest.hpp"
#include "redist/source.hpp"
#include "scratch.hpp"
#include "tar_file.hpp"

namespace cudaenv::test {

// A directory that serves as a mirror: archives of a few bytes and their manifests.
class SmallMirror {
 public:
  // An archive of the component for linux-x86_64, listed by the next manifest that is written.
  void add(const std::string& component, std::vector<Member> members) {
    const std::string top = component + "-archive";
    for (Member& member : members) member.name = top + "/" + member.name;
    m_scratch.directory(component);
    const std::string relative = component + "/" + top + ".tar";
    write_tar(m_scratch / relative, members);
    const std::string bytes = content_of(m_scratch / relative);
    m_components.emplace_back(
        component, base::Value::Object{{"name", "Name of " + component},
                                       {"license", "CUDA Toolkit"},
                                       {"version", "1.2.3"},
                                       {"linux-x86_64", base::Value::Object{{"relative_path", relative},
                                                                            {"sha256", redist::sha256_of(bytes)},
                                                                            {"size", std::to_string(bytes.size())}}}});
  }

  // Writes the manifest of the release; returns its text.
  std::string write_manifest(const std::string& release) const {
    base::Value::Object document{{"release_date", "2026-01-01"}, {"release_label", release}};
    document.insert(document.end(), m_components.begin(), m_components.end());
    const std::string text = base::to_json(document);
    m_scratch.file("redistrib_" + release + ".json", text);
    return text;
  }

  const base::Path& path() const { return m_scratch.path(); }
  base::Path operator/(std::string_view name) const { return m_scratch / name; }
  redist::Source source() const { return *redist::open_source(m_scratch.path().native(), {}, "/"); }

 private:
  Scratch m_scratch;
  base::Value::Object m_components;
};

}  // namespace cudaenv::test
