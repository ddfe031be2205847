// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <ostream>
#include <stdexcept>

#include "curl_fixture.hpp"

namespace cudaenv::redist {
namespace {

TEST_F(CurlTransportTest, text_is_retried_after_a_broken_connection_and_starts_anew) {
  const LoopbackServer server(first_then({k_truncated}, reply(200, "0123456789")));
  EXPECT_EQ(transport(server.url(), quick(2))->text("file", 100), "0123456789");
}

TEST_F(CurlTransportTest, DL_11_broken_connection_goes_on_where_it_broke_off) {
  const LoopbackServer server([](const std::string& request) {
    if (request.find("Range: bytes=5-") == std::string::npos)
      return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"one\"\r\n\r\n01234"};
    return reply(206, "56789", "Content-Range: bytes 5-9/10\r\n");
  });
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_TRUE(done) << told(done.error());
  EXPECT_EQ(m_received, "0123456789");
  EXPECT_EQ(m_body->continuations, 1);
  EXPECT_NE(server.requests().at(1).find("If-Range: \"one\""), std::string::npos);
}

TEST_F(CurlTransportTest, DL_11_body_that_is_all_here_is_done_however_it_ends) {
  const LoopbackServer server(always({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n"}));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_TRUE(done) << told(done.error());
  EXPECT_EQ(m_received, "0123456789");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CurlTransportTest, DL_11_body_that_ends_early_without_a_length_is_tried_again) {
  const LoopbackServer server(first_then({"HTTP/1.0 200 OK\r\n\r\nnine char"}, reply(200, "0123456789")));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_TRUE(done) << told(done.error());
  EXPECT_EQ(m_received, "0123456789");
}

TEST_F(CurlTransportTest, DL_01_page_without_a_length_does_not_take_the_place_of_what_is_here) {
  const LoopbackServer server(first_then({k_truncated}, {"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"}));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::integrity);
  EXPECT_EQ(m_received, "five5");
}

struct Passing {
  const char* name;
  Reply answer;
  friend std::ostream& operator<<(std::ostream& out, const Passing& row) { return out << row.name; }
};

class CurlTransportPassing : public CurlTransportTest, public testing::WithParamInterface<Passing> {};

TEST_P(CurlTransportPassing, trouble_is_retried) {
  const LoopbackServer server(first_then(GetParam().answer, reply(200, "0123456789")));
  const auto done = stream(*transport(server.url(), quick(1)), 10);
  ASSERT_TRUE(done) << told(done.error());
  EXPECT_EQ(m_received, "0123456789");
  EXPECT_EQ(server.requests().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Rows, CurlTransportPassing,
                         testing::Values(Passing{"busy", reply(503, "busy, try again")},
                                         Passing{"reset", {"", Reply::Then::reset}}, Passing{"closed", {""}},
                                         Passing{"stall", {"HTTP/1.1 200 OK\r\n", Reply::Then::hold}}),
                         [](const auto& row) { return row.param.name; });

TEST_F(CurlTransportTest, DL_09_stall_in_the_body_ends_after_the_idle_time) {
  const LoopbackServer server(always({k_truncated, Reply::Then::hold}));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::network);
  EXPECT_EQ(m_received, "five5");
}

TEST_F(CurlTransportTest, credentials_go_to_their_own_host_only) {
  const LoopbackServer other(always(reply(200, "0123456789")));
  const LoopbackServer server(always(redirect("http://localhost:" + other.host().substr(10) + "/")));
  ASSERT_TRUE(stream(*transport("http://jo:secret@" + server.host() + "/"), 10));
  EXPECT_NE(server.requests().at(0).find("Authorization: Basic"), std::string::npos);
  EXPECT_EQ(other.requests().at(0).find("Authorization"), std::string::npos);
}

TEST_F(CurlTransportTest, credentials_are_taken_from_netrc) {
  m_home.file(".netrc", "machine 127.0.0.1 login jo password secret\n");
  const LoopbackServer server(always(reply(200, "x")));
  EXPECT_EQ(transport(server.url())->text("file", 10), "x");
  EXPECT_NE(server.requests().at(0).find("Authorization: Basic"), std::string::npos);
}

TEST_F(CurlTransportTest, DL_09_credentials_are_in_no_error) {
  for (const Reply& answer : {reply(404, ""), reply(503, ""), reply(401, ""), reply(200, "x"), Reply{""},
                              redirect("file"), redirect("http://jo:secret@192.0.2.1/"),
                              redirect("//jo:secret@192.0.2.1/"), Reply{"secret-free nonsense\r\n\r\n"}}) {
    const LoopbackServer server(always(answer));
    const auto done = stream(*transport("http://jo:secret@" + server.host() + "/"), 10);
    ASSERT_FALSE(done);
    EXPECT_EQ(told(done.error()).find("secret"), std::string::npos) << told(done.error());
    EXPECT_EQ(told(done.error()).find("jo:"), std::string::npos) << told(done.error());
  }
}

TEST_F(CurlTransportTest, refused_connection_is_told_with_its_address) {
  LoopbackServer server(always(reply(200, "x")));
  server.stop();
  const auto done = stream(*transport(server.url(), quick(3)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::network);
  EXPECT_NE(done.error().message.find(server.url()), std::string::npos);
}

TEST_F(CurlTransportTest, DL_09_proxy_is_used_and_no_proxy_obeyed) {
  const LoopbackServer proxy(always(reply(200, "by proxy")));
  const LoopbackServer server(always(reply(200, "directly")));
  set("http_proxy", ("http://jo:secret@" + proxy.host()).c_str());
  EXPECT_EQ(transport(server.url())->text("file", 100), "by proxy");
  EXPECT_EQ(first_line(proxy.requests().at(0)), "GET " + server.url() + "file HTTP/1.1");
  EXPECT_NE(proxy.requests().at(0).find("Proxy-Authorization: Basic"), std::string::npos);
  set("no_proxy", "127.0.0.1");
  EXPECT_EQ(transport(server.url())->text("file", 100), "directly");
}

TEST_F(CurlTransportTest, DL_09_proxy_credentials_are_in_no_error) {
  LoopbackServer gone(always(reply(200, "x")));
  gone.stop();
  const LoopbackServer refusing(always(reply(407, "")));
  for (const std::string& proxy : {"http://jo:secret@" + gone.host(), "http://jo:secret@" + refusing.host(),
                                   "strange://jo:secret@" + gone.host(), std::string("http://jo:secret@:bad:port:")}) {
    for (const char* base : {"http://127.0.0.1:9/", "https://127.0.0.1:9/"}) {
      set("http_proxy", proxy.c_str());
      set("https_proxy", proxy.c_str());
      const auto done = stream(*transport(base), 10);
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().kind, ErrorKind::network);
      EXPECT_EQ(told(done.error()).find("secret"), std::string::npos) << told(done.error());
    }
  }
}

TEST_F(CurlTransportTest, DL_09_certificate_file_is_read_from_either_variable_and_named_when_bad) {
  const LoopbackServer server(always({""}));
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    set(name, (m_home / "absent.pem").c_str());
    const auto done = stream(*transport("https://" + server.host() + "/"), 10);
    set(name, nullptr);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::network);
    EXPECT_NE(done.error().message.find("absent.pem"), std::string::npos) << done.error().message;
    EXPECT_EQ(done.error().hint, "export SSL_CERT_FILE=FILE");
    EXPECT_NE(told(done.error()).find("CURL_CA_BUNDLE"), std::string::npos) << told(done.error());
  }
}

TEST_F(CurlTransportTest, DL_11_progress_interrupts_also_while_nothing_comes) {
  for (const char* sent : {"", k_truncated}) {
    const LoopbackServer server(always({sent, Reply::Then::hold}));
    int left = 2;
    const auto done = stream(*transport(server.url(), quick(3)), 10, [&left](std::uint64_t) { return left-- > 0; });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::interrupted);
    EXPECT_LE(server.requests().size(), 1u);
  }
}

