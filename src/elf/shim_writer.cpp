// SPDX-License-Identifier: Apache-2.0
//
// A shim is the template with one more segment behind it. That holds what a linker would have written for a library
// with these functions: names, symbols, their hash table, versions, relocations; and the tables that the code of the
// shim reads (core/library_shim.hpp). The template's dynamic section is then pointed at them. What the template itself
// imports keeps its numbers at the front of the symbol table, so that its own relocations stay right.

#include "elf/shim_writer.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "elf/hash_table.hpp"
#include "elf/relocation_types.hpp"
#include "elf/template_image.hpp"

namespace cudaenv::elf {
namespace {

constexpr std::uint16_t k_global = 1;             // version number of what has no version
constexpr std::uint16_t k_not_default = 0x8000;   // added to a version's number
constexpr std::uint16_t k_template_versions = 2;  // defined by the template: its base and one more
constexpr std::string_view k_sentinel = "__cudaenv_refusal";

// The appended segment as it grows.
class Segment {
 public:
  explicit Segment(std::uint64_t address) : m_address(address) {}

  // The address at which the bytes will lie.
  std::uint64_t put(std::string_view bytes) {
    m_bytes.resize((m_bytes.size() + 15) / 16 * 16);
    const std::uint64_t address = m_address + m_bytes.size();
    m_bytes.append(bytes);
    return address;
  }
  template <class T>
  std::uint64_t put(const std::vector<T>& items) {
    return put(std::string_view(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)));
  }

  const std::string& bytes() const { return m_bytes; }

 private:
  std::uint64_t m_address;
  std::string m_bytes;
};

class ShimWriter {
 public:
  ShimWriter(TemplateImage image, const ShimPlan& plan)
      : m_image(std::move(image)),
        m_plan(plan),
        m_table(m_image.items<core::ShimTable>(core::k_shim_section).at(0)),
        m_table_address(m_image.section(core::k_shim_section).sh_addr),
        m_types(relocation_types(m_image.machine())),
        m_segment(m_image.append_address()) {}

  Result<std::string> write() {
    if (m_plan.functions.size() >= static_cast<std::size_t>(m_table.slot_count))
      return fail(ErrorKind::config, fmt::format("{} functions are more than a shim has room for ({})",
                                                 m_plan.functions.size(), m_table.slot_count - 1));
    order_functions();
    name_versions();
    add_symbols();
    add_relocations();
    add_libraries();
    if (!settle_dynamic()) return fail(ErrorKind::internal, "the template of the library shims has no room");
    m_image.replace(core::k_shim_section, std::vector<core::ShimTable>{m_table});
    return std::move(m_image).finish(m_segment.bytes());
  }

 private:
  // A text in the string table, once.
  std::uint32_t string(const std::string& text) {
    const auto [found, is_new] = m_string_offsets.try_emplace(text, static_cast<std::uint32_t>(m_strings.size()));
    if (is_new) m_strings.append(text).push_back('\0');
    return found->second;
  }

  std::int64_t from_table(std::uint64_t address) const { return static_cast<std::int64_t>(address - m_table_address); }
  std::uint64_t in_template(std::int64_t distance) const {
    return m_table_address + static_cast<std::uint64_t>(distance);
  }

  // The functions and the marker, in the order of the hash table.
  void order_functions() {
    m_functions = m_plan.functions;
    m_functions.push_back({"__cudaenv_shim_of_" + m_plan.soname, {}, true, false, core::ShimAnswer::error});
    m_order.resize(m_functions.size());
    std::iota(m_order.begin(), m_order.end(), std::size_t{0});
    const std::uint32_t buckets = bucket_count(m_functions.size());
    std::vector<std::uint32_t> bucket;
    for (const PlannedFunction& function : m_functions) bucket.push_back(gnu_hash(function.name) % buckets);
    std::stable_sort(m_order.begin(), m_order.end(),
                     [&](std::size_t a, std::size_t b) { return bucket[a] < bucket[b]; });
    const auto dynstr = m_image.items<char>(".dynstr");
    m_strings.assign(dynstr.begin(), dynstr.end());
    m_table.soname = string(m_plan.soname);
    m_table.root = string(m_plan.root);
    for (const std::string& library : m_plan.needed)
      if (!needs(library)) m_needed.push_back(string(library));
    std::vector<std::uint32_t> preload;
    for (const std::string& file : m_plan.preload) preload.push_back(string(file));
    m_table.preload_count = static_cast<std::uint32_t>(preload.size());
    m_table.preload = from_table(m_segment.put(preload));
  }

