// SPDX-License-Identifier: Apache-2.0
#include "core/lock.hpp"

#include "base/toml.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

std::string digest(char c) { return std::string(64, c); }

LockedArchive archive(const std::string& name, const std::string& version, char c, std::uint64_t size = 1000) {
  return {name,
          version,
          {name + "/linux-x86_64/" + name + "-linux-x86_64-" + version + "-archive.tar.xz", digest(c), size}};
}

Lock sample() {
  Lock lock;
  lock.release = {12, 8, 1};
  lock.choice = {Profile::minimal, {"nsight_compute"}, {"libnpp", "static"}};
  lock.manifest_sha256 = digest('f');
  lock.platforms = {
      {"linux-sbsa", {archive("cuda_nvcc", "12.8.93", 'c')}},
      {"linux-x86_64", {archive("cuda_cudart", "12.8.90", 'a'), archive("cuda_nvcc", "12.8.93", 'b', 7)}}};
  return lock;
}

LockedProduct product() {
  return {"cudnn", "9.14.0", digest('e'), {{"linux-x86_64", {archive("cudnn", "9.14.0.64", 'd')}}}};
}

Result<Lock> parse(const std::string& text) {
  const auto document = base::parse_toml(text);
  if (!document) return fail(document.error());
  return parse_lock(*document);
}

// The sample's text with one thing in it exchanged.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_text(sample());
  const std::size_t at = text.find(from);
  if (at == text.npos) {
    ADD_FAILURE() << "not in the sample: " << from;
    return text;
  }
  return text.replace(at, from.size(), to);
}

// --- Form ---

TEST(LockText, is_made_to_be_read_and_compared_line_by_line) {
  EXPECT_EQ(
      to_text(sample()),
      "# The archives that this project's CUDA toolkit is made of, bit for bit. To be committed, not to be edited:\n"
      "# `cudaenv lock` makes it anew, `cudaenv install --locked` installs just this.\n"
      "format = 1\n"
      "\n"
      "release = \"12.8.1\"\n"
      "profile = \"minimal\"\n"
      "with = [\"nsight_compute\"]\n"
      "without = [\"libnpp\", \"static\"]\n"
      "manifest_sha256 = \"" +
          digest('f') +
          "\"\n"
          "\n"
          "[[platform]]\n"
          "name = \"linux-sbsa\"\n"
          "archives = [\n"
          "  { name = \"cuda_nvcc\", version = \"12.8.93\", path = "
          "\"cuda_nvcc/linux-x86_64/cuda_nvcc-linux-x86_64-12.8.93-archive.tar.xz\", size = 1000, sha256 = \"" +
          digest('c') +
          "\" },\n"
          "]\n"
          "\n"
          "[[platform]]\n"
          "name = \"linux-x86_64\"\n"
          "archives = [\n"
          "  { name = \"cuda_cudart\", version = \"12.8.90\", path = "
          "\"cuda_cudart/linux-x86_64/cuda_cudart-linux-x86_64-12.8.90-archive.tar.xz\", size = 1000, sha256 = \"" +
          digest('a') +
          "\" },\n"
          "  { name = \"cuda_nvcc\", version = \"12.8.93\", path = "
          "\"cuda_nvcc/linux-x86_64/cuda_nvcc-linux-x86_64-12.8.93-archive.tar.xz\", size = 7, sha256 = \"" +
          digest('b') +
          "\" },\n"
          "]\n");
}

TEST(LockText, comes_back_as_it_was) {
  Lock lock = sample();
  lock.products = {product()};
  lock.platforms[0].archives[0].version = "a \"quoted\"\n\\version\x7f \xc3\xa4";  // whatever a manifest says
  const auto read = parse(to_text(lock));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(*read), to_text(lock));
  EXPECT_EQ(differences(*read, lock), std::vector<std::string>());
  EXPECT_EQ(read->choice.profile, Profile::minimal);
  EXPECT_EQ(read->choice.without, (std::vector<std::string>{"libnpp", "static"}));
  EXPECT_EQ(read->products.at(0).platforms.at(0).archives.at(0).archive.sha256, digest('d'));
  EXPECT_EQ(read->platforms.at(0).archives.at(0).version, lock.platforms[0].archives[0].version);
}

