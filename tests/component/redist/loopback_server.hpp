// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/fd.hpp"

namespace cudaenv::test {

// What the server does with one connection.
struct Reply {
  enum class Then { close, hold, reset };  // hold: say nothing more until the client goes
  std::string bytes;
  Then then = Then::close;
};

inline Reply reply(int status, std::string_view body, std::string_view headers = "") {
  return {"HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\nConnection: close\r\n" + std::string(headers) + "\r\n" + std::string(body)};
}
inline Reply redirect(std::string_view target, std::string_view body = "moved") {
  return reply(302, body, "Location: " + std::string(target) + "\r\n");
}
// A body without an announced length, one chunk for each piece.
inline Reply chunked(const std::vector<std::string>& pieces) {
  std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  for (const std::string& piece : pieces) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    bytes += size + piece + "\r\n";
  }
  return {bytes + "0\r\n\r\n"};
}

// An HTTP server on 127.0.0.1: one thread, one request a connection, and the test decides on every byte.
class LoopbackServer {
 public:
  // `request` is the request's head as it came.
  using Answer = std::function<Reply(const std::string& request)>;

  explicit LoopbackServer(Answer answer) : m_answer(std::move(answer)), m_listener(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(*m_listener, generic, size), 0);
    EXPECT_EQ(::listen(*m_listener, 16), 0);
    EXPECT_EQ(::getsockname(*m_listener, generic, &size), 0);
    m_port = ntohs(address.sin_port);
    m_thread = std::thread([this] { serve(); });
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer() { stop(); }

  // From then on connections are refused.
  void stop() {
    m_stops = true;
    if (m_thread.joinable()) m_thread.join();
    m_listener.reset();
  }

  std::string host() const { return "127.0.0.1:" + std::to_string(m_port); }
  std::string url() const { return "http://" + host() + "/"; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(m_mutex);
    return m_requests;
  }

 private:
  static bool is_readable(int fd) {
    pollfd wait{fd, POLLIN, 0};
    return ::poll(&wait, 1, 10) > 0;
  }

  void serve() {
    while (!m_stops) {
      if (!is_readable(*m_listener)) continue;
      const base::Fd client(::accept(*m_listener, nullptr, nullptr));
      if (client) converse(client);
    }
  }

  void converse(const base::Fd& client) {
    std::string request;
    while (!m_stops && request.find("\r\n\r\n") == request.npos) {
      char bytes[4096];
      if (!is_readable(*client)) continue;
      const ssize_t got = ::recv(*client, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      request.append(bytes, static_cast<std::size_t>(got));
    }
    {
      const std::lock_guard lock(m_mutex);
      m_requests.push_back(request);
    }
    const Reply answer = m_answer(request);
    std::string_view left = answer.bytes;
    while (!left.empty()) {
      const ssize_t put = ::send(*client, left.data(), left.size(), MSG_NOSIGNAL);
      if (put <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(put));
    }
    if (answer.then == Reply::Then::hold)
      while (!m_stops && !is_readable(*client)) {
      }
    if (answer.then == Reply::Then::reset) {
      const linger at_once{1, 0};
      ::setsockopt(*client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
  }

  Answer m_answer;
  base::Fd m_listener;
  int m_port = 0;
  std::atomic<bool> m_stops = false;
  mutable std::mutex m_mutex;
  std::vector<std::string> m_requests;
  std::thread m_thread;
};

}  // namespace cudaenv::test
