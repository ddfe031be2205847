// SPDX-License-Identifier: Apache-2.0
#include "redist/no_proxy.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ends_alike(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// "example" and ".example" both stand for the host itself and for all below it.
bool is_of(std::string_view host, std::string_view domain) {
  if (domain.starts_with('.')) domain.remove_prefix(1);
  if (domain.empty() || !ends_alike(host, domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

}  // namespace

bool names_host_and_port(std::string_view list, std::string_view host, std::string_view port) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(", "), list.size());
    const std::string_view entry = base::trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    const std::size_t colon = entry.rfind(':');
    if (colon == entry.npos || entry.substr(colon + 1) != port) continue;
    if (is_of(host, entry.substr(0, colon))) return true;
  }
  return false;
}

}  // namespace cudaenv::redist
