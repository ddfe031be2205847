// SPDX-License-Identifier: Apache-2.0
#include "registry/load.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/registry_lookup.hpp"
#include "registry/order.hpp"

namespace cudaenv::registry {
namespace {

// A small, valid set of files; the cases below break one line of it.
Files valid_files() {
  constexpr std::string_view k_head =
      "schema = 1\n"
      "as_of = \"2026-01-31\"\n"
      "sources.guide = \"a guide\"\n"
      "sources.list = \"a list\"\n";
  Files files;
  const auto add = [&](const char* name, std::string_view rows) { files[name] = std::string(k_head).append(rows); };
  add("releases.toml", R"(release = [
  { release = "12.4.1", date = "2024-04-03", driver = "550.54.15", nvcc = "12.4.131", archives = true, source = "guide list" },
  { release = "12.4.0", driver = "550.54.14", archives = false, source = "guide" },
]
)");
  add("drivers.toml", R"(major = [
  { major = 12, minor_version_compatible = true, driver = "525.60.13", source = "guide" },
]
branch = [
  { branch = 550, cuda = "12.4", oldest_gpu = "5.0", source = "guide" },
]
compat = [
  { minor = "12.5", branches = [550], source = "guide" },
]
)");
  add("architectures.toml", R"(toolkit = [
  { minor = "12.4", base = [50, 90], suffixed = ["90a"], deprecated = [50], default = 50, ptx_isa = "8.4", source = "list" },
]
)");
  add("gpus.toml", R"(chip = [
  { capability = "5.0", generation = "Maxwell", chips = ["GM107"], last_driver_branch = 580, source = "list" },
  { capability = "9.0", generation = "Hopper", chips = [], source = "list" },
]
gpu = [
  ["Zebra 1", "9.0", "list"],
  ["ant 2", "5.0", "list"],
]
)");
  add("pci_ids.toml", R"(device = [
  ["2330", "9.0", "Zebra 1", "list"],
]
)");
  add("host_compilers.toml", R"(minor = [
  { minor = "12.4", gcc = 13, source = "list" },
]
)");
  add("components.toml", R"(component = [
  { name = "runtime", class = "library", default = true, needs = ["headers"], summary = "runtime", source = "list" },
  { name = "compiler", class = "compiler", default = true, needs = ["runtime"], summary = "compiler", source = "list" },
  { name = "headers", class = "headers", default = true, renamed_from = "old_headers", summary = "headers", source = "list" },
  { name = "old_headers", class = "headers", default = true, summary = "headers", source = "list" },
  { name = "kernel", class = "driver", summary = "kernel module", source = "list" },
]
)");
  add("products.toml", R"(product = [
  { name = "nets", also = ["libnets"], folder = "nets", components = ["nets"], summary = "nets", source = "list" },
  { name = "sums", folder = "sums", components = ["libsums"], any_cuda = true, summary = "sums", source = "list" },
]
flat = [
  { product = "nets", first = "1.0.0", last = "1.9.0", cuda = [11], source = "list" },
  { product = "nets", first = "2.0.0", last = "2.1.0.1", cuda = [11, 12], in_lib = true, source = "list" },
]
manifest = [
  ["nets", "1.10.0", "1111111111111111111111111111111111111111111111111111111111111111", "list"],
  ["nets", "1.9.0", "2222222222222222222222222222222222222222222222222222222222222222", "list", "single-source"],
]
elsewhere = [
  { name = "talk", also = ["libtalk"], how = "from a shop", command = "buy talk-{major}", source = "list" },
]
)");
  return files;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

