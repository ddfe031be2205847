// SPDX-License-Identifier: Apache-2.0
#include "elf/shim_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <elf.h>

#include "base/files.hpp"
#include "core/library_shim.hpp"
#include "elf/shared_library.hpp"

namespace cudaenv::elf {
namespace {

// The template as it was built; a test of the generator without it would be one of another program.
class WriteShim : public testing::Test {
 protected:
  void SetUp() override {
    const auto content = base::read_file(CUDAENV_LIBRARY_SHIM);
    if (!content || !*content) GTEST_SKIP() << "no " << CUDAENV_LIBRARY_SHIM;
    m_template = **content;
  }

  static ShimPlan plan(std::size_t count = 3) {
    ShimPlan plan{"libcudart.so.13", "/home/u/.cudaenv", {}, {}, {}, {}};
    for (std::size_t i = 0; i < count; ++i)
      plan.functions.push_back(
          {"cudaFunction" + std::to_string(i), "libcudart.so.13", true, false, core::ShimAnswer::error});
    plan.libraries.push_back({1, {}});
    return plan;
  }

  Result<SharedLibrary> written(const ShimPlan& plan) {
    auto shim = write_shim(m_template, plan);
    if (!shim) return fail(std::move(shim).error());
    return read_shared_library(source_of(*shim));
  }

  static Elf64_Shdr section(const std::string& bytes, std::string_view name) {
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + header.e_shoff);
    for (unsigned i = 0; i < header.e_shnum; ++i)
      if (bytes.data() + sections[header.e_shstrndx].sh_offset + sections[i].sh_name == name) return sections[i];
    return {};
  }

  std::string m_template;
};

TEST_F(WriteShim, reads_as_a_library_with_the_same_exports) {
  ShimPlan wanted = plan(422);
  wanted.functions[1].version = "OLDER";
  wanted.functions[1].is_default = false;
  wanted.functions[2].version = "";
  wanted.functions[3].is_weak = true;
  const auto library = written(wanted);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->soname, wanted.soname);
  EXPECT_EQ(library->machine, core::k_elf_machine);
  ASSERT_EQ(library->exports.size(), wanted.functions.size() + 1);  // and the marker
  for (const PlannedFunction& function : wanted.functions) {
    bool is_found = false;
    for (const Export& each : library->exports)
      is_found =
          is_found || (each.name == function.name && each.version == function.version &&
                       each.is_default == function.is_default && each.is_weak == function.is_weak && each.is_function);
    EXPECT_TRUE(is_found) << function.name;
  }
}

TEST_F(WriteShim, is_the_same_for_the_same_plan) {
  EXPECT_EQ(*write_shim(m_template, plan()), *write_shim(m_template, plan()));
}

TEST_F(WriteShim, can_be_told_from_a_library) {
  EXPECT_TRUE(is_shim(*write_shim(m_template, plan())));
  EXPECT_FALSE(is_shim(m_template));
  EXPECT_FALSE(is_shim(""));
}

TEST_F(WriteShim, needs_what_is_asked_for_and_what_the_template_needs) {
  ShimPlan wanted = plan();
  wanted.needed = {"librt.so.1", "libdl.so.2"};
  const auto library = written(wanted);
  ASSERT_TRUE(library) << library.error().message;
  const std::vector<std::string>& needed = library->needed;
  EXPECT_EQ(std::count(needed.begin(), needed.end(), "librt.so.1"), 1);
  EXPECT_EQ(std::count(needed.begin(), needed.end(), "libdl.so.2"), 1);
  EXPECT_EQ(std::count(needed.begin(), needed.end(), "libc.so.6"), 1);
}

TEST_F(WriteShim, has_as_much_room_as_the_template) {
  EXPECT_TRUE(written(plan(4095)));
  const auto shim = write_shim(m_template, plan(4096));
  ASSERT_FALSE(shim);
  EXPECT_EQ(shim.error().kind, ErrorKind::config);
  EXPECT_EQ(shim.error().message, "4096 functions are more than a shim has room for (4095)");
}

TEST_F(WriteShim, without_versions_or_functions) {
  ShimPlan plain = plan();
  for (PlannedFunction& function : plain.functions) function.version.clear();
  EXPECT_TRUE(written(plain));
  EXPECT_TRUE(written(plan(0)));
}

TEST_F(WriteShim, remembers_who_lacks_what) {
  ShimPlan wanted = plan(5);
  wanted.libraries = {{11, {}}, {22, {0, 4}}, {33, {2}}};
  const auto shim = write_shim(m_template, wanted);
  ASSERT_TRUE(shim);
  const Elf64_Shdr strings_at = section(*shim, ".dynstr");
  const Elf64_Shdr table_section = section(*shim, core::k_shim_section);
  const auto& table = *reinterpret_cast<const core::ShimTable*>(shim->data() + table_section.sh_offset);
  const std::uint64_t table_at = table_section.sh_addr;
  const auto part = [&](std::int64_t distance) {  // all parts lie in the segment of the strings
    return shim->data() + strings_at.sh_offset + (table_at + static_cast<std::uint64_t>(distance) - strings_at.sh_addr);
  };
  ASSERT_EQ(table.library_count, 3U);
  const auto* libraries = reinterpret_cast<const core::ShimLibrary*>(part(table.libraries));
  const auto* absent = reinterpret_cast<const std::uint32_t*>(part(table.absent));
  const auto* functions = reinterpret_cast<const core::ShimFunction*>(part(table.functions));
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < libraries[1].absent_count; ++i)
    names.insert(part(table.strings) + functions[absent[libraries[1].first_absent + i]].name);
  EXPECT_EQ(libraries[1].key, 22U);
  EXPECT_EQ(names, (std::set<std::string>{"cudaFunction0", "cudaFunction4"}));
  EXPECT_EQ(libraries[0].absent_count, 0U);
  EXPECT_EQ(std::string(part(table.strings) + table.soname), "libcudart.so.13");
  EXPECT_EQ(std::string(part(table.strings) + table.root), "/home/u/.cudaenv");
}

TEST_F(WriteShim, of_a_damaged_template_is_an_error) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{5000}, m_template.size() - 1}) {
    const auto shim = write_shim(m_template.substr(0, size), plan());
    ASSERT_FALSE(shim) << size;
    EXPECT_EQ(shim.error().kind, ErrorKind::internal);
  }
}

}  // namespace
}  // namespace cudaenv::elf
