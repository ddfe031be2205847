// SPDX-License-Identifier: Apache-2.0
#include "redist/location.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

std::string all_of(const Error& error) {
  std::string text = error.message + "\n" + error.hint;
  for (const std::string& detail : error.details) text += "\n" + detail;
  return text;
}

struct Understood {
  const char* name;
  const char* text;
  const char* url;
  const char* directory;
  const char* shown;

  friend std::ostream& operator<<(std::ostream& out, const Understood& row) { return out << row.text; }
};

class UnderstoodLocation : public testing::TestWithParam<Understood> {};

TEST_P(UnderstoodLocation, is_parsed_and_shown) {
  const auto location = parse_location(GetParam().text, PlainHttp::on_loopback, "/home/here");
  ASSERT_TRUE(location) << location.error().message;
  EXPECT_EQ(location->url, GetParam().url);
  EXPECT_EQ(location->directory, GetParam().directory);
  EXPECT_EQ(location->shown(), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Table, UnderstoodLocation,
    testing::Values(
        Understood{"nvidia", "https://developer.download.nvidia.com/compute/cuda/redist/",
                   "https://developer.download.nvidia.com/compute/cuda/redist/", "",
                   "https://developer.download.nvidia.com/compute/cuda/redist/"},
        Understood{"slash_added", "https://mirror.example/cuda", "https://mirror.example/cuda/", "",
                   "https://mirror.example/cuda/"},
        Understood{"host_only", "https://mirror.example", "https://mirror.example/", "", "https://mirror.example/"},
        Understood{"case_and_default_port", "HTTPS://Mirror.Example:443/Cuda/", "https://mirror.example/Cuda/", "",
                   "https://mirror.example/Cuda/"},
        Understood{"other_port", "https://mirror.example:8443/", "https://mirror.example:8443/", "",
                   "https://mirror.example:8443/"},
        Understood{"space_encoded", "https://mirror.example/my mirror/%20", "https://mirror.example/my%20mirror/%20/",
                   "", "https://mirror.example/my%20mirror/%20/"},
        Understood{"DL_09_credentials_are_kept_but_not_shown", "https://jo:p%40ss@mirror.example/cuda/",
                   "https://jo:p%40ss@mirror.example/cuda/", "", "https://mirror.example/cuda/"},
        Understood{"user_without_password", "https://token@mirror.example/", "https://token@mirror.example/", "",
                   "https://mirror.example/"},
        Understood{"at_sign_in_path", "https://mirror.example/npm/@scope/", "https://mirror.example/npm/@scope/", "",
                   "https://mirror.example/npm/@scope/"},
        Understood{"loopback_127", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x/", "",
                   "http://127.0.0.1:8080/x/"},
        Understood{"loopback_net", "http://127.8.9.10/", "http://127.8.9.10/", "", "http://127.8.9.10/"},
        Understood{"loopback_name", "http://LocalHost:80/", "http://localhost/", "", "http://localhost/"},
        Understood{"loopback_6", "http://[::1]:8080/", "http://[::1]:8080/", "", "http://[::1]:8080/"},
        Understood{"ipv6", "https://[2001:DB8::1]/", "https://[2001:db8::1]/", "", "https://[2001:db8::1]/"},
        Understood{"absolute_path", "/srv/mirror", "", "/srv/mirror", "/srv/mirror"},
        Understood{"relative_path", "../mirror", "", "/home/mirror", "/home/mirror"},
        Understood{"path_with_colon", "a:b/c", "", "/home/here/a:b/c", "/home/here/a:b/c"},
        Understood{"path_with_blank", "/srv/my mirror", "", "/srv/my mirror", "/srv/my mirror"},
        Understood{"file", "file:///srv/mirror", "", "/srv/mirror", "/srv/mirror"},
        Understood{"file_localhost", "file://LOCALHOST/srv/mirror", "", "/srv/mirror", "/srv/mirror"},
        Understood{"file_short", "file:/srv/mirror", "", "/srv/mirror", "/srv/mirror"},
        Understood{"file_decoded", "file:///srv/my%20mirror%2b", "", "/srv/my mirror+", "/srv/my mirror+"}),
    [](const auto& row) { return row.param.name; });

struct Refused {
  const char* name;
  std::string_view text;
  const char* says;

  friend std::ostream& operator<<(std::ostream& out, const Refused& row) { return out << row.name; }
};

class RefusedLocation : public testing::TestWithParam<Refused> {};

TEST_P(RefusedLocation, is_a_config_error_without_credentials) {
  const auto location = parse_location(GetParam().text, PlainHttp::on_loopback, "/home/here");
  ASSERT_FALSE(location);
  EXPECT_EQ(location.error().kind, ErrorKind::config);
  const std::string told = all_of(location.error());
  EXPECT_NE(told.find(GetParam().says), told.npos) << told;
  EXPECT_EQ(told.find("secret"), told.npos) << told;
  for (const char c : told) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << told;
}

using namespace std::string_view_literals;

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedLocation,
    testing::Values(Refused{"empty", "", "empty"}, Refused{"http_names_https", "http://mirror.example/", "https://"},
                    Refused{"http_names_setting", "http://jo:secret@mirror.example/",
                            "cudaenv config set network.allow_http true"},
                    Refused{"http_loopback_look_alike", "http://localhost.example.com/", "https://"},
                    Refused{"http_numeric_look_alike", "http://127.0.0.1.example.com/", "https://"},
                    Refused{"http_short_number", "http://127.1/", "https://"},
                    Refused{"http_loopback_as_user", "http://127.0.0.1:secret@mirror.example/", "https://"},
                    Refused{"http_any_address", "http://0.0.0.0/", "https://"},
                    Refused{"http_mapped_loopback", "http://[::ffff:127.0.0.1]/", "https://"},
                    Refused{"ftp", "ftp://jo:secret@mirror.example/", "ftp:// is not supported"},
                    Refused{"s3", "s3://bucket/cuda", "s3:// is not supported"},
                    Refused{"no_host", "https:///cuda/", "no valid web address"},
                    Refused{"no_slashes", "https:mirror.example", "no valid web address"},
                    Refused{"user_but_no_host", "https://jo:secret@/cuda/", "no valid web address"},
                    Refused{"port_zero", "https://mirror.example:0/", "no valid web address"},
                    Refused{"port_too_large", "https://mirror.example:65536/", "no valid web address"},
                    Refused{"port_text", "https://mirror.example:http/", "no valid web address"},
                    Refused{"slash_in_password", "https://jo:sec/ret@secret@mirror.example/", "no valid web address"},
                    Refused{"blank_in_host", "https://mirror example/", "no valid web address"},
                    Refused{"percent_in_host", "https://mirror%2eexample/", "no valid web address"},
                    Refused{"backslash_in_host", "https://mirror.example\\@evil.example/", "no valid web address"},
                    Refused{"bracket_open", "https://[::1/", "no valid web address"},
                    Refused{"bracket_no_address", "https://[mirror]/", "no valid web address"},
                    Refused{"query", "https://mirror.example/?secret", "neither"},
                    Refused{"fragment", "https://mirror.example/#x", "neither"},
                    Refused{"escape_code", "https://mirror.example/\x1b[31m", "control bytes"},
                    Refused{"newline_in_path", "/srv/mir\nror", "control bytes"},
                    Refused{"nul", "/srv/\0mirror"sv, "control bytes"},
                    Refused{"file_other_host", "file://server/share", "another machine"},
                    Refused{"file_relative", "file:mirror", "not absolute"},
                    Refused{"file_host_only", "file://localhost", "not absolute"},
                    Refused{"file_bad_percent", "file:///srv/%zz", "two hex digits"},
                    Refused{"file_nul", "file:///srv/%00", "control bytes"}),
    [](const auto& row) { return row.param.name; });