TEST(LockText, the_order_in_the_file_does_not_matter) {
  Lock shuffled = sample();
  std::swap(shuffled.platforms[0], shuffled.platforms[1]);
  std::swap(shuffled.platforms[0].archives[0], shuffled.platforms[0].archives[1]);
  const auto read = parse(to_text(shuffled));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(*read), to_text(sample()));
}

TEST(LockText, platforms_are_found_by_name) {
  const Lock lock = sample();
  ASSERT_NE(lock.find("linux-x86_64"), nullptr);
  EXPECT_EQ(lock.find("linux-x86_64")->archives.size(), 2u);
  EXPECT_EQ(lock.find("linux-ppc64le"), nullptr);
  EXPECT_EQ(lock.platform_names(), "linux-sbsa, linux-x86_64");
}

// --- What is refused ---

struct Broken {
  const char* name;
  std::string from;
  std::string to;
  const char* says;
};

class BrokenLock : public testing::TestWithParam<Broken> {};
// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, BrokenLock, testing::Values(
    Broken{"another_file", "format = 1", "name = \"x\"", "it has no format"},
    Broken{"of_a_newer_cudaenv", "format = 1", "format = 2", "its format is 2, this cudaenv knows 1"},
    Broken{"format_as_text", "format = 1", "format = \"1\"", "it has no format"},
    Broken{"unknown_key", "release =", "mirror = \"https://example.com\"\nrelease =", "unknown key mirror"},
    Broken{"no_release", "release = \"12.8.1\"", "", "release is no text"},
    Broken{"two_numbers", "\"12.8.1\"", "\"12.8\"", "\"12.8\" is no release"},
    Broken{"release_as_path", "\"12.8.1\"", "\"../12.8.1\"", "is no release"},
    Broken{"profile", "\"minimal\"", "\"tiny\"", "there is no profile \"tiny\""},
    Broken{"with_a_path", "[\"nsight_compute\"]", "[\"../x\"]", "with holds no name"},
    Broken{"with_a_number", "[\"nsight_compute\"]", "[1]", "with holds no name"},
    Broken{"with_no_array", "[\"nsight_compute\"]", "\"nsight_compute\"", "with is no array"},
    Broken{"without_twice", "[\"libnpp\", \"static\"]", "[\"static\", \"static\"]", "static is there twice"},
    Broken{"manifest_digest", digest('f'), std::string(63, 'f'), "manifest_sha256 is not 64 lower-case hex digits"},
    Broken{"upper_case_digest", digest('a'), digest('A'), "linux-x86_64, cuda_cudart: sha256 is not"},
    Broken{"path_upward", "cuda_cudart/linux-x86_64/", "../../", "the path \"../../cuda_cudart-linux"},
    Broken{"path_from_the_top", "cuda_cudart/linux-x86_64/", "/etc/", "is not below a mirror"},
    Broken{"path_with_escape", "cuda_cudart/linux-x86_64/", "\\u001b[31m/", "\\x1b[31m/"},
    Broken{"address_as_path", "cuda_cudart/linux-x86_64/", "https://example.com/", "is not below a mirror"},
    Broken{"no_size", "size = 7,", "", "size is no size of an archive"},
    Broken{"size_as_text", "size = 7,", "size = \"7\",", "size is no size of an archive"},
    Broken{"size_of_nothing", "size = 7,", "size = 0,", "size is no size of an archive"},
    Broken{"size_below_nothing", "size = 7,", "size = -1,", "size is no size of an archive"},
    Broken{"size_past_all_disks", "size = 7,", "size = 64000000001,", "size is no size of an archive"},
    Broken{"name_with_slash", "{ name = \"cuda_cudart\"", "{ name = \"a/b\"", "\"a/b\" cannot be a name here"},
    Broken{"name_with_dot", "{ name = \"cuda_cudart\"", "{ name = \"..\"", "\"..\" cannot be a name here"},
    Broken{"archive_twice", "{ name = \"cuda_cudart\"", "{ name = \"cuda_nvcc\"", "linux-x86_64: cuda_nvcc is there twice"},
    Broken{"platform_twice", "\"linux-sbsa\"", "\"linux-x86_64\"", "linux-x86_64 is there twice"},
    Broken{"platform_with_path", "\"linux-sbsa\"", "\"linux/../..\"", "cannot be a name here"},
    Broken{"unknown_key_of_archive", "size = 7,", "size = 7, url = \"x\",", "unknown key url"}), test::RowName());