TEST(Load, TakesAValidSetInAnyOrderOfRows) {
  const auto owned = load(valid_files());
  ASSERT_TRUE(owned) << owned.error().message;
  const core::Registry& registry = (*owned)->view();
  EXPECT_EQ(registry.date, "2026-01-31");
  EXPECT_TRUE(is_strictly_sorted(registry.releases));
  EXPECT_TRUE(is_strictly_sorted(registry.gpus));
  EXPECT_TRUE(is_strictly_sorted(registry.components));
  EXPECT_EQ(core::find_release(registry, {12, 4, 1})->source, "guide list");
  EXPECT_EQ(core::find_source(registry, "list")->description, "a list");
  EXPECT_EQ(core::capability_of_name(registry, "NVIDIA ANT 2"), (core::ComputeCapability{5, 0}));
  EXPECT_EQ(core::host_compilers_of(registry, {12, 4, 0})->newest_clang, 0);
  EXPECT_NE(core::find_compat(registry, {12, 5}, 550), nullptr);
  EXPECT_FALSE(core::find_chip(registry, {5, 0})->is_tegra);
  EXPECT_TRUE(is_strictly_sorted(registry.products));
  EXPECT_EQ(registry.product_manifests.front().version, "1.9.0");
  EXPECT_TRUE(registry.flat_archives.back().in_lib);
  EXPECT_EQ(registry.elsewhere.front().command, "buy talk-{major}");
}

TEST(Load, AProductForDataCentersIsMarkedBehindItsSource) {
  Files files = valid_files();
  replace(files["gpus.toml"], R"("9.0", "list"])", R"("9.0", "list", "data-center"])");
  const auto owned = load(files);
  ASSERT_TRUE(owned) << owned.error().message;
  EXPECT_TRUE(core::is_data_center((*owned)->view(), "Zebra 1", {9, 0}));
  EXPECT_FALSE(core::is_data_center((*owned)->view(), "ant 2", {5, 0}));
}

TEST(Load, FollowsNeedsToTheirEnd) {
  const auto owned = load(valid_files());
  ASSERT_TRUE(owned);
  const auto needs = core::find_component((*owned)->view(), "compiler")->needs;
  EXPECT_EQ(std::vector<std::string_view>(needs.begin(), needs.end()),
            (std::vector<std::string_view>{"headers", "runtime"}));
}

TEST(Load, AcceptsComponentsThatNeedEachOther) {
  Files files = valid_files();
  replace(files["components.toml"], R"(renamed_from = "old_headers")", R"(needs = ["compiler"])");
  const auto owned = load(files);
  ASSERT_TRUE(owned) << owned.error().message;
  EXPECT_EQ(core::find_component((*owned)->view(), "compiler")->needs.size(), 2u);
}

TEST(Load, AcceptsAReleaseTooNewForTheOtherTables) {
  Files files = valid_files();
  replace(files["releases.toml"], R"("12.4.1")", R"("13.0.0")");
  EXPECT_TRUE(load(files));
}

TEST(Load, WantsEveryFile) {
  for (const std::string_view name : k_file_names) {
    Files files = valid_files();
    files.erase(files.find(name));
    const auto owned = load(files);
    ASSERT_FALSE(owned) << name;
    EXPECT_EQ(owned.error().message, "registry file " + std::string(name) + ": is missing");
  }
}

struct FaultCase {
  const char* name;
  const char* file;
  const char* from;
  const char* to;
  const char* message;  // after "registry file FILE: "
};

class Fault : public testing::TestWithParam<FaultCase> {};

TEST_P(Fault, IsToldWithItsRow) {
  Files files = valid_files();
  replace(files[GetParam().file], GetParam().from, GetParam().to);
  const auto owned = load(files);
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().kind, ErrorKind::config);
  EXPECT_EQ(owned.error().message, std::string("registry file ") + GetParam().file + ": " + GetParam().message);
}

