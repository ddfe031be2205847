# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy on the loopback interface: CONNECT, and GET of whole addresses.

    with Proxy(credentials="name:password", hosts={"cuda.example.test": server.server_port}) as proxy: ... proxy.requests

It reaches this machine only. `hosts` says on which port a host of another name is to be found here, whatever port was
asked for. Each request is noted as method and target; with credentials, those without them are answered with 407.
"""

import contextlib
import http.client
import select
import socket
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Dict, List, Optional, Tuple

from http_server import basic

HOP_BY_HOP = ("connection", "proxy-connection", "proxy-authorization", "keep-alive", "te")
LOCAL = ("127.0.0.1", "localhost")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def refuse(self, status: int, headers: Optional[Dict[str, str]] = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": "0", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def is_let_in(self) -> bool:
        self.server.requests.append(f"{self.command} {self.path}")
        wanted = self.server.credentials
        if not wanted or self.headers.get("Proxy-Authorization") == basic(wanted):
            return True
        self.refuse(407, {"Proxy-Authenticate": 'Basic realm="proxy"'})
        return False

    def place(self, host: str, port: int) -> Tuple[str, int]:
        if host in LOCAL:
            return "127.0.0.1", port
        if host in self.server.hosts:
            return "127.0.0.1", self.server.hosts[host]
        raise OSError(f"{host} is nowhere")

    def do_CONNECT(self):
        if not self.is_let_in():
            return
        host, _, port = self.path.rpartition(":")
        try:
            other = socket.create_connection(self.place(host, int(port)), timeout=10)
        except OSError:
            return self.refuse(502)
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        with other:
            self.relay(other)

    def relay(self, other: socket.socket) -> None:
        ends = {self.connection: other, other: self.connection}
        while True:
            for end in select.select(list(ends), [], [], 60)[0]:
                data = end.recv(1 << 16)
                if not data:
                    return
                ends[end].sendall(data)

    def do_GET(self):
        if not self.is_let_in():
            return
        url = urllib.parse.urlsplit(self.path)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        try:
            place = self.place(url.hostname or "", url.port or 80)
        except OSError:
            return self.refuse(502)
        with contextlib.closing(http.client.HTTPConnection(*place, timeout=60)) as upstream:
            upstream.request("GET", urllib.parse.urlunsplit(("", "") + url[2:]), headers=headers)
            answer = upstream.getresponse()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                self.send_header(name, value)
            self.end_headers()
            for data in iter(lambda: answer.read(1 << 16), b""):
                self.wfile.write(data)

    def log_message(self, *arguments):
        pass


class Proxy(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, credentials: str = "", hosts: Optional[Dict[str, int]] = None):
        self.credentials, self.hosts = credentials, dict(hosts or {})
        self.requests: List[str] = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *unused) -> None:
        self.shutdown()
        self.server_close()
