// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudaenv::redist {

// Whether a list such as that of `no_proxy` names the host with this very port ("mirror.example:8443",
// ".example:8443"). libcurl knows only entries without a port, and those are left to it.
bool names_host_and_port(std::string_view list, std::string_view host, std::string_view port);

}  // namespace cudaenv::redist