  // Whether the template itself needs that library.
  bool needs(const std::string& library) const {
    for (const std::uint64_t name : m_image.all_dynamic(DT_NEEDED))
      if (name < m_strings.size() && m_strings.c_str() + name == library) return true;
    return false;
  }

  // Numbers the versions: base, then those of the functions, then those that the template imports, which move up for
  // it.
  void name_versions() {
    for (const PlannedFunction& function : m_functions)
      if (!function.version.empty()) m_versions.try_emplace(function.version, std::uint16_t{0});
    std::uint16_t next = 2;
    for (auto& [name, number] : m_versions) number = next++;
    std::string definitions;
    const std::size_t count = m_versions.size() + 1;
    const auto define = [&](const std::string& name, std::uint16_t number, std::uint16_t flags) {
      const bool is_last = number == count;
      const Elf64_Verdef definition{
          VER_DEF_CURRENT,
          flags,
          number,
          1,
          sysv_hash(name),
          sizeof(Elf64_Verdef),
          is_last ? 0u : static_cast<Elf64_Word>(sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux))};
      const Elf64_Verdaux named{string(name), 0};
      definitions.append(reinterpret_cast<const char*>(&definition), sizeof definition);
      definitions.append(reinterpret_cast<const char*>(&named), sizeof named);
    };
    define(m_plan.soname, k_global, VER_FLG_BASE);
    for (const auto& [name, number] : m_versions) define(name, number, 0);
    m_version_definitions = m_segment.put(definitions);
    m_image.move_section(".gnu.version_d", m_version_definitions, definitions.size(),
                         static_cast<std::uint32_t>(count));
    m_version_shift = static_cast<int>(count) - k_template_versions;
    shift_needed_versions();
  }

  void shift_needed_versions() {
    auto bytes = m_image.items<char>(".gnu.version_r");
    const auto field = [&](std::size_t at) { return reinterpret_cast<Elf64_Verneed*>(bytes.data() + at); };
    for (std::size_t at = 0; at + sizeof(Elf64_Verneed) <= bytes.size();) {
      const Elf64_Verneed need = *field(at);
      std::size_t name_at = at + need.vn_aux;
      for (unsigned i = 0; i < need.vn_cnt && name_at + sizeof(Elf64_Vernaux) <= bytes.size(); ++i) {
        auto* name = reinterpret_cast<Elf64_Vernaux*>(bytes.data() + name_at);
        name->vna_other = static_cast<Elf64_Half>(name->vna_other + m_version_shift);
        name_at += name->vna_next;
      }
      if (need.vn_next == 0) break;
      at += need.vn_next;
    }
    m_image.replace(".gnu.version_r", bytes);
  }

