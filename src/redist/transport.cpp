// SPDX-License-Identifier: Apache-2.0
#include "redist/transport.hpp"

#include <utility>

#include "redist/curl_transport.hpp"
#include "redist/directory_transport.hpp"
#include "redist/location.hpp"

namespace cudaenv::redist {

std::unique_ptr<Transport> open_transport(const Location& location, TransportOptions options) {
  if (location.is_directory()) return open_directory_transport(location, std::move(options));
  return open_curl_transport(location, std::move(options));
}

}  // namespace cudaenv::redist
