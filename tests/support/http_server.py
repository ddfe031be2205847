#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A download site on the loopback interface that can misbehave.

    http_server.py DIR [--port 0] [--port-file F] [--log F] [--fault 'GLOB=KIND...'] [--rate BYTES] [--parent PID]

Serves files with ranges, HEAD and directory lists. The port goes to standard output, or to --port-file once
the server listens. Each answer is a line of the log when it has ended: method, path, range (or -), status, bytes
of the body sent. --rate is how many bytes a second all connections together get. It ends on SIGTERM, or with its
parent (or the process named: a shell that starts it in $(...) gives --parent $$).

Faults are given by --fault and by lines "glob kind..." of DIR/.faults, which is read anew for each request. The
glob is compared with the path without its first slash; the first line that fits and has a kind left counts.
Kinds, each of which may end in @N, only for the first N requests that fit:

    404  503  429 ...        that status, of 400 or more; 416 only where a range was asked for
    503html ...              the same with a page instead of a short text
    503:SECONDS              with Retry-After; 503:date+SECONDS gives it as a date
    html200                  a page with status 200 in place of the file
    redirect:URL             302; %s in URL is the path
    close                    closes the connection without an answer
    late:SECONDS             begins to answer that much later
    auth:NAME:PASSWORD       401 without these
    random:SEED              for every second request or so, one of a few other kinds
  of the body
    truncate:N               promises everything, ends after N bytes
    reset:N                  the same, but resets the connection
    stall:N                  the same, but then keeps the connection open and sends nothing (N: 0 if left out)
    slow:N                   N bytes a second
    swap                     the bytes altered, the length kept
    extra                    bytes added at the end
    length:+N  length:-N     the length that is promised is too large or too small by N
    chunked                  chunks instead of a length
    gzip                     compressed, whatever was asked for
    encoding:NAME            said to be compressed, which it is not
  of ranges and what they rest on
    norange                  ignores Range
    badrange:shifted         206 from a later byte on;       badrange:whole  206 from the first byte on
    badrange:total           206 with another total length;  badrange:unit   206 without the unit
    badrange:none            206 without Content-Range
    partial:N                206 from byte N on where no range was asked for
    noetag  novalidators     no ETag; nor Last-Modified
    weaketag                 an ETag that is weak, which If-Range never fits
    newetag                  an ETag that differs each time
    mixed                    the same, but ranges are sent all the same, of other bytes