  // What the template imports, the sentinel, the functions.
  void add_symbols() {
    m_symbols = m_image.items<Elf64_Sym>(".dynsym");
    m_numbers = m_image.items<std::uint16_t>(".gnu.version");
    for (std::size_t i = 1; i < m_symbols.size(); ++i) {
      if (m_symbols[i].st_shndx == SHN_UNDEF) {
        m_numbers[i] = static_cast<std::uint16_t>(m_numbers[i] + m_version_shift);
      } else {  // the name of the template's own version
        m_symbols[i].st_name = m_table.soname;
        if (m_versions.empty()) m_numbers[i] = k_global;
      }
    }
    const std::uint16_t text = m_image.index_of(".text");
    const std::uint64_t stubs = in_template(m_table.stubs);
    const auto add = [&](std::uint32_t name, int info, std::uint64_t address, std::uint16_t version) {
      m_symbols.push_back({name, static_cast<unsigned char>(info), STV_DEFAULT, text, address, core::k_stub_size});
      m_numbers.push_back(version);
    };
    // Defined and of an indirect function, as a loader may put off the relocations of such symbols until the resolver
    // has run. Not in the hash table, so nobody finds it.
    m_table.sentinel = static_cast<std::uint32_t>(m_symbols.size());
    add(0, ELF64_ST_INFO(STB_WEAK, STT_GNU_IFUNC), stubs, k_global);  // named in settle_dynamic()
    m_table.first_symbol = static_cast<std::uint32_t>(m_symbols.size());

    std::vector<core::ShimFunction> table;
    std::vector<std::uint32_t> hashes;
    for (const std::size_t index : m_order) {
      const PlannedFunction& function = m_functions[index];
      const std::uint16_t number = function.version.empty() ? k_global : m_versions.at(function.version);
      const std::uint32_t name = string(function.name);
      add(name, ELF64_ST_INFO(function.is_weak ? STB_WEAK : STB_GLOBAL, STT_FUNC),
          stubs + core::k_stub_size * table.size(),
          static_cast<std::uint16_t>(number | (function.is_default ? 0 : k_not_default)));
      if (index + 1 == m_functions.size()) {
        m_table.marker = static_cast<std::uint32_t>(table.size());
        m_table.marker_name = name;
      }
      hashes.push_back(gnu_hash(function.name));
      table.push_back({name, hashes.back(), function.answer});
    }
    m_table.function_count = static_cast<std::uint32_t>(table.size());
    m_table.functions = from_table(m_segment.put(table));
    const std::string hash_table = gnu_hash_table(hashes, m_table.first_symbol);
    m_hash_table = m_segment.put(hash_table);
    m_image.move_section(".gnu.hash", m_hash_table, hash_table.size());
  }

  // DT_RELA: first what needs no symbol, last the resolver. DT_JMPREL: the sentinel, which has to come after it. The
  // two must not touch, or older loaders take them for one.
  void add_relocations() {
    const std::vector<Elf64_Rela> own = m_image.items<Elf64_Rela>(".rela.dyn");
    const std::size_t relative = m_image.dynamic(DT_RELACOUNT).value_or(0);
    const auto first_other = own.begin() + static_cast<std::ptrdiff_t>(std::min(relative, own.size()));
    m_relocations.assign(own.begin(), first_other);
    for (std::size_t i = 0; i < m_functions.size(); ++i)
      m_relocations.push_back({in_template(m_table.slots) + sizeof(void*) * i, ELF64_R_INFO(0, m_types.relative),
                               static_cast<Elf64_Sxword>(in_template(m_table.bindings) + core::k_stub_size * i)});
    m_relative_count = m_relocations.size();
    m_relocations.insert(m_relocations.end(), first_other, own.end());
    m_relocations.push_back({in_template(m_table.resolver_slot), ELF64_R_INFO(0, m_types.indirect),
                             static_cast<Elf64_Sxword>(in_template(m_table.resolver))});
    m_sentinel_at = m_segment.put(std::vector<Elf64_Rela>{
        {in_template(m_table.sentinel_slot), ELF64_R_INFO(std::uint64_t{m_table.sentinel}, m_types.jump_slot), 0}});
  }

