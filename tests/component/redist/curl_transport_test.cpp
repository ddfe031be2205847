// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ostream>
#include <stdexcept>

#include "loopback_server.hpp"
#include "redist/location.hpp"
#include "redist/transport.hpp"
#include "scratch.hpp"

namespace cudaenv::redist {
namespace {

using test::chunked;
using test::LoopbackServer;
using test::redirect;
using test::Reply;
using test::reply;
using test::told;
using namespace std::chrono_literals;

class CurlTransportTest : public testing::Test {
 protected:
  CurlTransportTest() {
    for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
                             "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"})
      ::unsetenv(name);
    ::setenv("HOME", m_home.path().c_str(), 1);
  }

  static TransportOptions quick(int retries = 0) {
    return {.connect_timeout = 2s, .idle_timeout = 1s, .retries = retries, .pause = 1ms};
  }
  static std::unique_ptr<Transport> transport(const std::string& url, TransportOptions options = quick()) {
    const auto location = parse_location(url, PlainHttp::on_loopback, "/");
    EXPECT_TRUE(location) << url;
    return open_transport(*location, std::move(options));
  }

  // Streams "file" and keeps what the sink was given.
  Result<void> stream(Transport& from, std::uint64_t size, const Progress& progress = {}) {
    m_received.clear();
    const Sink sink = [this](std::string_view bytes) -> Result<void> {
      m_received += bytes;
      return {};
    };
    return from.stream("file", size, sink, progress);
  }

  test::Scratch m_home;
  std::string m_received;
};

std::string first_line(const std::string& request) { return request.substr(0, request.find("\r\n")); }

// Answers the first request in one way and all further ones in another.
LoopbackServer::Answer first_then(Reply first, Reply rest) {
  return [first = std::move(first), rest = std::move(rest), is_first = true](const std::string&) mutable {
    return std::exchange(is_first, false) ? first : rest;
  };
}

LoopbackServer::Answer always(Reply answer) {
  return [answer = std::move(answer)](const std::string&) { return answer; };
}

TEST_F(CurlTransportTest, text_is_the_body) {
  const LoopbackServer server(always(reply(200, "{}")));
  EXPECT_EQ(transport(server.url() + "cuda")->text("redistrib_12.4.1.json", 100), "{}");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(first_line(server.requests()[0]), "GET /cuda/redistrib_12.4.1.json HTTP/1.1");
  EXPECT_NE(server.requests()[0].find("User-Agent: cudaenv/"), std::string::npos);
  EXPECT_EQ(server.requests()[0].find("Accept-Encoding"), std::string::npos);
}

TEST_F(CurlTransportTest, text_that_is_too_large_is_refused_whether_announced_or_not) {
  for (const Reply& answer : {reply(200, std::string(101, 'x')), chunked({std::string(60, 'x'), std::string(41, 'x')})}) {
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
    std::uint64_t most = 0;
    const auto done = stream(*transport(server.url()), content.size(), [&most](std::uint64_t received) {
      EXPECT_GE(received, most);
      most = received;
      return true;
    });
    ASSERT_TRUE(done) << told(done.error());
    EXPECT_EQ(m_received, content);
    EXPECT_EQ(most, content.size());
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
                                         Status{400, ErrorKind::network, 1}, Status{206, ErrorKind::network, 1},
                                         Status{302, ErrorKind::network, 1}, Status{407, ErrorKind::network, 1},
                                         Status{408, ErrorKind::network, 3}, Status{429, ErrorKind::network, 3},
                                         Status{500, ErrorKind::network, 3}, Status{503, ErrorKind::network, 3}),
                         [](const auto& row) { return "status_" + std::to_string(row.param.status); });

