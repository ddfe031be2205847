// SPDX-License-Identifier: Apache-2.0
#include "core/release_choice.hpp"

#include "core/version_text.hpp"
#include "named_rows.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::core {
namespace {

const std::vector<Version> k_published = {{11, 8, 0}, {12, 4, 0}, {12, 4, 1}, {12, 6, 3}, {12, 8, 1},
                                          {13, 0, 2}, {13, 4, 0}, {99, 0, 0}, {13, 3, 1}};

struct Row {
  const char* name;
  const char* spec;
  Version release;
};

class ChosenRelease : public testing::TestWithParam<Row> {};

TEST_P(ChosenRelease, is_the_newest_published_that_fits) {
  const auto release = choose_release(*parse_spec(GetParam().spec), k_published, registry::builtin());
  ASSERT_TRUE(release) << release.error().message;
  EXPECT_EQ(*release, GetParam().release) << to_text(*release);
}

constexpr Row k_rows[] = {
    {"major", "12", {12, 8, 1}},
    {"minor", "12.4", {12, 4, 1}},
    {"patch", "12.4.0", {12, 4, 0}},
    {"prefix", "cuda-11.8", {11, 8, 0}},
    {"major_leaves_previews_out", "13", {13, 3, 1}},
    {"preview_by_its_whole_number", "13.4.0", {13, 4, 0}},
    {"DL_02_one_that_the_registry_does_not_know", "99", {99, 0, 0}},
    {"latest", "latest", {99, 0, 0}},
    {"automatic", "auto", {99, 0, 0}},
};

INSTANTIATE_TEST_SUITE_P(Rows, ChosenRelease, testing::ValuesIn(k_rows), test::RowName());

struct RefusedRow {
  const char* name;
  const char* spec;
  std::vector<Version> published;
  const char* message;
  std::vector<std::string> details;
  const char* hint;
  ErrorKind kind = ErrorKind::not_found;
};

class RefusedRelease : public testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedRelease, says_which_way_it_is_wrong) {
  const RefusedRow& row = GetParam();
  const auto release = choose_release(*parse_spec(row.spec), row.published, registry::builtin());
  ASSERT_FALSE(release) << to_text(*release);
  EXPECT_EQ(release.error().kind, row.kind);
  EXPECT_EQ(release.error().message, row.message);
  EXPECT_EQ(release.error().details, row.details);
  EXPECT_EQ(release.error().hint, row.hint);
}

constexpr const char* k_adopt =
    "they start with 11.4.2; an older toolkit can be registered with `cudaenv adopt DIRECTORY`";

const RefusedRow k_refused_rows[] = {
    {"number_of_a_component",
     "12.4.131",
     k_published,
     "12.4.131 is the number of nvcc; the release is 12.4.1",
     {},
     "cudaenv install 12.4.1"},
    {"number_of_the_runtime",
     "12.0.107",
     k_published,
     "12.0.107 is the number of cudart; the release is 12.0.0",
     {"nearest: 11.8.0, 12.4.0"},
     "cudaenv install 12.4.0"},
    {"number_of_a_component_whose_release_is_not_here",
     "12.4.131",
     {{12, 2, 0}, {12, 8, 1}},
     "12.4.131 is the number of nvcc; the release is 12.4.1",
     {"nearest: 12.2.0, 12.8.1"},
     "cudaenv install 12.8.1"},
    {"DL_02_never_released",
     "12.7",
     k_published,
     "CUDA 12.7 was never released",
     {"nearest: 12.6.3, 12.8.1"},
     "cudaenv install 12.8.1"},
    {"DL_02_never_released_with_a_patch",
     "12.7.1",
     k_published,
     "CUDA 12.7.1 was never released",
     {"nearest: 12.6.3, 12.8.1"},
     "cudaenv install 12.8.1"},
    {"DL_02_before_the_archives",
     "11.2",
     k_published,
     "CUDA 11.2 was published without redistributable archives",
     {k_adopt, "nearest: 11.8.0"},
     "cudaenv install 11.8.0"},
    {"before_the_archives_exact",
     "11.2.2",
     k_published,
     "CUDA 11.2.2 was published without redistributable archives",
     {k_adopt, "nearest: 11.8.0"},
     "cudaenv install 11.8.0"},
    {"before_the_archives_major",
     "10",
     k_published,
     "CUDA 10 was published without redistributable archives",
     {k_adopt, "nearest: 11.8.0"},
     "cudaenv install 11.8.0"},
    {"preview_without_archives",
     "13.4.0",
     {{13, 3, 1}},
     "CUDA 13.4.0 was published without redistributable archives",
     {"nearest: 13.3.1"},
     "cudaenv install 13.3.1"},
    {"update_that_may_come",
     "12.8.9",
     k_published,
     "CUDA 12.8.9 is not among the releases published here",
     {"nearest: 12.8.1, 13.0.2"},
     "cudaenv install 13.0.2"},
    {"known_but_not_here",
     "12.2",
     k_published,
     "CUDA 12.2 is not among the releases published here",
     {"nearest: 11.8.0, 12.4.1"},
     "cudaenv install 12.4.1"},
    {"newer_than_all_here",
     "100",
     k_published,
     "CUDA 100 is not among the releases published here",
     {"nearest: 99.0.0"},
     "cudaenv install 99.0.0"},
    {"older_than_the_tables",
     "9",
     k_published,
     "CUDA 9 is not among the releases published here",
     {"nearest: 11.8.0"},
     "cudaenv install 11.8.0"},
    {"nothing_published", "12", {}, "CUDA 12 is not published here: there are no releases at all", {}, ""},
    {"system",
     "system",
     k_published,
     "\"system\" is not a release that can be installed",
     {},
     "cudaenv install --list",
     ErrorKind::usage},
    {"name",
     "mine",
     k_published,
     "\"mine\" is not a release that can be installed",
     {},
     "cudaenv install --list",
     ErrorKind::usage},
};

INSTANTIATE_TEST_SUITE_P(Rows, RefusedRelease, testing::ValuesIn(k_refused_rows), test::RowName());

TEST(MistakenNumber, is_silent_about_what_may_be_right) {
  for (const char* spec : {"12", "12.8", "12.8.1", "12.8.9", "latest", "auto", "system", "mine", "99.1", "9.2"})
    EXPECT_FALSE(mistaken_number(*parse_spec(spec), registry::builtin())) << spec;
  for (const char* spec : {"12.7", "12.7.0", "12.4.131", "11.9"})
    EXPECT_TRUE(mistaken_number(*parse_spec(spec), registry::builtin())) << spec;
}

}  // namespace
}  // namespace cudaenv::core
