// SPDX-License-Identifier: Apache-2.0
#include "redist/source.hpp"

#include <algorithm>

#include "core/registry_lookup.hpp"
#include "loopback_server.hpp"
#include "registry/builtin.hpp"
#include "small_mirror.hpp"

namespace cudaenv::redist {
namespace {

using core::Version;

// A registry of these rows alone.
core::Registry registry_of(std::span<const core::ReleaseRow> releases) {
  core::Registry registry = registry::builtin();
  registry.releases = releases;
  return registry;
}

core::ReleaseRow row_of(Version release, std::string_view digest, bool has_archives = true) {
  return {release, {}, {}, {}, {}, has_archives, digest, "x"};
}

bool is_told(const Error& error, std::string_view part) { return test::told(error).find(part) != std::string::npos; }

// --- What a base publishes ---

TEST(PublishedReleases, of_a_directory_are_its_manifests_in_order) {
  const test::Scratch mirror;
  for (const char* name : {"redistrib_12.10.0.json", "redistrib_12.8.1.json", "redistrib_9.0.0.json",
                           "redistrib_12.8.json", "redistrib_12.8.1.json.sig", "redistrib_11.2.0.json", "other.json"})
    mirror.file(name, "{}");
  const auto source = open_source(mirror.path().native(), {}, "/");
  ASSERT_TRUE(source);
  const auto published = published_releases(*source, registry::builtin());
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(published->releases, (std::vector<Version>{{9, 0, 0}, {12, 8, 1}, {12, 10, 0}}));  // 11.2.0 has no archives
  EXPECT_FALSE(published->is_from_registry);
}

TEST(PublishedReleases, of_an_absent_directory_are_an_error) {
  const auto source = open_source("absent", {}, "/nowhere");
  ASSERT_TRUE(source);
  const auto published = published_releases(*source, registry::builtin());
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind, ErrorKind::not_found);
}

TEST(PublishedReleases, of_a_server_are_those_of_its_index_page) {
  const test::LoopbackServer server([](const std::string&) {
    return test::reply(
        200, "<a href='redistrib_12.8.1.json'>x</a> <a href=\"redistrib_12.8.1.json\">y</a> <a href='cuda_nvcc/'>z</a>",
        "Content-Type: text/html\r\n");
  });
  const auto source = open_source(server.url(), {}, "/");
  ASSERT_TRUE(source);
  const auto published = published_releases(*source, registry::builtin());
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(published->releases, (std::vector<Version>{{12, 8, 1}}));
}

TEST(PublishedReleases, of_a_server_without_an_index_are_those_we_know) {
  const test::LoopbackServer server([](const std::string&) { return test::reply(404, "no"); });
  const auto source = open_source(server.url(), {}, "/");
  ASSERT_TRUE(source);
  const auto published = published_releases(*source, registry::builtin());
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_TRUE(published->is_from_registry);
  EXPECT_TRUE(std::is_sorted(published->releases.begin(), published->releases.end()));
  for (const Version& release : published->releases)
    EXPECT_TRUE(core::find_release(registry::builtin(), release)->has_archives);
}

// --- Manifests and the digests we know ---

class FetchManifest : public testing::Test {
 protected:
  void SetUp() override {
    m_mirror.add("cuda_nvcc", {test::file("bin/nvcc")});
    m_text = m_mirror.write_manifest("12.8.1");
    m_digest = sha256_of(m_text);
  }
  // With a registry that knows `known` for 12.8.1.
  Result<FetchedManifest> fetch(std::string_view known, const std::string& accepted = "",
                                Version release = {12, 8, 1}) {
    const core::ReleaseRow row = row_of({12, 8, 1}, known);
    return fetch_manifest(m_mirror.source(), release, registry_of({&row, 1}), {accepted});
  }

  test::SmallMirror m_mirror;
  std::string m_text;
  std::string m_digest;
  const std::string m_other = std::string(64, 'a');
};

TEST_F(FetchManifest, of_the_known_digest_is_taken) {
  const auto fetched = fetch(m_digest);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->sha256, m_digest);
  EXPECT_EQ(fetched->warning, "");
  EXPECT_NE(fetched->manifest.find("cuda_nvcc"), nullptr);
}

TEST_F(FetchManifest, of_a_release_without_a_known_digest_is_taken) { EXPECT_TRUE(fetch("")); }