TEST(RefusedLocationText, drops_what_may_be_a_password_even_from_wrong_addresses) {
  const auto location = parse_location("https://jo:top-secret@host:99999/x?query", PlainHttp::on_loopback, "/");
  ASSERT_FALSE(location);
  EXPECT_EQ(all_of(location.error()).find("top-secret"), std::string::npos);
}

TEST(Location, plain_http_is_understood_everywhere_where_it_is_allowed) {
  const auto location = parse_location("http://mirror.example/", PlainHttp::everywhere, "/");
  ASSERT_TRUE(location);
  EXPECT_EQ(location->url, "http://mirror.example/");
}

TEST(Location, relative_path_needs_a_directory_to_be_relative_to) {
  EXPECT_FALSE(parse_location("mirror", PlainHttp::on_loopback, ""));
}

TEST(Location, knows_nvidias_own_base) {
  EXPECT_TRUE(parse_location(k_nvidia_base, PlainHttp::on_loopback, "/")->is_nvidia());
  EXPECT_TRUE(
      parse_location("https://Developer.Download.NVIDIA.com:443/compute/cuda/redist", PlainHttp::on_loopback, "/")
          ->is_nvidia());
  EXPECT_FALSE(
      parse_location("https://jo@developer.download.nvidia.com/compute/cuda/redist/", PlainHttp::on_loopback, "/")
          ->is_nvidia());
}

struct ProductRow {
  const char* name;
  const char* base;
  const char* product;
};

class ProductLocation : public testing::TestWithParam<ProductRow> {};

TEST_P(ProductLocation, is_beside_a_base_laid_out_as_nvidias_and_below_any_other) {
  const auto base = parse_location(GetParam().base, PlainHttp::on_loopback, "/home/jo");
  ASSERT_TRUE(base);
  EXPECT_EQ(base->product("cudnn").resource("x"), GetParam().product);
  EXPECT_EQ(base->product("cudnn").is_directory(), base->is_directory());
}

