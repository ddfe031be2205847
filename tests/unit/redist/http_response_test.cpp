// SPDX-License-Identifier: Apache-2.0
#include "redist/http_response.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

struct Answer {
  const char* name;
  long status;
  const char* content_range;
  std::uint64_t offset;  // that was asked for
  BodyUse use;
  friend std::ostream& operator<<(std::ostream& out, const Answer& row) { return out << row.name; }
};

class Use : public testing::TestWithParam<Answer> {};

TEST_P(Use, DL_11_of_a_body_of_200_bytes) {
  ResponseHead head;
  head.status = GetParam().status;
  head.content_range = GetParam().content_range;
  EXPECT_EQ(use_of_body(head, GetParam().offset, 200), GetParam().use);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Use,
    testing::Values(Answer{"whole", 200, "", 0, BodyUse::whole}, Answer{"range_ignored", 200, "", 100, BodyUse::whole},
                    Answer{"rest", 206, "bytes 100-199/200", 100, BodyUse::append},
                    Answer{"rest_of_unknown_total", 206, "bytes 100-199/*", 100, BodyUse::append},
                    Answer{"whole_as_a_part", 206, "bytes 0-199/200", 0, BodyUse::whole},
                    Answer{"part_not_asked_for", 206, "bytes 0-99/200", 0, BodyUse::unfitting},
                    Answer{"shifted", 206, "bytes 99-199/200", 100, BodyUse::unfitting},
                    Answer{"begins_later", 206, "bytes 101-199/200", 100, BodyUse::unfitting},
                    Answer{"too_short", 206, "bytes 100-150/200", 100, BodyUse::unfitting},
                    Answer{"of_something_longer", 206, "bytes 100-199/300", 100, BodyUse::unfitting},
                    Answer{"of_another_size", 206, "bytes 100-299/300", 100, BodyUse::unfitting},
                    Answer{"without_a_range", 206, "", 100, BodyUse::unfitting},
                    Answer{"of_another_unit", 206, "items 100-199/200", 100, BodyUse::unfitting},
                    Answer{"several_parts", 206, "bytes 100-149/200, 150-199/200", 100, BodyUse::unfitting},
                    Answer{"not_satisfiable", 416, "bytes */200", 100, BodyUse::unfitting},
                    Answer{"not_satisfiable_unasked", 416, "bytes */200", 0, BodyUse::none},
                    Answer{"absent", 404, "", 100, BodyUse::none}, Answer{"moved", 302, "", 100, BodyUse::none},
                    Answer{"down", 503, "bytes 100-199/200", 100, BodyUse::none}),
    [](const auto& row) { return row.param.name; });

TEST(ContentRange, is_read_strictly) {
  const auto range = parse_content_range("bytes 5-9/10");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5u);
  EXPECT_EQ(range->last, 9u);
  EXPECT_EQ(range->total, 10u);
  for (const char* text : {"", "bytes", "bytes ", "bytes 5-9", "bytes 5/10", "bytes -9/10", "bytes 5-/10",
                           "bytes 9-5/10", "bytes 5-10/10", "bytes 5-9/", "bytes 5-9/x", "bytes +5-9/10",
                           "bytes 5-9/10x", "5-9/10", "bytes 5-99999999999999999999/*", "bytes */10", "bytes 5/9-10"})
    EXPECT_FALSE(parse_content_range(text)) << text;
}

TEST(ResponseHead, takes_what_counts_of_the_last_response) {
  ResponseHead head;
  for (const char* line :
       {"HTTP/1.1 200 OK\r\n", "Content-Length: 7\r\n", "ETag: \"old\"\r\n", "\r\n", "HTTP/2 206\r\n",
        "content-RANGE:  bytes 5-9/10 \r\n", "ETAG: W/\"new\"\r\n", "Last-Modified: Tue, 01 Dec 2026 12:00:00 GMT\r\n",
        "Transfer-Encoding: chunked\r\n", "nonsense\r\n", ": empty\r\n", "Content-Type: text/html; charset=utf-8\r\n"})
    head.take_line(line);
  EXPECT_EQ(head.status, 206);
  EXPECT_FALSE(head.length);
  EXPECT_EQ(head.content_range, "bytes 5-9/10");
  EXPECT_EQ(head.etag, "W/\"new\"");
  EXPECT_TRUE(head.is_chunked);
  EXPECT_TRUE(head.is_web_page());
}

TEST(Validator, DL_11_is_a_strong_tag_or_a_date_without_any_tag) {
  ResponseHead head;
  EXPECT_EQ(validator_of(head), "");
  head.last_modified = "Tue, 01 Dec 2026 12:00:00 GMT";
  EXPECT_EQ(validator_of(head), head.last_modified);
  head.etag = "W/\"weak\"";
  EXPECT_EQ(validator_of(head), "");
  head.etag = "\"strong\"";
  EXPECT_EQ(validator_of(head), "\"strong\"");
}

TEST(RetryAfter, is_seconds_or_a_date) {
  using std::chrono::seconds;
  constexpr std::time_t k_noon = 1796126400;  // 2026-12-01 12:00:00 UTC
  EXPECT_EQ(parse_retry_after("0", k_noon), seconds(0));
  EXPECT_EQ(parse_retry_after("120", k_noon), seconds(120));
  EXPECT_EQ(parse_retry_after("Tue, 01 Dec 2026 12:01:30 GMT", k_noon), seconds(90));
  EXPECT_EQ(parse_retry_after("Tue, 01 Dec 2026 11:00:00 GMT", k_noon), seconds(0)) << "gone by";
  EXPECT_LE(*parse_retry_after("18446744073709551615", k_noon), std::chrono::hours(24 * 366));
  for (const char* text : {"", "soon", "-5", "1.5", "12 s", "Tue, 01 Dec 2026"})
    EXPECT_FALSE(parse_retry_after(text, k_noon)) << text;
}

}  // namespace
}  // namespace cudaenv::redist