As a library: `with Server(directory) as server: ... server.url, server.requests, server.answers`.
"""

import argparse
import array
import base64
import email.utils
import fcntl
import gzip
import html
import io
import os
import re
import signal
import socket
import ssl
import struct
import sys
import termios
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO, Dict, List, Optional, Tuple

from http_faults import Faults

BLOCK = 1 << 16
LARGE_BLOCK = 16 << 20  # by sendfile
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n"
BODY_FAULTS = {"truncate", "reset", "stall", "slow", "swap", "chunked", "mixed"}


@dataclass
class Answer:
    """A request, and what became of it. `sent` grows while the body is on its way."""

    method: str
    path: str
    range: str
    status: object
    headers: Dict[str, str] = field(repr=False)  # of the request, in lower case
    etag: str = ""
    sent: int = 0
    time: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        return f"{self.method} {self.path} {self.range} {self.status}"


class Bucket:
    """Bytes a second for all who share it."""

    def __init__(self, rate: int):
        self.rate, self.next, self.lock = rate, time.monotonic(), threading.Lock()

    def wait(self, count: int) -> None:
        with self.lock:
            now = time.monotonic()
            self.next = max(self.next, now) + count / self.rate
            delay = self.next - now
        time.sleep(delay)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "cudaenv-test", ""
    disable_nagle_algorithm = True
    timeout = 60

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.current = None
        try:
            path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
            self.faults = self.server.faults.of(path)
            self.respond(path)
        finally:
            if self.current:
                self.server.log_answer(self.current)

    def respond(self, path: str) -> None:
        faults, target = self.faults, self.local(path)
        time.sleep(float(faults.get("late", 0)))
        status = next((kind for kind in faults if kind[0] in "45" and (kind[:3] != "416" or "Range" in self.headers)), None)
        if "misspelt" in faults:
            self.answer(500, f"no such fault: {faults['misspelt']}\n".encode(), {})
        elif "auth" in faults and self.headers.get("Authorization") != basic(faults["auth"]):
            self.answer(401, b"who are you?\n", {"WWW-Authenticate": 'Basic realm="test"'})
        elif "close" in faults:
            self.record("-")
            self.close_connection = True
        elif "redirect" in faults:
            self.answer(302, b"moved\n", {"Location": faults["redirect"].replace("%s", path)})
        elif status:
            self.answer_status(status, faults[status], target)
        elif "html200" in faults:
            self.answer(200, PAGE, {}, html_page=True)
        elif target and target.is_dir():
            self.answer_directory(path, target)
        elif target and target.is_file():
            self.answer_file(target)
        else:
            self.answer(404, b"not found\n", {})

    def local(self, path: str) -> Optional[Path]:
        """The file asked for; nothing outside the directory, and no name with a dot in front."""
        parts = [part for part in path.split("/") if part]
        if any(part.startswith(".") for part in parts):
            return None
        return self.server.directory.joinpath(*parts)

    def answer(self, status: int, body: bytes, headers: Dict[str, str], html_page: bool = False) -> None:
        self.record(status)
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if html_page else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
            self.current.sent += len(body)

    def answer_status(self, kind: str, argument: str, target: Optional[Path]) -> None:
        status, headers = int(kind[:3]), {}
        if argument.startswith("date+"):
            headers["Retry-After"] = email.utils.formatdate(time.time() + float(argument[5:]), usegmt=True)
        elif argument:
            headers["Retry-After"] = argument
        if status == 416 and target and target.is_file():
            headers["Content-Range"] = f"bytes */{target.stat().st_size}"
        self.answer(status, PAGE if kind.endswith("html") else b"not now\n", headers, html_page=kind.endswith("html"))

    def answer_directory(self, path: str, directory: Path) -> None:
        if not path.endswith("/"):
            return self.answer(301, b"moved\n", {"Location": urllib.parse.quote(path) + "/"})
        names = sorted(
            entry.name + "/" * entry.is_dir() for entry in directory.iterdir() if not entry.name.startswith("."))
        lines = [f"<a href='{urllib.parse.quote(name)}'>{html.escape(name)}</a><br>" for name in ["../"] + names]
        title = f"Index of {html.escape(path)}"
        page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>\n" + "\n".join(lines)
        self.answer(200, (page + "\n</body></html>\n").encode(), {}, html_page=True)

    def validators(self, info: os.stat_result) -> Tuple[str, str]:
        """ETag and Last-Modified, either of which may be empty."""
        tag = f"{info.st_size:x}-{info.st_mtime_ns:x}"
        if "newetag" in self.faults or "mixed" in self.faults:
            tag += f"-{len(self.server.answers)}"
        tag = f'W/"{tag}"' if "weaketag" in self.faults else f'"{tag}"'
        if "noetag" in self.faults or "novalidators" in self.faults:
            tag = ""
        return tag, "" if "novalidators" in self.faults else self.date_time_string(info.st_mtime)

    def requested_range(self, size: int, tag: str, date: str) -> Optional[Tuple[int, int]]:
        """First and last byte asked for; None without a (valid) range; (size, size) for one past the end."""
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        fits = condition is None or "mixed" in self.faults or condition in {tag, date} - {""} and condition[:2] != "W/"
        if not match or match[0] == "bytes=-" or not fits or "norange" in self.faults:
            return None
        if not match[1]:
            return (max(0, size - int(match[2])), size - 1) if int(match[2]) else (size, size)
        first, last = int(match[1]), min(int(match[2] or size), size - 1)
        return (first, last) if first < size else (size, size)

    def content_range(self, first: int, last: int, size: int) -> Optional[str]:
        wrong = self.faults.get("badrange") if "Range" in self.headers else None
        if wrong == "none":
            return None
        total = size + 7 if wrong == "total" else size
        return f"{'' if wrong == 'unit' else 'bytes '}{first}-{last}/{total}"

    def answer_file(self, path: Path) -> None:
        faults, info = self.faults, path.stat()
        body = io.BytesIO(gzip.compress(path.read_bytes(), 1)) if "gzip" in faults else open(path, "rb")
        with body:
            size = body.seek(0, io.SEEK_END)
            tag, date = self.validators(info)
            wanted = self.requested_range(size, tag, date)
            if wanted and wanted[0] == size:
                return self.answer(416, b"", {"Content-Range": f"bytes */{size}"})
            if wanted and faults.get("badrange") in ("shifted", "whole"):
                wanted = (min(wanted[0] + 100, wanted[1]) if faults["badrange"] == "shifted" else 0, wanted[1])
            if "partial" in faults and "Range" not in self.headers:
                wanted = (min(int(faults["partial"]), size - 1), size - 1)
            first, last = wanted or (0, size - 1)
            extra = b"more than was promised\n" if "extra" in faults else b""
            self.record(206 if wanted else 200)
            self.current.etag = tag
            self.send_response(206 if wanted else 200)
            self.send_header("Content-Type", "application/json" if path.suffix == ".json" else "application/x-xz")
            self.send_body_headers(last - first + 1 + len(extra))
            for name, value in (("Last-Modified", date), ("ETag", tag)):
                if value:
                    self.send_header(name, value)
            if "norange" not in faults:
                self.send_header("Accept-Ranges", "bytes")
            if wanted and self.content_range(first, last, size):
                self.send_header("Content-Range", self.content_range(first, last, size))
            self.end_headers()
            if self.command != "HEAD":
                self.send_part(body, first, last + 1 - first)
                self.wfile.write(extra)

    def send_body_headers(self, length: int) -> None:
        if "chunked" in self.faults:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(max(0, length + int(self.faults.get("length", 0)))))
        encoding = "gzip" if "gzip" in self.faults else self.faults.get("encoding")
        if encoding:
            self.send_header("Content-Encoding", encoding)

    def send_part(self, body: BinaryIO, first: int, length: int) -> None:
        plain = isinstance(self.connection, socket.socket) and not isinstance(self.connection, ssl.SSLSocket)
        if plain and not self.server.bucket and not BODY_FAULTS & set(self.faults) and not isinstance(body, io.BytesIO):
            for start in range(first, first + length, LARGE_BLOCK):
                self.current.sent += self.connection.sendfile(body, start, min(LARGE_BLOCK, first + length - start))
        else:
            self.send_blocks(body, first, length)
        if "length" in self.faults:
            self.close_connection = True

    def send_blocks(self, body: BinaryIO, first: int, length: int) -> None:
        faults = self.faults
        end = next((kind for kind in ("truncate", "reset", "stall") if kind in faults), None)
        left = min(length, int(faults[end] or 0)) if end else length
        slow = int(faults.get("slow", 0))
        block = max(1, min(BLOCK, slow // 10)) if slow else BLOCK
        swap = "swap" in faults or "mixed" in faults and "Range" in self.headers
        body.seek(first)
        while left > 0:
            data = body.read(min(block, left))
            if not data:
                break
            left -= len(data)
            if self.server.bucket:
                self.server.bucket.wait(len(data))
            self.send_block(bytes(255 - byte for byte in data) if swap else data)
            if slow:
                time.sleep(0.1)
        if end:
            self.break_off(end)
        elif "chunked" in faults:
            self.wfile.write(b"0\r\n\r\n")

    def send_block(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if "chunked" in self.faults else data)
        self.current.sent += len(data)

    def break_off(self, kind: str) -> None:
        self.close_connection = True
        if kind == "stall":
            self.connection.settimeout(None)
            self.connection.recv(1)  # until the client gives up, or the server ends
        elif kind == "reset":
            self.wait_until_received()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())

    def wait_until_received(self) -> None:
        """Until the other side's system has all bytes, as a reset throws away what is still here."""
        queued = array.array("i", [1])
        end = time.monotonic() + 5
        while queued[0] and time.monotonic() < end:
            fcntl.ioctl(self.connection, termios.TIOCOUTQ, queued)
            time.sleep(0.01)

    def record(self, status) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.current = Answer(self.command, self.path, headers.get("range", "-"), status, headers)
        self.server.record(self.current)

    def log_message(self, *arguments):
        pass