// clang-format on

TEST_P(BrokenLock, says_what_is_wrong) {
  const auto read = parse(changed(GetParam().from, GetParam().to));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::config);
  EXPECT_NE(read.error().message.find(GetParam().says), std::string::npos) << read.error().message;
}

TEST(BrokenLocks, without_platforms_or_archives) {
  Lock lock = sample();
  lock.platforms[0].archives.clear();
  EXPECT_EQ(parse(to_text(lock)).error().message, "linux-sbsa: there are no archives");
  lock.platforms.clear();
  EXPECT_EQ(parse(to_text(lock)).error().message, "there is no platform");
  lock = sample();
  lock.products = {product()};
  lock.products[0].platforms.clear();
  EXPECT_EQ(parse(to_text(lock)).error().message, "cudnn: there is no platform");
}

// --- Differences ---

TEST(LockDifferences, are_told_one_a_line) {
  const Lock before = sample();
  Lock after = sample();
  after.release = {12, 9, 0};
  after.choice.profile = Profile::full;
  after.choice.with = {};
  after.choice.without.emplace_back("zzz");
  after.platforms.erase(after.platforms.begin());
  after.platforms[0].archives[0].version = "12.9.1";
  after.platforms[0].archives[1].archive.sha256 = digest('0');
  after.platforms[0].archives.push_back(archive("libnpp", "1", '1'));
  after.products = {product()};
  EXPECT_EQ(differences(before, after),
            (std::vector<std::string>{"release 12.8.1 -> 12.9.0", "profile minimal -> full",
                                      "no longer with nsight_compute", "without zzz", "no longer for linux-sbsa",
                                      "cuda_cudart 12.8.90 -> 12.9.1 (linux-x86_64)",
                                      "another archive of cuda_nvcc 12.8.93 (linux-x86_64)",
                                      "libnpp 1 as well (linux-x86_64)", "cudnn 9.14.0 as well"}));
}

TEST(LockDifferences, a_manifest_that_was_issued_anew) {
  Lock after = sample();
  after.manifest_sha256 = digest('0');
  EXPECT_EQ(differences(sample(), after), std::vector<std::string>{"manifest " + digest('f') + " -> " + digest('0')});
}

TEST(LockDifferences, control_bytes_of_a_file_never_reach_a_terminal) {
  Lock after = sample();
  after.platforms[0].archives[0].version = "\x1b[31m";
  EXPECT_EQ(differences(sample(), after), std::vector<std::string>{"cuda_nvcc 12.8.93 -> \\x1b[31m (linux-sbsa)"});
}

TEST(LockDepartures, name_the_component) {
  const LockedPlatform locked = sample().platforms[1];
  EXPECT_EQ(departures(locked, locked.archives), std::vector<std::string>());
  std::vector<LockedArchive> found = locked.archives;
  found[0].version = "of the component, not of the archive";
  EXPECT_EQ(departures(locked, found), std::vector<std::string>());
  found[0].archive.sha256 = digest('0');
  found[1].archive.size = 8;
  found.push_back(archive("libnpp", "1", '1'));
  EXPECT_EQ(departures(locked, found),
            (std::vector<std::string>{"cuda_cudart: sha256 " + digest('0') + ", in the lock " + digest('a'),
                                      "cuda_nvcc: size 8, in the lock 7", "libnpp is not in the lock"}));
  EXPECT_EQ(departures(locked, {locked.archives[1]}), std::vector<std::string>{"cuda_cudart is missing"});
  found = locked.archives;
  found[1].archive.relative_path = "x/y";
  EXPECT_EQ(departures(locked, found).size(), 1u);
}

}  // namespace
}  // namespace cudaenv::core
