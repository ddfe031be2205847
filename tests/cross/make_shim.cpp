// SPDX-License-Identifier: Apache-2.0
//
// Makes a library shim as rehash does, but for any machine: make_library_shim TEMPLATE OUTPUT ROOT LIBRARY...

#include <cstdio>
#include <utility>

#include <sys/stat.h>

#include "base/files.hpp"
#include "core/library_shim.hpp"
#include "elf/shim_writer.hpp"
#include "store/shim_plan.hpp"

namespace {

using namespace cudaenv;

Result<void> make(int count, char** arguments) {
  store::ShimSources sources;
  for (int i = 4; i < count; ++i) {
    CUDAENV_TRY(content, base::read_file(arguments[i]));
    struct stat info;
    if (!content || ::stat(arguments[i], &info) != 0) return fail(ErrorKind::not_found, arguments[i]);
    const core::FileStamp stamp{true, 0, 0, content->size(), info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    CUDAENV_TRY(library, elf::read_shared_library(elf::source_of(*content)));
    sources.installed.push_back({arguments[i], core::library_key(stamp), std::move(library), {}});
  }
  CUDAENV_TRY(shim_template, base::read_file(arguments[1]));
  if (!shim_template) return fail(ErrorKind::not_found, arguments[1]);
  const auto shims = store::plan_shims(sources, {}, arguments[3]);
  if (shims.size() != 1 || !shims[0].refusal.empty()) return fail(ErrorKind::config, "not libraries of one SONAME");
  CUDAENV_TRY(shim, elf::write_shim(*shim_template, shims[0].plan));
  return base::write_file(arguments[2], shim, 0755);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) {
    std::fputs("usage: make_library_shim TEMPLATE OUTPUT ROOT LIBRARY...\n", stderr);
    return 2;
  }
  const auto made = make(count, arguments);
  if (!made) std::fprintf(stderr, "%s\n", made.error().message.c_str());
  return made ? 0 : 1;
}
