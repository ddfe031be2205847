// SPDX-License-Identifier: Apache-2.0
#include "elf/shared_library.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "elf/tables.hpp"

namespace cudaenv::elf {
namespace {

constexpr std::uint64_t k_most_symbols = 1u << 20;
constexpr std::uint16_t k_version_mask = 0x7fff;  // the rest of a version's number says that it is not the default

// What linkers put into every library for its own use.
constexpr std::string_view k_of_the_linker[] = {"__bss_start", "_edata", "_end", "_fini", "_init"};

// The numbers of the symbols that a loader can find.
struct Range {
  std::uint64_t first;
  std::uint64_t end;
};

// How many symbols there are is written nowhere: the hash table has a chain for each that can be found, and the last
// chain ends at the last symbol.
Result<Range> range_of_gnu_hash(const MappedFile& file, std::uint64_t address) {
  constexpr std::uint64_t k_block = 1024;  // chains read at a time
  CUDAENV_TRY(head, file.items<std::uint32_t>(address, 4, "the hash table"));
  const std::uint64_t bucket_count = head[0];
  const std::uint64_t first = head[1];
  const std::uint64_t bloom_bytes = std::uint64_t{head[2]} * sizeof(std::uint64_t);
  const std::uint64_t buckets_at = address + sizeof(std::uint32_t) * 4 + bloom_bytes;
  CUDAENV_TRY(buckets, file.items<std::uint32_t>(buckets_at, bucket_count, "the hash table"));
  const auto last = std::max_element(buckets.begin(), buckets.end());
  if (last == buckets.end() || *last == 0) return Range{first, first};
  if (*last < first) return damaged("the hash table contradicts itself");
  const std::uint64_t chains_at = buckets_at + bucket_count * sizeof(std::uint32_t);
  for (std::uint64_t index = *last; index < k_most_symbols;) {
    const std::uint64_t block = chains_at + (index - first) * sizeof(std::uint32_t);
    auto chains = file.items<std::uint32_t>(block, k_block, "the hash table");
    if (!chains) chains = file.items<std::uint32_t>(block, 1, "the hash table");  // near its end
    if (!chains) return fail(std::move(chains).error());
    for (const std::uint32_t chain : *chains) {
      ++index;
      if ((chain & 1) != 0) return Range{first, index};
    }
  }
  return damaged("the hash table does not end");
}

Result<Range> range_of_symbols(const MappedFile& file) {
  Range range{1, 0};
  if (const auto gnu_hash = file.dynamic(DT_GNU_HASH)) {
    CUDAENV_TRY(hashed, range_of_gnu_hash(file, *gnu_hash));
    range = hashed;
  } else if (const auto hash = file.dynamic(DT_HASH)) {
    CUDAENV_TRY(head, file.items<std::uint32_t>(*hash, 2, "the hash table"));
    range.end = head[1];
  } else {
    return damaged("no hash table");
  }
  if (range.end > k_most_symbols) return damaged("too many symbols");
  return range;
}

Result<std::vector<char>> read_strings(const MappedFile& file) {
  const auto address = file.dynamic(DT_STRTAB);
  const auto size = file.dynamic(DT_STRSZ);
  if (!address || !size) return damaged("no string table");
  return file.items<char>(*address, *size, "the string table");
}

// The versions that it defines, by number.
Result<std::map<std::uint16_t, std::string>> read_versions(const MappedFile& file, const std::vector<char>& strings) {
  std::map<std::uint16_t, std::string> versions;
  const auto start = file.dynamic(DT_VERDEF);
  if (!start) return versions;
  std::uint64_t address = *start;
  const std::uint64_t count = file.dynamic(DT_VERDEFNUM).value_or(0);
  if (count > k_version_mask) return damaged("too many versions");
  for (std::uint64_t left = count; left != 0; --left) {
    CUDAENV_TRY(definition, file.items<Elf64_Verdef>(address, 1, "a version"));
    const Elf64_Verdef& each = definition[0];
    CUDAENV_TRY(names, file.items<Elf64_Verdaux>(address + each.vd_aux, 1, "the name of a version"));
    auto name = string_in(strings, names[0].vda_name);
    if (!name) return damaged("the name of a version lies outside the string table");
    if ((each.vd_flags & VER_FLG_BASE) == 0) versions[each.vd_ndx & k_version_mask] = std::move(*name);
    if (each.vd_next == 0) break;
    address += each.vd_next;
  }
  return versions;
}

bool is_offered(const Elf64_Sym& symbol) {
  const int binding = ELF64_ST_BIND(symbol.st_info);
  const int visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  // The absolute ones are the names of versions.
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS && binding != STB_LOCAL &&
         visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

Result<std::vector<Export>> read_exports(const MappedFile& file, const std::vector<char>& strings) {
  CUDAENV_TRY(range, range_of_symbols(file));
  CUDAENV_TRY(versions, read_versions(file, strings));
  const auto symbols_at = file.dynamic(DT_SYMTAB);
  if (!symbols_at) return damaged("no symbol table");
  CUDAENV_TRY(symbols, file.items<Elf64_Sym>(*symbols_at, range.end, "the symbol table"));
  std::vector<std::uint16_t> numbers;
  if (const auto numbers_at = file.dynamic(DT_VERSYM)) {
    CUDAENV_TRY(read, file.items<std::uint16_t>(*numbers_at, range.end, "the version table"));
    numbers = std::move(read);
  }
  std::vector<Export> exports;
  for (std::uint64_t i = range.first; i < range.end; ++i) {
    const Elf64_Sym& symbol = symbols[i];
    if (!is_offered(symbol)) continue;
    auto name = string_in(strings, symbol.st_name);
    if (!name || name->empty()) return damaged("the name of a symbol lies outside the string table");
    if (std::find(std::begin(k_of_the_linker), std::end(k_of_the_linker), *name) != std::end(k_of_the_linker)) continue;
    Export offered{std::move(*name),
                   {},
                   true,
                   ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                   ELF64_ST_BIND(symbol.st_info) == STB_WEAK};
    const std::uint16_t number = numbers.empty() ? std::uint16_t{1} : numbers[i];
    if ((number & k_version_mask) == 0) continue;  // for its own use
    if ((number & k_version_mask) > 1) {
      const auto version = versions.find(number & k_version_mask);
      if (version == versions.end()) return damaged("a symbol has a version that is not defined");
      offered.version = version->second;
      offered.is_default = (number & ~k_version_mask) == 0;
    }
    exports.push_back(std::move(offered));
  }
  return exports;
}

}  // namespace

Result<SharedLibrary> read_shared_library(const ByteSource& source, std::string_view soname) {
  CUDAENV_TRY(file, MappedFile::open(source));
  CUDAENV_TRY(strings, read_strings(file));
  SharedLibrary library;
  library.machine = file.machine();
  if (const auto own = file.dynamic(DT_SONAME)) {
    auto name = string_in(strings, *own);
    if (!name) return damaged("its name lies outside the string table");
    library.soname = std::move(*name);
  }
  if (!soname.empty() && library.soname != soname) return library;
  for (const std::uint64_t each : file.all_dynamic(DT_NEEDED)) {
    auto name = string_in(strings, each);
    if (!name) return damaged("the name of a library lies outside the string table");
    library.needed.push_back(std::move(*name));
  }
  library.has_run_path = file.dynamic(DT_RUNPATH) || file.dynamic(DT_RPATH);
  CUDAENV_TRY(exports, read_exports(file, strings));
  library.exports = std::move(exports);
  return library;
}

}  // namespace cudaenv::elf