std::string name_of(const testing::TestParamInfo<FaultCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    OfAFile, Fault,
    testing::Values(FaultCase{"Schema", "releases.toml", "schema = 1", "schema = 2", "schema is not 1"},
                    FaultCase{"AsOf", "gpus.toml", "2026-01-31", "2026-02-31", "as_of is not a date (YYYY-MM-DD)"},
                    FaultCase{"UnknownTable", "gpus.toml", "gpu = [", "gpuu = [", "unknown key gpuu"},
                    FaultCase{"NoSuchArray", "pci_ids.toml", "device = [", "device = 7\nx = [", "unknown key x"},
                    FaultCase{"EmptyArray", "pci_ids.toml", "[\"2330\", \"9.0\", \"Zebra 1\", \"list\"],", "",
                              "has no array device"},
                    FaultCase{"EmptySource", "drivers.toml", "\"a guide\"", "\"\"",
                              "source guide: is not an id and a text"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfAReleaseRow, Fault,
    testing::Values(
        FaultCase{"Release", "releases.toml", "\"12.4.1\"", "\"12.4\"",
                  "release \"12.4\": release is \"12.4\", not a release (three numbers)"},
        FaultCase{"MissingDriver", "releases.toml", "driver = \"550.54.15\", ", "",
                  "release \"12.4.1\": driver is nothing, not a text"},
        FaultCase{"Driver", "releases.toml", "550.54.15", "550.x",
                  "release \"12.4.1\": driver is \"550.x\", not a version number"},
        FaultCase{"Date", "releases.toml", "2024-04-03", "2024-4-3",
                  "release \"12.4.1\": date is \"2024-4-3\", not a date (YYYY-MM-DD)"},
        FaultCase{"Digest", "releases.toml", "nvcc = ", "manifest_sha256 = \"ABC\", nvcc = ",
                  "release \"12.4.1\": manifest_sha256 is \"ABC\", not 64 lower-case hex digits"},
        FaultCase{"Flag", "releases.toml", "archives = true", "archives = 1",
                  "release \"12.4.1\": archives is 1, not true or false"},
        FaultCase{"UnknownKey", "releases.toml", "nvcc = ", "nvvc = ", "release \"12.4.1\": unknown key nvvc"},
        FaultCase{"UnknownSource", "releases.toml", "guide list", "guide rumour",
                  "release \"12.4.1\": source \"rumour\" is not described in the file's sources"},
        FaultCase{"NoSource", "releases.toml", ", source = \"guide list\"", "",
                  "release \"12.4.1\": source is nothing, not a text"},
        FaultCase{"Confidence", "releases.toml", "nvcc = ", "confidence = \"sure\", nvcc = ",
                  "release \"12.4.1\": confidence is \"sure\", not one of branch-only, conflict, inferred, mixed, "
                  "partial, single-source, weak"},
        FaultCase{"Twice", "releases.toml", "\"12.4.0\"", "\"12.4.1\"", "release \"12.4.1\": stands twice"},
        FaultCase{"NoArchitectures", "releases.toml", "\"12.4.0\"", "\"12.3.0\"",
                  "release \"12.3.0\": its minor is not in architectures.toml"},
        FaultCase{"NoMajor", "releases.toml", "\"12.4.0\"", "\"11.3.0\"",
                  "release \"11.3.0\": its major is not in drivers.toml"},
        FaultCase{"DigestWithoutArchives", "releases.toml", "archives = false",
                  "archives = false, manifest_sha256 = "
                  "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"",
                  "release \"12.4.0\": has a manifest digest, but no archives"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfADriverRow, Fault,
    testing::Values(
        FaultCase{"MajorWithoutDriver", "drivers.toml", "driver = \"525.60.13\", ", "", "major 12: has no driver"},
        FaultCase{"Cuda", "drivers.toml", "\"12.4\"", "\"12\"",
                  "branch 550: cuda is \"12\", not two numbers with a dot between"},
        FaultCase{"Branch", "drivers.toml", "branch = 550", "branch = 0",
                  "branch 0: branch is 0, not a number from 1 to 65535"},
        FaultCase{"WindowsDriver", "drivers.toml", "\"525.60.13\"", "\"525.60.13\", windows_driver = \"x\"",
                  "major 12: windows_driver is \"x\", not a version number"},
        FaultCase{"CompatBranches", "drivers.toml", "[550]", "550", "compat \"12.5\": branches is 550, not an array"},
        FaultCase{"CompatBranch", "drivers.toml", "[550]", "[5]",
                  "compat \"12.5\": branches holds 5, not a driver branch"},
        FaultCase{"CompatBranchUnknown", "drivers.toml", "[550]", "[545]", "compat \"12.5\": branch 545 has no row"},
        FaultCase{"CompatForNewBranch", "drivers.toml", "\"12.5\"", "\"12.4\"",
                  "compat \"12.4\": branch 550 is as new itself"},
        FaultCase{"NoSuchChip", "drivers.toml", "\"5.0\"", "\"5.2\"",
                  "branch 550: capability 5.2 has no chip in gpus.toml"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfAnArchitectureRow, Fault,
    testing::Values(
        FaultCase{"NoBase", "architectures.toml", "base = [50, 90], ", "",
                  "toolkit \"12.4\": has no base architectures"},
        FaultCase{"Unordered", "architectures.toml", "[50, 90]", "[90, 50]", "toolkit \"12.4\": base is not ascending"},
        FaultCase{"Kind", "architectures.toml", "[50, 90]", "[50, \"90\"]",
                  "toolkit \"12.4\": base holds \"90\", not an architecture"},
        FaultCase{"NoSuchChip", "architectures.toml", "[50, 90]", "[50, 52, 90]",
                  "toolkit \"12.4\": capability 5.2 has no chip in gpus.toml"},
        FaultCase{"Deprecated", "architectures.toml", "deprecated = [50]", "deprecated = [35]",
                  "toolkit \"12.4\": deprecated 35 is not in base"},
        FaultCase{"Default", "architectures.toml", "default = 50", "default = 52",
                  "toolkit \"12.4\": default 52 is not in base"},
        FaultCase{"Suffix", "architectures.toml", "90a", "90b",
                  "toolkit \"12.4\": suffixed holds \"90b\", not an architecture with a or f"},
        FaultCase{"SuffixedBase", "architectures.toml", "90a", "100a", "toolkit \"12.4\": 100a is not in base"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfAGpuOrCompilerRow, Fault,
    testing::Values(FaultCase{"Capability", "gpus.toml", "[\"ant 2\", \"5.0\"", "[\"ant 2\", \"5\"",
                              "gpu \"ant 2\": capability is \"5\", not two numbers with a dot between"},
                    FaultCase{"NoSuchChip", "gpus.toml", "[\"ant 2\", \"5.0\"", "[\"ant 2\", \"5.2\"",
                              "gpu \"ant 2\": capability 5.2 has no chip in gpus.toml"},
                    FaultCase{"Elements", "gpus.toml", "\"5.0\", \"list\"]", "\"5.0\"]",
                              "gpu \"ant 2\": source is nothing, not a text"},
                    FaultCase{"TooManyElements", "gpus.toml", "\"5.0\", \"list\"]", "\"5.0\", \"list\", \"x\", \"x\"]",
                              "gpu \"ant 2\": has 5 elements, more than 4"},
                    FaultCase{"ProductClass", "gpus.toml", "\"5.0\", \"list\"]", "\"5.0\", \"list\", \"toy\"]",
                              "gpu \"ant 2\": class is \"toy\", not \"data-center\""},
                    FaultCase{"IntegratedWithDriverBranch", "gpus.toml", "last_driver_branch",
                              "integrated = true, last_driver_branch",
                              "chip \"5.0\": is integrated, and yet has driver branches"},
                    FaultCase{"ChipTwice", "gpus.toml", "capability = \"9.0\"", "capability = \"5.0\"",
                              "chip \"5.0\": stands twice"},
                    FaultCase{"FormerCapability", "gpus.toml", "chips = []", "former_capability = \"8.0\"",
                              "chip \"9.0\": capability 8.0 has no chip in gpus.toml"},
                    FaultCase{"DeviceId", "pci_ids.toml", "2330", "233",
                              "device \"233\": device is \"233\", not four "
                              "lower-case hex digits"},
                    FaultCase{"RowKind", "pci_ids.toml", "[\"2330\", \"9.0\", \"Zebra 1\", \"list\"]", "\"2330\"",
                              "device nothing: is neither a table nor an array"},
                    FaultCase{"CompilersOfNoMinor", "host_compilers.toml", "\"12.4\"", "\"12.5\"",
                              "minor \"12.5\": is not in architectures.toml"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfAComponentRow, Fault,
    testing::Values(
        FaultCase{"Class", "components.toml", "class = \"library\"", "class = \"lib\"",
                  "component \"runtime\": class \"lib\" does not exist"},
        FaultCase{"Needs", "components.toml", "[\"headers\"]", "[\"heads\"]",
                  "component \"compiler\": needs \"heads\", which is no component"},
        FaultCase{"RenamedFrom", "components.toml", "\"old_headers\", summary", "\"ancient\", summary",
                  "component \"headers\": renamed_from \"ancient\" is no other component"},
        FaultCase{"DriverInDefault", "components.toml", "class = \"driver\"", "class = \"driver\", default = true",
                  "component \"kernel\": class driver cannot be in profile default"},
        FaultCase{"BigToolInDefault", "components.toml", "class = \"driver\"", "class = \"big-tool\", default = true",
                  "component \"kernel\": class big-tool cannot be in profile default"},
        FaultCase{"MinimalOnly", "components.toml", "class = \"driver\"", "class = \"tool\", minimal = true",
                  "component \"kernel\": is in profile minimal, but not in default"},
        FaultCase{"NeedOutsideTheProfile", "components.toml", "[\"headers\"]", "[\"kernel\"]",
                  "component \"compiler\": needs \"kernel\", which is not in its profile"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfAProductRow, Fault,
    testing::Values(
        FaultCase{"NoComponents", "products.toml", "components = [\"nets\"]", "components = []",
                  "product \"nets\": has no components"},
        FaultCase{"NameTwice", "products.toml", "\"libnets\"", "\"sums\"",
                  "product \"sums\": \"sums\" stands for something else too"},
        FaultCase{"NameOfAnother", "products.toml", "\"libtalk\"", "\"libnets\"",
                  "elsewhere \"talk\": \"libnets\" stands for something else too"},
        FaultCase{"NameOfAComponent", "products.toml", "\"libnets\"", "\"runtime\"",
                  "product \"nets\": \"runtime\" is a component of the toolkit"},
        FaultCase{"FlatOfNoProduct", "products.toml", "product = \"nets\", first = \"1.0.0\"",
                  "product = \"net\", first = \"1.0.0\"", "flat \"net\": is no product"},
        FaultCase{"FlatBackwards", "products.toml", "last = \"1.9.0\"", "last = \"0.9.0\"",
                  "flat \"nets\": its last version is older than its first"},
        FaultCase{"FlatTwice", "products.toml", "last = \"1.9.0\"", "last = \"2.0.0\"",
                  "flat \"nets\": two rows for one version"},
        FaultCase{"FlatMajors", "products.toml", "cuda = [11, 12]", "cuda = [12, 11]",
                  "flat \"nets\": cuda is not ascending"},
        FaultCase{"ManifestOfNoFolder", "products.toml", "[\"nets\", \"1.9.0\"", "[\"net\", \"1.9.0\"",
                  "manifest \"net\" 1.9.0: is the folder of no product"},
        FaultCase{"ManifestTwice", "products.toml", "\"1.10.0\"", "\"1.9\"", "manifest \"nets\" 1.9.0: stands twice"},
        FaultCase{"Digest", "products.toml", "\"22222222", "\"2222222",
                  "manifest \"nets\": sha256 is \"222222222222222222222222222222222222222222222222222222222222222\", "
                  "not 64 lower-case hex digits"}),
    name_of);

TEST(Load, TellsWhereTomlIsBroken) {
  Files files = valid_files();
  files["gpus.toml"] = "chip = [\n  {\n";
  const auto owned = load(files);
  ASSERT_FALSE(owned);
  EXPECT_TRUE(owned.error().message.starts_with("registry file gpus.toml: line 2")) << owned.error().message;
}

TEST(Load, RefusesASourceWithTwoMeanings) {
  Files files = valid_files();
  replace(files["drivers.toml"], "a guide", "another guide");
  const auto owned = load(files);
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().message, "registry files: source guide: described in two ways");
}

// --- Newer files over built-in tables ---

class LoadOver : public testing::Test {
 protected:
  void SetUp() override {
    auto owned = load(valid_files());
    ASSERT_TRUE(owned);
    m_built_in = std::move(*owned);
  }

  // The valid file with another date and one replacement.
  static Files one(const char* name, const char* date, std::string_view from, std::string_view to) {
    std::string text = valid_files()[name];
    replace(text, "2026-01-31", date);
    replace(text, from, to);
    return {{name, text}};
  }

  const core::Registry& built_in() const { return m_built_in->view(); }

 private:
  std::unique_ptr<OwnedRegistry> m_built_in;
};

TEST_F(LoadOver, ANewerFileReplacesItsTableAndNoOther) {
  const auto owned = load_over(built_in(), one("releases.toml", "2026-02-01", "12.4.0", "12.4.2"));
  ASSERT_TRUE(owned) << owned.error().message;
  const core::Registry& view = (*owned)->view();
  EXPECT_EQ(view.date, "2026-02-01");
  EXPECT_NE(core::find_release(view, {12, 4, 2}), nullptr);
  EXPECT_EQ(core::find_release(view, {12, 4, 0}), nullptr);
  EXPECT_EQ(view.gpus.data(), built_in().gpus.data());
  EXPECT_TRUE((*owned)->passed_over().empty());
}

TEST_F(LoadOver, AFileAsOldAsTheBuiltInTablesIsPassedOver) {
  const auto owned = load_over(built_in(), one("releases.toml", "2026-01-31", "12.4.0", "12.4.2"));
  ASSERT_TRUE(owned);
  EXPECT_EQ((*owned)->view().releases.data(), built_in().releases.data());
  EXPECT_EQ((*owned)->passed_over(), std::vector<std::string>{"releases.toml"});
}

TEST_F(LoadOver, ANewerFileIsCheckedAgainstTheBuiltInTables) {
  const auto owned = load_over(built_in(), one("architectures.toml", "2026-02-01", "[50, 90]", "[50, 90, 100]"));
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().message,
            "registry file architectures.toml: toolkit \"12.4\": capability 10.0 has no chip in gpus.toml");
}

TEST_F(LoadOver, ANewerFileMayDescribeASourceAnew) {
  const auto owned = load_over(built_in(), one("releases.toml", "2026-02-01", "a guide", "a newer guide"));
  ASSERT_TRUE(owned) << owned.error().message;
  EXPECT_EQ(core::find_source((*owned)->view(), "guide")->description, "a newer guide");
}

TEST_F(LoadOver, AFileOfAnotherNameIsAFault) {
  const auto owned = load_over(built_in(), {{"release.toml", ""}});
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().message, "registry file release.toml: is not a file of the registry");
}

TEST_F(LoadOver, NoFilesAreTheBuiltInTables) {
  const auto owned = load_over(built_in(), {});
  ASSERT_TRUE(owned);
  EXPECT_EQ((*owned)->view().date, built_in().date);
  EXPECT_EQ((*owned)->view().releases.data(), built_in().releases.data());
}

}  // namespace
}  // namespace cudaenv::registry
