// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "curl_fixture.hpp"

namespace cudaenv::redist {
namespace {

TEST_F(CurlTransportTest, text_is_the_body) {
  const LoopbackServer server(always(reply(200, "{}")));
  EXPECT_EQ(transport(server.url() + "cuda")->text("redistrib_12.4.1.json", 100), "{}");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(first_line(server.requests()[0]), "GET /cuda/redistrib_12.4.1.json HTTP/1.1");
  EXPECT_NE(server.requests()[0].find("User-Agent: cudaenv/"), std::string::npos);
  EXPECT_EQ(server.requests()[0].find("Accept-Encoding"), std::string::npos);
}

TEST_F(CurlTransportTest, text_that_is_too_large_is_refused_whether_announced_or_not) {
  for (const Reply& answer :
       {reply(200, std::string(101, 'x')), chunked({std::string(60, 'x'), std::string(41, 'x')})}) {
    const LoopbackServer server(always(answer));
    const auto body = transport(server.url())->text("large", 100);
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().kind, ErrorKind::integrity);
  }
}

TEST_F(CurlTransportTest, stream_hands_over_every_byte_once) {
  std::string content;
  for (int i = 0; i < 300'000; ++i) content += static_cast<char>(i % 251);
  for (const Reply& answer : {reply(200, content), chunked({content.substr(0, 7), content.substr(7)})}) {
    const LoopbackServer server(always(answer));
    const auto done = stream(*transport(server.url()), content.size());
    ASSERT_TRUE(done) << told(done.error());
    EXPECT_EQ(m_received, content);
  }
}

TEST_F(CurlTransportTest, stream_of_nothing_is_fine) {
  const LoopbackServer server(always(reply(200, "")));
  EXPECT_TRUE(stream(*transport(server.url()), 0));
}

struct Status {
  int status;
  ErrorKind kind;
  std::size_t requests;  // with two retries
  friend std::ostream& operator<<(std::ostream& out, const Status& row) { return out << row.status; }
};

class CurlTransportStatus : public CurlTransportTest, public testing::WithParamInterface<Status> {};

TEST_P(CurlTransportStatus, DL_01_is_an_error_and_its_page_never_reaches_the_sink) {
  const LoopbackServer server(always(reply(GetParam().status, "<html>page</html>", "Content-Type: text/html\r\n")));
  const auto done = stream(*transport(server.url(), quick(2)), 17);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, GetParam().kind);
  EXPECT_EQ(m_received, "");
  EXPECT_NE(done.error().message.find(server.url() + "file"), std::string::npos) << done.error().message;
  EXPECT_NE(told(done.error()).find(std::to_string(GetParam().status)), std::string::npos);
  EXPECT_EQ(server.requests().size(), GetParam().requests);
  const auto body = transport(server.url())->text("file", 100);
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().kind, GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(Rows, CurlTransportStatus,
                         testing::Values(Status{404, ErrorKind::not_found, 1}, Status{410, ErrorKind::not_found, 1},
                                         Status{401, ErrorKind::network, 1}, Status{403, ErrorKind::network, 1},
                                         Status{400, ErrorKind::network, 1}, Status{206, ErrorKind::network, 3},
                                         Status{302, ErrorKind::network, 1}, Status{407, ErrorKind::network, 1},
                                         Status{408, ErrorKind::network, 3}, Status{429, ErrorKind::network, 3},
                                         Status{500, ErrorKind::network, 3}, Status{503, ErrorKind::network, 3}),
                         [](const auto& row) { return "status_" + std::to_string(row.param.status); });

TEST_F(CurlTransportTest, endless_error_page_is_not_read_to_its_end) {
  const LoopbackServer server(
      always({"HTTP/1.1 404 No\r\nContent-Length: 99999999\r\n\r\n" + std::string(200'000, 'x'), Reply::Then::hold}));
  TransportOptions patient = quick();
  patient.idle_timeout = 1h;
  const auto done = stream(*transport(server.url(), patient), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::not_found);
}

struct WrongSize {
  const char* name;
  Reply answer;
  friend std::ostream& operator<<(std::ostream& out, const WrongSize& row) { return out << row.name; }
};

class CurlTransportSize : public CurlTransportTest, public testing::WithParamInterface<WrongSize> {};

TEST_P(CurlTransportSize, DL_01_that_differs_is_refused_without_a_retry) {
  const LoopbackServer server(always(GetParam().answer));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::integrity);
  EXPECT_NE(done.error().message.find("10"), std::string::npos) << done.error().message;
  EXPECT_LE(m_received.size(), 10u);
  EXPECT_EQ(server.requests().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Rows, CurlTransportSize,
                         testing::Values(WrongSize{"longer", reply(200, "eleven char")},
                                         WrongSize{"shorter", reply(200, "nine char")},
                                         WrongSize{"nothing", reply(200, "")},
                                         WrongSize{"longer_unannounced", chunked({"eleven", " char"})},
                                         WrongSize{"shorter_unannounced", chunked({"nine", " char"})}),
                         [](const auto& row) { return row.param.name; });

TEST_F(CurlTransportTest, announced_wrong_size_gives_the_sink_nothing_and_names_a_web_page) {
  const LoopbackServer server(always(reply(200, "<html>", "Content-Type: text/html; charset=utf-8\r\n")));
  const auto done = stream(*transport(server.url()), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(m_received, "");
  EXPECT_NE(told(done.error()).find("web page"), std::string::npos);
}

TEST_F(CurlTransportTest, redirects_are_followed_and_their_bodies_dropped) {
  const LoopbackServer other(always(reply(200, "0123456789")));
  const LoopbackServer server([&other](const std::string& request) {
    return first_line(request).find("/cuda/file") != std::string::npos ? redirect("../moved/there")
                                                                       : redirect(other.url() + "signed?x=1");
  });
  const auto done = stream(*transport(server.url() + "cuda/"), 10);
  ASSERT_TRUE(done) << told(done.error());
  EXPECT_EQ(m_received, "0123456789");
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(first_line(server.requests()[1]), "GET /moved/there HTTP/1.1");
  ASSERT_EQ(other.requests().size(), 1u);
  EXPECT_EQ(first_line(other.requests()[0]), "GET /signed?x=1 HTTP/1.1");
}

TEST_F(CurlTransportTest, redirect_loop_ends) {
  const LoopbackServer server(always(redirect("file")));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::network);
  EXPECT_EQ(server.requests().size(), 11u);
}

TEST_F(CurlTransportTest, redirects_to_what_is_not_allowed_are_refused) {
  for (const char* target :
       {"http://192.0.2.1/secret", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"}) {
    const LoopbackServer server(always(redirect(target)));
    const auto done = stream(*transport(server.url(), quick(2)), 10);
    ASSERT_FALSE(done) << target;
    EXPECT_EQ(done.error().kind, ErrorKind::network) << target;
    EXPECT_NE(done.error().message.find("redirects to"), std::string::npos) << done.error().message;
    EXPECT_EQ(told(done.error()).find("secret"), std::string::npos);
    EXPECT_EQ(m_received, "");
    EXPECT_EQ(server.requests().size(), 1u);
  }
}

TEST_F(CurlTransportTest, index_lists_what_the_page_links_to) {
  const LoopbackServer server(always(reply(200, "<a href=\"../\">..</a><a href='redistrib_12.4.1.json'>x</a>")));
  EXPECT_EQ(transport(server.url() + "cuda")->index(), std::vector<std::string>{"redistrib_12.4.1.json"});
  EXPECT_EQ(first_line(server.requests().at(0)), "GET /cuda/ HTTP/1.1");
}

}  // namespace
}  // namespace cudaenv::redist