TEST_F(FetchManifest, of_a_release_that_the_registry_lacks_is_taken) {
  m_mirror.write_manifest("12.8.9");
  EXPECT_TRUE(fetch(m_other, "", {12, 8, 9}));
}

TEST_F(FetchManifest, DL_01_of_another_digest_is_refused_with_both) {
  const auto fetched = fetch(m_other);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().kind, ErrorKind::untrusted);
  EXPECT_TRUE(is_told(fetched.error(), m_other));
  EXPECT_TRUE(is_told(fetched.error(), m_digest));
  EXPECT_TRUE(is_told(fetched.error(), m_mirror.path().native()));
  EXPECT_EQ(fetched.error().hint, "cudaenv install 12.8.1 --accept-manifest " + m_digest);
}

TEST_F(FetchManifest, of_another_digest_is_taken_when_that_one_is_accepted) {
  EXPECT_TRUE(fetch(m_other, m_digest));
  EXPECT_TRUE(fetch(m_other, "any"));
  EXPECT_FALSE(fetch(m_other, std::string(64, 'b')));
  EXPECT_FALSE(fetch(m_other, m_digest.substr(0, 63)));
}

TEST_F(FetchManifest, that_is_absent_is_not_found) {
  const auto fetched = fetch("", "", {12, 4, 1});
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().kind, ErrorKind::not_found);
}

TEST_F(FetchManifest, that_is_none_names_where_it_came_from) {
  for (const char* text : {"", "<html>404</html>", "[]", "{}", R"({"release_label": "12.8.0", "c": {}})",
                           R"({"c": {"linux-x86_64": {"relative_path": "../x"}}})"}) {
    ASSERT_TRUE(base::write_file(m_mirror / "redistrib_12.8.1.json", text));
    const auto fetched = fetch("");
    ASSERT_FALSE(fetched) << text;
    EXPECT_EQ(fetched.error().kind, ErrorKind::integrity) << text;
    EXPECT_TRUE(is_told(fetched.error(), (m_mirror / "redistrib_12.8.1.json").native())) << test::told(fetched.error());
  }
}

// A cache on the way may have served an old one.
TEST_F(FetchManifest, of_another_digest_is_fetched_once_more) {
  int asked = 0;
  const test::LoopbackServer server(
      [&](const std::string&) { return test::reply(200, ++asked == 1 ? "old" : m_text); });
  const auto source = open_source(server.url(), {}, "/");
  ASSERT_TRUE(source);
  const core::ReleaseRow row = row_of({12, 8, 1}, m_digest);
  const auto fetched = fetch_manifest(*source, {12, 8, 1}, registry_of({&row, 1}), {});
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->sha256, m_digest);
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(FetchManifest, of_another_digest_is_not_fetched_a_third_time) {
  const test::LoopbackServer server([&](const std::string&) { return test::reply(200, m_text); });
  const auto source = open_source(server.url(), {}, "/");
  ASSERT_TRUE(source);
  const core::ReleaseRow row = row_of({12, 8, 1}, m_other);
  EXPECT_FALSE(fetch_manifest(*source, {12, 8, 1}, registry_of({&row, 1}), {}));
  EXPECT_EQ(server.requests().size(), 2u);
}

// A transport that answers for NVIDIA's own base.
class FixedTransport final : public Transport {
 public:
  explicit FixedTransport(std::string text) : m_text(std::move(text)) {}
  Result<std::string> text(std::string_view, std::uint64_t) override { return m_text; }
  Result<std::vector<std::string>> index() override { return std::vector<std::string>(); }
  Result<std::optional<base::Fd>> open(std::string_view, std::uint64_t) override { return std::nullopt; }
  void begin(std::string_view, std::uint64_t, std::shared_ptr<Body> body) override { body->end({}); }

 private:
  std::string m_text;
};

TEST_F(FetchManifest, that_nvidia_issued_anew_is_a_warning) {
  Location nvidia;
  nvidia.url = k_nvidia_base;
  const Source source{nvidia, std::make_unique<FixedTransport>(m_text)};
  const core::ReleaseRow row = row_of({12, 8, 1}, m_other);
  const auto fetched = fetch_manifest(source, {12, 8, 1}, registry_of({&row, 1}), {});
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_NE(fetched->warning.find(m_other), std::string::npos);
  EXPECT_NE(fetched->warning.find(m_digest), std::string::npos);
  EXPECT_EQ(fetch_manifest(source, {12, 8, 1}, registry_of({&row, 1}), {"any"})->warning, "");
}

}  // namespace
}  // namespace cudaenv::redist