  void add_libraries() {
    std::vector<std::uint32_t> place(m_functions.size());
    for (std::size_t i = 0; i < m_order.size(); ++i) place[m_order[i]] = static_cast<std::uint32_t>(i);
    std::vector<core::ShimLibrary> libraries;
    std::vector<std::uint32_t> absent;
    for (const PlannedLibrary& planned : m_plan.libraries) {
      libraries.push_back(
          {planned.key, static_cast<std::uint32_t>(absent.size()), static_cast<std::uint32_t>(planned.absent.size())});
      for (const std::size_t function : planned.absent) absent.push_back(place[function]);
    }
    m_table.library_count = static_cast<std::uint32_t>(libraries.size());
    m_table.libraries = from_table(m_segment.put(libraries));
    m_table.absent = from_table(m_segment.put(absent));
  }

  bool settle_dynamic() {
    // The refusal takes the place of the sentinel's name, so it must be the last string, with room behind it.
    m_table.refusal = static_cast<std::uint32_t>(m_strings.size());
    m_symbols[m_table.sentinel].st_name = m_table.refusal;
    m_strings.append(k_sentinel).append(core::k_refusal_size - k_sentinel.size(), '\0');

    const std::uint64_t symbols = m_segment.put(m_symbols);
    const std::uint64_t numbers = m_segment.put(m_numbers);
    const std::uint64_t strings = m_segment.put(m_strings);
    const std::uint64_t relocations = m_segment.put(m_relocations);
    m_table.symbols = from_table(symbols);
    m_table.strings = from_table(strings);
    m_image.move_section(".dynsym", symbols, m_symbols.size() * sizeof(Elf64_Sym));
    m_image.move_section(".gnu.version", numbers, m_numbers.size() * sizeof(std::uint16_t));
    m_image.move_section(".dynstr", strings, m_strings.size());
    m_image.move_section(".rela.dyn", relocations, m_relocations.size() * sizeof(Elf64_Rela));
    const std::pair<std::int64_t, std::uint64_t> entries[] = {
        {DT_SONAME, m_table.soname},
        {DT_GNU_HASH, m_hash_table},
        {DT_SYMTAB, symbols},
        {DT_STRTAB, strings},
        {DT_STRSZ, m_strings.size()},
        {DT_VERSYM, numbers},
        {DT_VERDEF, m_version_definitions},
        {DT_VERDEFNUM, m_versions.size() + 1},
        {DT_RELA, relocations},
        {DT_RELASZ, m_relocations.size() * sizeof(Elf64_Rela)},
        {DT_RELACOUNT, m_relative_count},
        {DT_JMPREL, m_sentinel_at},
        {DT_PLTRELSZ, sizeof(Elf64_Rela)},
        {DT_PLTREL, DT_RELA},
    };
    for (const std::uint32_t library : m_needed)
      if (!m_image.add_dynamic(DT_NEEDED, library)) return false;
    return std::all_of(std::begin(entries), std::end(entries),
                       [&](const auto& entry) { return m_image.set_dynamic(entry.first, entry.second); });
  }

  TemplateImage m_image;
  const ShimPlan& m_plan;
  core::ShimTable m_table;
  std::uint64_t m_table_address;
  RelocationTypes m_types;
  Segment m_segment;
  std::vector<PlannedFunction> m_functions;  // with the marker as the last
  std::vector<std::size_t> m_order;
  std::string m_strings;
  std::map<std::string, std::uint32_t> m_string_offsets;
  std::map<std::string, std::uint16_t> m_versions;
  int m_version_shift = 0;
  std::vector<std::uint32_t> m_needed;
  std::vector<Elf64_Sym> m_symbols;
  std::vector<std::uint16_t> m_numbers;
  std::vector<Elf64_Rela> m_relocations;
  std::uint64_t m_relative_count = 0;
  std::uint64_t m_sentinel_at = 0;
  std::uint64_t m_hash_table = 0;
  std::uint64_t m_version_definitions = 0;
};

}  // namespace

Result<std::string> write_shim(const std::string& shim_template, const ShimPlan& plan) {
  CUDAENV_TRY(image, TemplateImage::open(shim_template));
  return ShimWriter(std::move(image), plan).write();
}

bool is_shim(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_entry == core::k_shim_entry;
}

}  // namespace cudaenv::elf
