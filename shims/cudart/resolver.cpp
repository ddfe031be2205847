// SPDX-License-Identifier: Apache-2.0
//
// The loader calls this while it relocates the shim: the last entry of the shim's DT_RELA asks for the address of an
// indirect function, and this is it. That is the one moment at which a library can still be refused as a library that
// is not there is, with the loader's own error: a program ends before any of its constructors has run, dlopen answers
// null, and a second dlopen starts from nothing.
//
// The refusal itself is the next relocation, in DT_JMPREL: it refers to a symbol, the sentinel, that no library has.
// The sentinel is weak, so that it does not matter; a refusal makes it a strong one and its name the words to be told.
//
// Symbols that the chosen library does not have are made undefined here. Whoever uses this library is relocated after
// it, and so finds what he would find in the library itself.
//
// Nothing may be called here that libc has (process.cpp). That the loader goes about its work in this order is promised
// by nobody: the constructor (constructor.cpp) checks what was done here, and does without it if it must.

#include "choice.hpp"
#include "table.hpp"

namespace cudaenv::cudart {
namespace {

void hide_absent() {
  const core::ShimTable& table = cudaenv_table;
  const auto* libraries = part<const core::ShimLibrary>(table.libraries);
  const auto* absent = part<const std::uint32_t>(table.absent);
  for (std::uint32_t i = 0; i < table.library_count; ++i) {
    if (libraries[i].key != choice().key) continue;
    for (std::uint32_t k = 0; k < libraries[i].absent_count; ++k) {
      ElfW(Sym)& hidden = symbol(table.first_symbol + absent[libraries[i].first_absent + k]);
      hidden.st_value = 0;
      hidden.st_shndx = SHN_UNDEF;
    }
    return;
  }
}

}  // namespace
}  // namespace cudaenv::cudart

// Its answer is of no use to anybody, but has to be the address of a function.
extern "C" [[gnu::visibility("hidden"), gnu::used]] void* cudaenv_resolve() {
  using namespace cudaenv;
  cudart::choose(cudart::string(cudaenv_table.refusal), core::k_refusal_size);
  if (cudart::choice().status == cudart::ChoiceStatus::refused)
    cudart::symbol(cudaenv_table.sentinel).st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
  else
    cudart::hide_absent();
  return cudart::stub(0);
}
