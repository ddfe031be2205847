// SPDX-License-Identifier: Apache-2.0
#include "redist/index_page.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

using Names = std::vector<std::string>;

struct Page {
  const char* name;
  std::string_view html;
  Names names;

  friend std::ostream& operator<<(std::ostream& out, const Page& row) { return out << row.name; }
};

class IndexPage : public testing::TestWithParam<Page> {};

TEST_P(IndexPage, gives_the_names_that_it_links_to) { EXPECT_EQ(linked_names(GetParam().html), GetParam().names); }

constexpr std::string_view k_plain_list = R"(<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Index of /redist</title></head>
<body><h1>Index of /redist</h1><ul>
<li><a href='../'>..</a></li>
<li><a href='cuda_cccl/'>cuda_cccl/</a></li>
<li><a href='redistrib_12.4.1.json'>redistrib_12.4.1.json</a></li>
<li><a href='redistrib_12.4.1.json'>again</a></li>
</ul></body></html>)";

constexpr std::string_view k_nginx =
    "<html>\r\n<head><title>Index of /cuda/</title></head>\r\n<body>\r\n<h1>Index of /cuda/"
    "</h1><hr><pre><a href=\"../\">../</a>\r\n<a href=\"libcublas/\">libcublas/</a>   01-Jan-2026 10:00      -\r\n"
    "<a href=\"redistrib_13.0.2.json\">redistrib_13.0.2.json</a>   01-Jan-2026 10:00   "
    "41234\r\n</pre><hr></body></html>";

constexpr std::string_view k_apache = R"(<table>
<tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
<tr><td><img src="/icons/back.gif" alt="[PARENTDIR]"></td><td><a href="/">Parent Directory</a></td></tr>
<tr><td valign="top"><img src="/icons/unknown.gif"></td><td>
<a class=f href="redistrib_11.8.0.json">redist..&gt;</a></td></tr>
</table><address>Apache Server</address>)";

constexpr std::string_view k_python = R"(<!DOCTYPE HTML>
<html lang="en"><body><hr><ul>
<li><a href="cuda_nvcc/">cuda_nvcc/</a></li>
<li><a href="latest.json">latest.json@</a></li>
<li><a href="with%20blank%2B.txt">with blank+.txt</a></li>
<li><a href="a%26b%27c.txt">a&amp;b'c.txt</a></li>
</ul></body></html>)";

INSTANTIATE_TEST_SUITE_P(
    Servers, IndexPage,
    testing::Values(Page{"plain_list", k_plain_list, {"cuda_cccl", "redistrib_12.4.1.json"}},
                    Page{"nginx", k_nginx, {"libcublas", "redistrib_13.0.2.json"}},
                    Page{"apache", k_apache, {"redistrib_11.8.0.json"}},
                    Page{"python_http_server", k_python, {"cuda_nvcc", "latest.json", "with blank+.txt", "a&b'c.txt"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Writing, IndexPage,
    testing::Values(Page{"nothing", "", {}}, Page{"text", "redistrib_12.4.1.json", {}},
                    Page{"no_quotes", "<a href=x.json>", {"x.json"}}, Page{"no_quotes_slash", "<a href=x/>", {"x"}},
                    Page{"any_case", "<A HREF=\"x.json\">", {"x.json"}},
                    Page{"blanks", "<a\n href = 'x.json' >", {"x.json"}},
                    Page{"other_attributes", "<a a=\">\" b href='x' c=d>", {"x"}},
                    Page{"absolute_path", "<a href=\"/compute/cuda/redist/x.json\">", {"x.json"}},
                    Page{"absolute_address", "<a href=\"https://mirror.example/cuda/x.json?v=1#top\">", {"x.json"}},
                    Page{"no_scheme", "<a href=\"//mirror.example/cuda/x.json\">", {"x.json"}},
                    Page{"host_alone", "<a href=\"https://mirror.example\"><a href=\"//mirror.example/\">", {}},
                    Page{"entity", "<a href=\"a&amp;b&#39;\">", {"a&b'"}},
                    Page{"order_kept", "<a href=b><a href=a><a href=b>", {"b", "a"}},
                    Page{"colon_in_path", "<a href=\"./a:b\">", {"a:b"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    LeftOut, IndexPage,
    testing::Values(Page{"parent", "<a href='..'><a href='.'><a href='./'><a href='a/../'>", {}},
                    Page{"anchor_and_sorting", "<a href='#top'><a href='?C=N'><a href=''>", {}},
                    Page{"mail_and_script", "<a href='mailto:x@y.z'><a href=\"javascript:go('x')\">", {}},
                    Page{"other_tags", "<link href='style.css'><area href='x'><abbr href='y'>", {}},
                    Page{"comment", "<!-- <a href='x'> --><a href='y'>", {"y"}},
                    Page{"comment_without_end", "<a href='y'><!-- <a href='x'>", {"y"}},
                    Page{"slash_in_name", "<a href='a%2Fb'><a href='..%2f..%2fetc'>", {}},
                    Page{"encoded_parent", "<a href='%2e%2e'><a href='%2E'>", {}},
                    Page{"control_bytes", "<a href='a%1bb'><a href='a%00b'><a href='a%0a'>", {}},
                    Page{"bad_percent", "<a href='100%'>", {}}, Page{"tag_without_end", "<a href='x", {"x"}},
                    Page{"stray_signs", "<a ===href=x =>< a href=y><a", {}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace cudaenv::redist
