// SPDX-License-Identifier: Apache-2.0
#include "elf/shared_library.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "sample_library.hpp"

namespace cudaenv::elf {
namespace {

using test::HashStyle;
using test::SampleLibrary;

Result<SharedLibrary> read(const std::string& bytes) { return read_shared_library(source_of(bytes)); }

std::string sample() { return SampleLibrary("libcudart.so.13", test::sample_exports()).bytes(); }

const Export* find(const SharedLibrary& library, std::string_view name) {
  for (const Export& each : library.exports)
    if (each.name == name) return &each;
  return nullptr;
}

TEST(ReadSharedLibrary, tells_name_machine_and_exports) {
  const auto library = read(sample());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->soname, "libcudart.so.13");
  EXPECT_EQ(library->machine, EM_X86_64);
  ASSERT_EQ(library->exports.size(), test::sample_exports().size());
  for (const Export& wanted : test::sample_exports()) {
    const Export* found = find(*library, wanted.name);
    ASSERT_NE(found, nullptr) << wanted.name;
    EXPECT_EQ(found->version, wanted.version) << wanted.name;
    EXPECT_EQ(found->is_default, wanted.is_default) << wanted.name;
    EXPECT_EQ(found->is_function, wanted.is_function) << wanted.name;
    EXPECT_EQ(found->is_weak, wanted.is_weak) << wanted.name;
  }
}

TEST(ReadSharedLibrary, by_the_older_kind_of_hash_table) {
  const auto library = read(SampleLibrary("libx.so.1", test::sample_exports(), HashStyle::sysv).bytes());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->exports.size(), test::sample_exports().size());
}

TEST(ReadSharedLibrary, of_no_exports) {
  const auto library = read(SampleLibrary("libx.so.1", {}).bytes());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_TRUE(library->exports.empty());
}

TEST(ReadSharedLibrary, without_what_linkers_add_for_themselves) {
  const auto library = read(
      SampleLibrary("libx.so.1",
                    {{"_init", "", true, true, false}, {"_end", "", true, false, false}, {"f", "", true, true, false}})
          .bytes());
  ASSERT_TRUE(library) << library.error().message;
  ASSERT_EQ(library->exports.size(), 1U);
  EXPECT_EQ(library->exports[0].name, "f");
}

TEST(ReadSharedLibrary, refuses_what_is_none_with_the_reason) {
  std::string other_class = sample();
  other_class[EI_CLASS] = ELFCLASS32;
  std::string other_order = sample();
  other_order[EI_DATA] = ELFDATA2MSB;
  std::string program = sample();
  program[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
  const std::pair<std::string, std::string_view> rows[] = {
      {"", "no ELF header"},
      {std::string(64, ' '), "no ELF file"},
      {other_class, "not for a 64-bit little-endian machine"},
      {other_order, "not for a 64-bit little-endian machine"},
      {program, "no shared library"},
  };
  for (const auto& [bytes, reason] : rows) {
    const auto library = read(bytes);
    ASSERT_FALSE(library) << reason;
    EXPECT_EQ(library.error().kind, ErrorKind::integrity);
    ASSERT_EQ(library.error().details.size(), 1U);
    EXPECT_EQ(library.error().details[0], reason);
  }
}

// What it says of a damaged file does not matter, but that it says something, under the sanitizers.
TEST(ReadSharedLibrary, cut_at_every_byte_is_an_error) {
  const std::string whole = sample();
  const std::size_t end = whole.size() - sizeof(Elf64_Dyn);  // the last entry only says that there is no more
  for (std::size_t size = 0; size < end; ++size) EXPECT_FALSE(read(whole.substr(0, size))) << size;
}

TEST(ReadSharedLibrary, of_any_value_in_any_field_ends_well) {
  const std::string whole = sample();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      const auto library = read(changed);
      EXPECT_TRUE(!library || library->exports.size() <= 1u << 20);
    }
  }
  for (std::size_t at = 0; at + 8 <= whole.size(); at += 4) {
    for (const std::uint64_t value : {std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{7}, std::uint64_t{1} << 63,
                                      std::uint64_t{1} << 32, std::uint64_t{whole.size()}}) {
      std::string changed = whole;
      std::memcpy(changed.data() + at, &value, sizeof value);
      (void)read(changed);
    }
  }
}

TEST(ReadSharedLibrary, a_table_of_absurd_size_is_not_allocated) {
  // A file that claims to be very large and lets anything be read.
  std::string whole = sample();
  std::uint64_t most = 0;
  ByteSource source = source_of(whole);
  const auto within = source.read;
  source.size = std::uint64_t{1} << 62;
  source.read = [&](std::uint64_t offset, void* to, std::size_t count) {
    most = std::max<std::uint64_t>(most, count);
    if (count == 0) return true;
    std::memset(to, 0xff, count);
    return offset >= whole.size() || within(offset, to, std::min<std::size_t>(count, whole.size() - offset));
  };
  for (std::size_t at = 64; at + 8 <= whole.size(); at += 8) {
    const std::uint64_t kept = *reinterpret_cast<std::uint64_t*>(whole.data() + at);
    *reinterpret_cast<std::uint64_t*>(whole.data() + at) = std::uint64_t{1} << 60;
    (void)read_shared_library(source);
    *reinterpret_cast<std::uint64_t*>(whole.data() + at) = kept;
  }
  EXPECT_LE(most, std::uint64_t{64} << 20);
}

}  // namespace
}  // namespace cudaenv::elf