constexpr ProductRow k_product_rows[] = {
    {"nvidia", "https://developer.download.nvidia.com/compute/cuda/redist/",
     "https://developer.download.nvidia.com/compute/cudnn/redist/x"},
    {"like_nvidia", "https://mirror.example/nv/cuda/redist", "https://mirror.example/nv/cudnn/redist/x"},
    {"credentials_stay", "https://jo:pw@mirror.example/cuda/redist/", "https://jo:pw@mirror.example/cudnn/redist/x"},
    {"flat", "https://mirror.example/cuda/", "https://mirror.example/cuda/cudnn/redist/x"},
    {"top", "https://mirror.example", "https://mirror.example/cudnn/redist/x"},
    {"similar_name", "https://mirror.example/mycuda/redist/", "https://mirror.example/mycuda/redist/cudnn/redist/x"},
    {"directory", "/srv/mirror", "/srv/mirror/cudnn/redist/x"},
    {"directory_like_nvidia", "/srv/cuda/redist", "/srv/cudnn/redist/x"},
    {"directory_with_a_slash", "/srv/cuda/redist/", "/srv/cudnn/redist/x"},
    {"relative_directory", "cuda/redist", "/home/jo/cudnn/redist/x"},
};

INSTANTIATE_TEST_SUITE_P(Rows, ProductLocation, testing::ValuesIn(k_product_rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Location, knows_nvidias_other_products) {
  const auto base = parse_location(k_nvidia_base, PlainHttp::on_loopback, "/");
  EXPECT_TRUE(base->product("cudnn").is_nvidia());
  EXPECT_FALSE(parse_location("/srv", PlainHttp::on_loopback, "/")->product("cudnn").is_nvidia());
}

TEST(Location, resources_lie_below_it) {
  const auto web = parse_location("https://jo:pw@mirror.example/cuda", PlainHttp::on_loopback, "/");
  EXPECT_EQ(web->resource("a/b.tar.xz"), "https://jo:pw@mirror.example/cuda/a/b.tar.xz");
  EXPECT_EQ(web->shown("a/b.tar.xz"), "https://mirror.example/cuda/a/b.tar.xz");
  EXPECT_EQ(web->resource(""), "https://jo:pw@mirror.example/cuda/");
  const auto directory = parse_location("/srv/mirror", PlainHttp::on_loopback, "/");
  EXPECT_EQ(directory->resource("a/b.tar.xz"), "/srv/mirror/a/b.tar.xz");
  EXPECT_EQ(directory->resource(""), "/srv/mirror");
}

struct Redirect {
  const char* name;
  const char* from;
  const char* to;
  PlainHttp plain_http;
  bool is_allowed;

  friend std::ostream& operator<<(std::ostream& out, const Redirect& row) { return out << row.name; }
};

class RedirectCheck : public testing::TestWithParam<Redirect> {};

TEST_P(RedirectCheck, never_weakens_the_connection) {
  const auto allowed = check_redirect(GetParam().from, GetParam().to, GetParam().plain_http);
  EXPECT_EQ(allowed.has_value(), GetParam().is_allowed);
  if (allowed) return;
  EXPECT_EQ(allowed.error().kind, ErrorKind::network);
  EXPECT_EQ(all_of(allowed.error()).find("secret"), std::string::npos);
}

constexpr auto k_loopback = PlainHttp::on_loopback;
constexpr auto k_everywhere = PlainHttp::everywhere;

INSTANTIATE_TEST_SUITE_P(
    Table, RedirectCheck,
    testing::Values(
        Redirect{"https_to_https", "https://a.example/", "https://b.example/x?sig=secret#f", k_loopback, true},
        Redirect{"https_to_http", "https://a.example/", "http://jo:secret@b.example/?secret", k_loopback, false},
        Redirect{"https_to_http_where_allowed", "https://a.example/", "http://b.example/", k_everywhere, false},
        Redirect{"https_to_loopback", "https://a.example/", "http://127.0.0.1/", k_loopback, false},
        Redirect{"http_to_https", "http://127.0.0.1/", "https://b.example/", k_loopback, true},
        Redirect{"loopback_to_loopback", "http://127.0.0.1/", "http://localhost:81/", k_loopback, true},
        Redirect{"loopback_to_http", "http://127.0.0.1/", "http://b.example/", k_loopback, false},
        Redirect{"http_to_http_where_allowed", "http://a.example/", "http://b.example/", k_everywhere, true},
        Redirect{"to_file", "http://127.0.0.1/", "file:///etc/passwd", k_everywhere, false},
        Redirect{"to_ftp", "https://a.example/", "ftp://b.example/", k_everywhere, false},
        Redirect{"to_nonsense", "https://a.example/", "https://", k_everywhere, false}),
    [](const auto& row) { return row.param.name; });

TEST(PercentDecoded, decodes_or_refuses) {
  EXPECT_EQ(percent_decoded("a%2Bb%2b%41"), "a+b+A");
  EXPECT_EQ(percent_decoded(""), "");
  EXPECT_EQ(percent_decoded("a+b"), "a+b");
  EXPECT_FALSE(percent_decoded("%"));
  EXPECT_FALSE(percent_decoded("%4"));
  EXPECT_FALSE(percent_decoded("a%4g"));
  EXPECT_FALSE(percent_decoded("%-1"));
}

}  // namespace
}  // namespace cudaenv::redist
