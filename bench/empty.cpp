// SPDX-License-Identifier: Apache-2.0
// The least that a dynamic C++ program costs: it loads the C++ library and ends.
#include <string>

int main(int argc, char**) { return std::string(static_cast<std::size_t>(argc), 'x').size() == 77; }