TEST_F(CurlTransportTest, endless_error_page_is_not_read_to_its_end) {
  const LoopbackServer server(always({"HTTP/1.1 404 No\r\nContent-Length: 99999999\r\n\r\n" + std::string(200'000, 'x'),
                                      Reply::Then::hold}));
  const auto done = stream(*transport(server.url()), 10);
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
                                         WrongSize{"shorter_unannounced", chunked({"nine", " char"})},
                                         WrongSize{"shorter_until_closed", {"HTTP/1.0 200 OK\r\n\r\nnine char"}}),
                         [](const auto& row) { return row.param.name; });

TEST_F(CurlTransportTest, announced_wrong_size_gives_the_sink_nothing_and_names_a_web_page) {
  const LoopbackServer server(always(reply(200, "<html>log in</html>", "Content-Type: text/html; charset=utf-8\r\n")));
  const auto done = stream(*transport(server.url()), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(m_received, "");
  EXPECT_NE(told(done.error()).find("web page"), std::string::npos);
}

const char* const k_truncated = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive5";

TEST_F(CurlTransportTest, broken_connection_is_not_retried_once_the_sink_has_bytes) {
  const LoopbackServer server(first_then({k_truncated}, reply(200, "0123456789")));
  const auto done = stream(*transport(server.url(), quick(2)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::network);
  EXPECT_EQ(m_received, "five5");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CurlTransportTest, text_is_retried_after_a_broken_connection_and_starts_anew) {
  const LoopbackServer server(first_then({k_truncated}, reply(200, "0123456789")));
  EXPECT_EQ(transport(server.url(), quick(2))->text("file", 100), "0123456789");
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
  for (const char* target : {"http://192.0.2.1/secret", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"}) {
    const LoopbackServer server(always(redirect(target)));
    const auto done = stream(*transport(server.url(), quick(2)), 10);
    ASSERT_FALSE(done) << target;
    EXPECT_EQ(done.error().kind, ErrorKind::network) << target;
    EXPECT_EQ(told(done.error()).find("secret"), std::string::npos);
    EXPECT_EQ(m_received, "");
    EXPECT_EQ(server.requests().size(), 1u);
  }
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
  for (const Reply& answer :
       {reply(404, ""), reply(503, ""), reply(401, ""), reply(200, "x"), Reply{""}, redirect("file"),
        redirect("http://jo:secret@192.0.2.1/"), redirect("//jo:secret@192.0.2.1/"), Reply{"secret-free nonsense\r\n\r\n"}}) {
    const LoopbackServer server(always(answer));
    const auto done = stream(*transport("http://jo:secret@" + server.host() + "/"), 10);
    ASSERT_FALSE(done);
    EXPECT_EQ(told(done.error()).find("secret"), std::string::npos) << told(done.error());
    EXPECT_EQ(told(done.error()).find("jo:"), std::string::npos) << told(done.error());
  }
}

TEST_F(CurlTransportTest, refused_connection_points_to_a_mirror) {
  LoopbackServer server(always(reply(200, "x")));
  server.stop();
  const auto done = stream(*transport(server.url(), quick(3)), 10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::network);
  EXPECT_NE(done.error().hint.find("--mirror"), std::string::npos);
  EXPECT_NE(done.error().message.find(server.url()), std::string::npos);
}

TEST_F(CurlTransportTest, DL_09_proxy_is_used_and_no_proxy_obeyed) {
  const LoopbackServer proxy(always(reply(200, "by proxy")));
  const LoopbackServer server(always(reply(200, "directly")));
  ::setenv("http_proxy", ("http://jo:secret@" + proxy.host()).c_str(), 1);
  EXPECT_EQ(transport(server.url())->text("file", 100), "by proxy");
  EXPECT_EQ(first_line(proxy.requests().at(0)), "GET " + server.url() + "file HTTP/1.1");
  EXPECT_NE(proxy.requests().at(0).find("Proxy-Authorization: Basic"), std::string::npos);
  ::setenv("no_proxy", "127.0.0.1", 1);
  EXPECT_EQ(transport(server.url())->text("file", 100), "directly");
}

TEST_F(CurlTransportTest, DL_09_proxy_credentials_are_in_no_error) {
  LoopbackServer gone(always(reply(200, "x")));
  gone.stop();
  const LoopbackServer refusing(always(reply(407, "")));
  for (const std::string& proxy : {"http://jo:secret@" + gone.host(), "http://jo:secret@" + refusing.host(),
                                   "strange://jo:secret@" + gone.host(), std::string("http://jo:secret@:bad:port:")}) {
    for (const char* base : {"http://127.0.0.1:9/", "https://127.0.0.1:9/"}) {
      ::setenv("http_proxy", proxy.c_str(), 1);
      ::setenv("https_proxy", proxy.c_str(), 1);
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
    ::setenv(name, (m_home / "absent.pem").c_str(), 1);
    const auto done = stream(*transport("https://" + server.host() + "/"), 10);
    ::unsetenv(name);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::network);
    EXPECT_NE(done.error().message.find("absent.pem"), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().hint.find("SSL_CERT_FILE"), std::string::npos) << done.error().hint;
    EXPECT_NE(done.error().hint.find("CURL_CA_BUNDLE"), std::string::npos) << done.error().hint;
  }
}

TEST_F(CurlTransportTest, DL_11_progress_interrupts_also_while_nothing_comes) {
  for (const char* sent : {"", k_truncated}) {
    const LoopbackServer server(always({sent, Reply::Then::hold}));
    int left = 2;
    const auto done = stream(*transport(server.url(), {.retries = 3}), 10, [&left](std::uint64_t) { return left-- > 0; });
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
  options.pause = 1h;
  int left = 20;  // past the end of the transfer
  options.keep_going = [&] { return !has_answered || left-- > 0; };
  EXPECT_EQ(transport(server.url(), options)->text("file", 10).error().kind, ErrorKind::interrupted);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CurlTransportTest, error_of_the_sink_is_returned_as_it_is) {
  const LoopbackServer server(always(reply(200, "0123456789")));
  const Sink sink = [](std::string_view) -> Result<void> { return fail(ErrorKind::filesystem, "disk full", "df"); };
  const auto done = transport(server.url(), quick(3))->stream("file", 10, sink, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(done.error().message, "disk full");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CurlTransportTest, exception_in_a_callback_does_not_cross_libcurl) {
  const LoopbackServer server(always(reply(200, "0123456789")));
  const Sink throwing = [](std::string_view) -> Result<void> { throw std::runtime_error("sink"); };
  EXPECT_EQ(transport(server.url())->stream("file", 10, throwing, {}).error().kind, ErrorKind::internal);
  EXPECT_EQ(stream(*transport(server.url()), 10, [](std::uint64_t) -> bool { throw 1; }).error().kind, ErrorKind::internal);
}

TEST_F(CurlTransportTest, can_be_used_again_after_every_kind_of_end) {
  const LoopbackServer server([answers = std::vector<Reply>{reply(200, "0123456789"), reply(404, "no"), {""},
                                                            reply(200, "0123456789")},
                               next = std::size_t{0}](const std::string&) mutable { return answers.at(next++); });
  const auto web = transport(server.url());
  EXPECT_EQ(stream(*web, 10, [](std::uint64_t received) { return received == 0; }).error().kind, ErrorKind::interrupted);
  EXPECT_EQ(stream(*web, 10).error().kind, ErrorKind::not_found);
  EXPECT_EQ(stream(*web, 10).error().kind, ErrorKind::network);
  EXPECT_TRUE(stream(*web, 10));
  EXPECT_EQ(m_received, "0123456789");
}

TEST_F(CurlTransportTest, index_lists_what_the_page_links_to) {
  const LoopbackServer server(always(reply(200, "<a href=\"../\">..</a><a href='redistrib_12.4.1.json'>x</a>")));
  EXPECT_EQ(transport(server.url() + "cuda")->index(), std::vector<std::string>{"redistrib_12.4.1.json"});
  EXPECT_EQ(first_line(server.requests().at(0)), "GET /cuda/ HTTP/1.1");
}

}  // namespace
}  // namespace cudaenv::redist
