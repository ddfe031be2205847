// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::redist {

// The names that a web server's index page links to: of each link's address the last part of its path, decoded.
// A directory's name comes without its slash. Each name once, in the page's order; links that name nothing below
// a page (sorting, parent, mail, anchors) and names that are no file name are left out.
std::vector<std::string> linked_names(std::string_view html);

}  // namespace cudaenv::redist
