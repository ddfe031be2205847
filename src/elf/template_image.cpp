// SPDX-License-Identifier: Apache-2.0
#include "elf/template_image.hpp"

#include <algorithm>
#include <iterator>

#include "core/library_shim.hpp"

namespace cudaenv::elf {
namespace {

constexpr std::string_view k_dynamic = ".dynamic";
constexpr std::string_view k_sections[] = {k_dynamic,      ".dynsym",           ".dynstr",        ".gnu.hash",
                                           ".gnu.version", ".gnu.version_d",    ".gnu.version_r", ".rela.dyn",
                                           ".text",        core::k_shim_section};
constexpr std::uint64_t k_alignment = 16;  // of what is appended, in the file

constexpr std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// `count` items at an offset; false if they are not all in the file.
template <class T>
bool take(const std::string& bytes, std::uint64_t offset, std::uint64_t count, std::vector<T>& items) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) return false;
  items.resize(count);
  std::memcpy(items.data(), bytes.data() + offset, count * sizeof(T));
  return true;
}

bool is_note(const Elf64_Phdr& segment) { return segment.p_type == PT_NOTE; }

}  // namespace

Result<TemplateImage> TemplateImage::open(std::string bytes) {
  TemplateImage image(std::move(bytes));
  if (!image.read_headers() || !image.has_all_sections())
    return fail(ErrorKind::internal, "the template of the library shims is damaged");
  image.m_dynamic = image.items<Elf64_Dyn>(k_dynamic);
  return image;
}

bool TemplateImage::read_headers() {
  std::vector<Elf64_Ehdr> header;
  if (!take(m_bytes, 0, 1, header) || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return false;
  m_header = header[0];
  if (!take(m_bytes, m_header.e_phoff, m_header.e_phnum, m_segments) ||
      !take(m_bytes, m_header.e_shoff, m_header.e_shnum, m_sections))
    return false;
  std::uint64_t alignment = 0;
  for (const Elf64_Phdr& segment : m_segments) {
    if (segment.p_type != PT_LOAD) continue;
    m_append_address = std::max(m_append_address, segment.p_vaddr + segment.p_memsz);
    alignment = std::max(alignment, segment.p_align);
  }
  if (alignment == 0 || std::none_of(m_segments.begin(), m_segments.end(), is_note)) return false;
  // A segment is mapped by whole pages, so its address and its offset must be alike within one.
  m_append_offset = aligned(m_bytes.size(), k_alignment);
  m_append_address = aligned(m_append_address, alignment) + m_append_offset % alignment;
  return true;
}

bool TemplateImage::has_all_sections() const {
  return std::all_of(std::begin(k_sections), std::end(k_sections), [&](std::string_view name) {
    const auto index = find_section(name);
    if (!index) return false;
    const Elf64_Shdr& header = m_sections[*index];
    return header.sh_offset <= m_bytes.size() && header.sh_size <= m_bytes.size() - header.sh_offset;
  });
}

std::optional<std::uint16_t> TemplateImage::find_section(std::string_view name) const {
  if (m_header.e_shstrndx >= m_sections.size()) return std::nullopt;
  const Elf64_Shdr& names = m_sections[m_header.e_shstrndx];
  if (names.sh_offset > m_bytes.size() || names.sh_size > m_bytes.size() - names.sh_offset) return std::nullopt;
  const std::string_view all(m_bytes.data() + names.sh_offset, names.sh_size);
  for (std::size_t i = 0; i < m_sections.size(); ++i) {
    if (m_sections[i].sh_name >= all.size()) continue;
    const std::string_view rest = all.substr(m_sections[i].sh_name);
    if (rest.substr(0, rest.find('\0')) == name) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

std::uint16_t TemplateImage::index_of(std::string_view name) const { return find_section(name).value_or(0); }

std::optional<std::uint64_t> TemplateImage::dynamic(std::int64_t tag) const {
  for (const Elf64_Dyn& each : m_dynamic)
    if (each.d_tag == tag) return each.d_un.d_val;
  return std::nullopt;
}

std::vector<std::uint64_t> TemplateImage::all_dynamic(std::int64_t tag) const {
  std::vector<std::uint64_t> values;
  for (const Elf64_Dyn& each : m_dynamic)
    if (each.d_tag == tag) values.push_back(each.d_un.d_val);
  return values;
}

bool TemplateImage::set_dynamic(std::int64_t tag, std::uint64_t value) {
  for (Elf64_Dyn& each : m_dynamic) {
    if (each.d_tag != tag) continue;
    each.d_un.d_val = value;
    return true;
  }
  return add_dynamic(tag, value);
}

bool TemplateImage::add_dynamic(std::int64_t tag, std::uint64_t value) {
  for (std::size_t i = 0; i + 1 < m_dynamic.size(); ++i) {  // the last one stays DT_NULL
    if (m_dynamic[i].d_tag != DT_NULL) continue;
    m_dynamic[i].d_tag = tag;
    m_dynamic[i].d_un.d_val = value;
    return true;
  }
  return false;
}

void TemplateImage::move_section(std::string_view name, std::uint64_t address, std::uint64_t size, std::uint32_t info) {
  Elf64_Shdr& header = m_sections[index_of(name)];
  header.sh_addr = address;
  header.sh_offset = m_append_offset + (address - m_append_address);
  header.sh_size = size;
  if (info != 0) header.sh_info = info;
}

std::string TemplateImage::finish(std::string_view appended) && {
  replace(k_dynamic, m_dynamic);
  // The new segment takes the header of the notes, and the last place: loadable ones have to ascend.
  const auto note = std::find_if(m_segments.begin(), m_segments.end(), is_note);
  std::rotate(note, note + 1, m_segments.end());
  std::uint64_t alignment = 0;
  for (const Elf64_Phdr& segment : m_segments)
    if (segment.p_type == PT_LOAD) alignment = std::max(alignment, segment.p_align);
  m_segments.back() = {PT_LOAD,          PF_R | PF_W,     m_append_offset, m_append_address,
                       m_append_address, appended.size(), appended.size(), alignment};
  std::memcpy(m_bytes.data() + m_header.e_phoff, m_segments.data(), m_segments.size() * sizeof(Elf64_Phdr));
  std::memcpy(m_bytes.data() + m_header.e_shoff, m_sections.data(), m_sections.size() * sizeof(Elf64_Shdr));
  m_header.e_entry = core::k_shim_entry;
  std::memcpy(m_bytes.data(), &m_header, sizeof m_header);
  m_bytes.resize(m_append_offset);
  return std::move(m_bytes).append(appended);
}

}  // namespace cudaenv::elf
