// SPDX-License-Identifier: Apache-2.0
#include "core/fingerprint.hpp"

#include <string>

#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

static_assert(Fingerprint().add("12.4").value() == Fingerprint().add("12.4").value());  // at compile time too

TEST(Fingerprints, are_those_of_FNV_1a) {
  EXPECT_EQ(Fingerprint().value(), 0xcbf29ce484222325U);
  EXPECT_EQ(Fingerprint().add(std::uint64_t{0x7261626f6f66}).value(), 0x74c8e7eb4f245c28U);  // "foobar\0\0"
}

TEST(Fingerprints, tell_texts_and_numbers_apart) {
  EXPECT_NE(Fingerprint().add("a").value(), Fingerprint().add("b").value());
  EXPECT_NE(Fingerprint().add("").value(), Fingerprint().value());
  EXPECT_NE(Fingerprint().add(std::uint64_t{1}).value(), Fingerprint().add(std::uint64_t{1} << 63).value());
  EXPECT_NE(Fingerprint().add(std::string_view("a\0", 2)).value(), Fingerprint().add("a").value());
}

TEST(Fingerprints, tell_the_same_bytes_cut_elsewhere_apart) {
  EXPECT_NE(Fingerprint().add("ab").add("c").value(), Fingerprint().add("a").add("bc").value());
  EXPECT_NE(Fingerprint().add("ab").add("").value(), Fingerprint().add("").add("ab").value());
  EXPECT_NE(Fingerprint().add("a").add("b").value(), Fingerprint().add("b").add("a").value());
}

// --- Stamps ---

struct StampRow {
  const char* name;
  FileStamp stamp;
};

constexpr FileStamp k_stamp{true, 8, 42, 4096, 1'750'000'000, 7};

class Stamps : public testing::TestWithParam<StampRow> {};

TEST_P(Stamps, differ) { EXPECT_NE(Fingerprint().add(GetParam().stamp).value(), Fingerprint().add(k_stamp).value()); }

const StampRow k_stamps[] = {
    {"device", {true, 9, 42, 4096, 1'750'000'000, 7}},   {"inode", {true, 8, 43, 4096, 1'750'000'000, 7}},
    {"size", {true, 8, 42, 4097, 1'750'000'000, 7}},     {"seconds", {true, 8, 42, 4096, 1'750'000'001, 7}},
    {"nanoseconds", {true, 8, 42, 4096, 1'750'000'000}}, {"absent", {}},
    {"before_1970", {true, 8, 42, 4096, -1, 7}},
};
INSTANTIATE_TEST_SUITE_P(Fingerprints, Stamps, testing::ValuesIn(k_stamps), test::RowName());

TEST(Fingerprints, of_an_absent_file_has_no_more_to_say) {
  FileStamp absent = k_stamp;
  absent.exists = false;
  EXPECT_EQ(Fingerprint().add(absent).value(), Fingerprint().add(FileStamp()).value());
}

// --- As text ---

TEST(FingerprintText, is_sixteen_digits) {
  EXPECT_EQ(parse_fingerprint("0000000000000000"), 0u);
  EXPECT_EQ(parse_fingerprint("0123456789abcdef"), 0x0123456789abcdefU);
  EXPECT_EQ(parse_fingerprint("ffffffffffffffff"), ~std::uint64_t{0});
}

TEST(FingerprintText, is_nothing_else) {
  for (const char* text : {"", "-", "0", "123456789abcdef", "0123456789abcdef0", "0123456789ABCDEF", "0x23456789abcdef",
                           "0123456789abcdeg", " 123456789abcdef", "+123456789abcdef"})
    EXPECT_EQ(parse_fingerprint(text), std::nullopt) << text;
  EXPECT_EQ(parse_fingerprint(std::string(16, '\0')), std::nullopt);
}

}  // namespace
}  // namespace cudaenv::core