def basic(credentials: str) -> str:
    return "Basic " + base64.b64encode(credentials.encode()).decode()


class Server(ThreadingHTTPServer):
    """`tls`: the files of a certificate and of its key. `rate`: bytes a second for all connections together."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, directory, port: int = 0, log: Optional[str] = None, faults: List[str] = (),
                 tls: Optional[Tuple[str, str]] = None, rate: int = 0):
        self.directory = Path(directory).resolve()
        self.faults = Faults(self.directory, list(faults))
        self.requests: List[str] = []
        self.answers: List[Answer] = []
        self.bucket = Bucket(rate) if rate else None
        self.log = open(log, "a", encoding="utf-8") if log else None
        self.log_lock = threading.Lock()
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*tls)
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http{'s' * bool(tls)}://127.0.0.1:{self.server_port}"

    def finish_request(self, request, client_address):
        if not self.context:
            return super().finish_request(request, client_address)
        request.settimeout(Handler.timeout)
        with self.context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def record(self, answer: Answer) -> None:
        with self.log_lock:
            self.requests.append(answer.line())
            self.answers.append(answer)

    def log_answer(self, answer: Answer) -> None:
        if self.log:
            with self.log_lock:
                self.log.write(f"{answer.line()} {answer.sent}\n")
                self.log.flush()

    def handle_error(self, request, client_address):
        pass  # a client that went away is part of many tests

    def __enter__(self) -> "Server":
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *unused) -> None:
        self.shutdown()
        self.server_close()


def end_with(parent: int) -> None:
    """Ends this process once the process `parent`, at present our parent or a named one, is gone."""
    ours = os.getppid() == parent
    while True:
        time.sleep(0.2)
        try:
            os.kill(parent, 0)
        except ProcessLookupError:
            os._exit(0)
        except PermissionError:
            pass
        if ours and os.getppid() != parent:
            os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", metavar="F")
    parser.add_argument("--log", metavar="F")
    parser.add_argument("--fault", metavar="GLOB=KIND", action="append", default=[])
    parser.add_argument("--rate", metavar="BYTES", type=int, default=0)
    parser.add_argument("--parent", metavar="PID", type=int, default=os.getppid())
    options = parser.parse_args()
    if not os.path.isdir(options.directory):
        parser.error(f"{options.directory} is not a directory")
    signal.signal(signal.SIGTERM, lambda *unused: os._exit(0))
    server = Server(options.directory, options.port, options.log, options.fault, rate=options.rate)
    threading.Thread(target=end_with, args=(options.parent,), daemon=True).start()
    if options.port_file:
        partial = Path(options.port_file + ".part")
        partial.write_text(f"{server.server_port}\n")
        partial.replace(options.port_file)
    else:
        print(server.server_port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
