// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "redist/location.hpp"
#include "redist/transport.hpp"

namespace cudaenv::redist {

std::unique_ptr<Transport> open_curl_transport(const Location& location, TransportOptions options);

}  // namespace cudaenv::redist