TEST_F(CurlTransportTest, DL_11_keep_going_interrupts_text_and_index) {
  const LoopbackServer server(always({"", Reply::Then::hold}));
  int left = 2;
  TransportOptions options;
  options.keep_going = [&left] { return left-- > 0; };
  const auto web = transport(server.url(), options);
  EXPECT_EQ(web->text("file", 10).error().kind, ErrorKind::interrupted);
  left = 2;
  EXPECT_EQ(web->index().error().kind, ErrorKind::interrupted);
}

TEST_F(CurlTransportTest, DL_11_pause_before_a_retry_can_be_interrupted) {
  std::atomic<bool> has_answered = false;
  const LoopbackServer server([&has_answered](const std::string&) {
    has_answered = true;
    return reply(503, "");
  });
  TransportOptions options = quick(3);
  options.retry.pause = 1h;
  options.retry.longest = 1h;
  int left = 20;  // past the end of the transfer
  options.keep_going = [&] { return !has_answered || left-- > 0; };
  EXPECT_EQ(transport(server.url(), options)->text("file", 10).error().kind, ErrorKind::interrupted);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CurlTransportTest, error_of_the_body_is_returned_as_it_is) {
  const LoopbackServer server(always(reply(200, "0123456789")));
  const auto body = std::make_shared<CollectedBody>(nullptr);
  body->sink = [](std::string_view) -> Result<void> { return fail(ErrorKind::filesystem, "disk full", "df"); };
  const auto web = transport(server.url(), quick(3));
  web->begin("file", 10, body);
  const auto done = body->wait();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(done.error().message, "disk full");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CurlTransportTest, exception_in_a_callback_does_not_cross_libcurl) {
  const LoopbackServer server(always(reply(200, "0123456789")));
  const auto body = std::make_shared<CollectedBody>(nullptr);
  body->sink = [](std::string_view) -> Result<void> { throw std::runtime_error("sink"); };
  const auto web = transport(server.url());
  web->begin("file", 10, body);
  EXPECT_EQ(body->wait().error().kind, ErrorKind::internal);
}

TEST_F(CurlTransportTest, can_be_used_again_after_every_kind_of_end) {
  const LoopbackServer server([answers = std::vector<Reply>{reply(404, "no"), {""}, reply(200, "0123456789")},
                               next = std::size_t{0}](const std::string&) mutable { return answers.at(next++); });
  const auto web = transport(server.url());
  EXPECT_EQ(stream(*web, 10).error().kind, ErrorKind::not_found);
  EXPECT_EQ(stream(*web, 10).error().kind, ErrorKind::network);
  EXPECT_TRUE(stream(*web, 10));
  EXPECT_EQ(m_received, "0123456789");
}

}  // namespace
}  // namespace cudaenv::redist
