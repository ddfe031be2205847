#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A download site on the loopback interface that can misbehave.

    http_server.py DIR [--port 0] [--port-file F] [--log F] [--fault 'GLOB=KIND']... [--parent PID]

Serves files with ranges, HEAD and directory lists. The port goes to standard output, or to --port-file once
the server listens. Each answered request is a line of the log: method, path, range (or -), status. It ends
on SIGTERM, or with its parent (or the process named: a shell that starts it in $(...) gives --parent $$).

Faults are given by --fault and by lines "glob kind" of DIR/.faults, which is read anew for each request. The
glob is compared with the path without its first slash; the first line that fits counts. Kinds, each of which
may end in @N: only for the first N requests that fit.

    404  503  html200        that status; html200 is a page with status 200 in place of the file
    404html                  404 with a page instead of a short text
    503:SECONDS              503 with Retry-After
    redirect:URL             302; %s in URL is the path
    truncate:N               promises everything, ends after N bytes
    stall:N                  the same, but then keeps the connection open and sends nothing (N: 0 if left out)
    slow:N                   N bytes a second
    swap                     the bytes altered, the length kept
    extra                    bytes added at the end
    norange                  ignores Range
    close                    closes the connection without an answer

As a library: `with Server(directory) as server: ... server.url, server.requests`.
"""

import argparse
import fnmatch
import html
import os
import re
import signal
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Dict, List, Optional, Tuple

BLOCK = 1 << 16
KIND = re.compile(  # kind:argument@limit
    r"(404|404html|503|html200|redirect|truncate|stall|slow|swap|extra|norange|close)(?::(.*?))?(?:@(\d+))?")
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n"


class Faults:
    """Which fault, if any, meets a request."""

    def __init__(self, directory: Path, rules: List[str]):
        self.file = directory / ".faults"
        self.rules = [rule.replace("=", " ", 1) for rule in rules]
        self.used: Dict[str, int] = {}
        self.lock = threading.Lock()

    def of(self, path: str) -> Tuple[str, str]:
        """Kind and argument: ("truncate", "1000"), or ("", "")."""
        try:
            lines = self.rules + self.file.read_text().splitlines()
        except OSError:
            lines = self.rules
        with self.lock:
            for line in lines:
                words = line.split(None, 1)
                if len(words) != 2 or not fnmatch.fnmatchcase(path.lstrip("/"), words[0].lstrip("/")):
                    continue
                match = KIND.fullmatch(words[1].strip())
                if not match:
                    return "misspelt", line
                name, argument, limit = match.groups()
                used = self.used.get(line, 0)
                if limit and used >= int(limit):
                    continue
                self.used[line] = used + 1
                return name, argument or ""
        return "", ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "cudaenv-test", ""
    disable_nagle_algorithm = True
    timeout = 60

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        kind, argument = self.server.faults.of(path)
        target = self.local(path)
        if kind == "misspelt":
            self.answer(500, f"no such fault: {argument}\n".encode(), {})
        elif kind == "close":
            self.record("-")
            self.close_connection = True
        elif kind == "redirect":
            self.answer(302, b"moved\n", {"Location": argument.replace("%s", path)})
        elif kind in ("404", "404html"):
            self.answer(404, PAGE if kind == "404html" else b"not found\n", {}, html_page=kind == "404html")
        elif kind == "503":
            self.answer(503, b"try later\n", {"Retry-After": argument} if argument else {})
        elif kind == "html200":
            self.answer(200, PAGE, {}, html_page=True)
        elif target and target.is_dir():
            self.answer_directory(path, target)
        elif target and target.is_file():
            self.answer_file(target, kind, int(argument or 0))
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

    def answer_directory(self, path: str, directory: Path) -> None:
        if not path.endswith("/"):
            return self.answer(301, b"moved\n", {"Location": urllib.parse.quote(path) + "/"})
        names = sorted(
            entry.name + "/" * entry.is_dir() for entry in directory.iterdir() if not entry.name.startswith("."))
        lines = [f"<a href='{urllib.parse.quote(name)}'>{html.escape(name)}</a><br>" for name in ["../"] + names]
        title = f"Index of {html.escape(path)}"
        page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>\n" + "\n".join(lines)
        self.answer(200, (page + "\n</body></html>\n").encode(), {}, html_page=True)

    def requested_range(self, size: int, tag: str) -> Optional[Tuple[int, int]]:
        """First and last byte asked for; None without a (valid) range; (size, size) for one past the end."""
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not match or match[0] == "bytes=-" or self.headers.get("If-Range", tag) != tag:
            return None
        if not match[1]:
            return (max(0, size - int(match[2])), size - 1) if int(match[2]) else (size, size)
        first, last = int(match[1]), min(int(match[2] or size), size - 1)
        return (first, last) if first < size else (size, size)

    def answer_file(self, path: Path, kind: str, argument: int) -> None:
        info = path.stat()
        tag = f'"{info.st_size:x}-{info.st_mtime_ns:x}"'
        wanted = None if kind == "norange" else self.requested_range(info.st_size, tag)
        if wanted and wanted[0] == info.st_size:
            return self.answer(416, b"", {"Content-Range": f"bytes */{info.st_size}"})
        first, last = wanted or (0, info.st_size - 1)
        extra = b"more than was promised\n" if kind == "extra" else b""
        self.record(206 if wanted else 200)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Type", "application/json" if path.suffix == ".json" else "application/x-xz")
        self.send_header("Content-Length", str(last - first + 1 + len(extra)))
        self.send_header("Last-Modified", self.date_time_string(info.st_mtime))
        self.send_header("ETag", tag)
        if kind != "norange":
            self.send_header("Accept-Ranges", "bytes")
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{info.st_size}")
        self.end_headers()
        if self.command != "HEAD":
            self.send_part(path, first, last + 1 - first, kind, argument)
            self.wfile.write(extra)

    def send_part(self, path: Path, first: int, length: int, kind: str, argument: int) -> None:
        left = min(length, argument) if kind in ("truncate", "stall") else length
        block = max(1, min(BLOCK, argument // 10)) if kind == "slow" else BLOCK
        with open(path, "rb") as file:
            file.seek(first)
            while left > 0:
                data = file.read(min(block, left))
                if not data:
                    break
                left -= len(data)
                self.wfile.write(bytes(255 - byte for byte in data) if kind == "swap" else data)
                if kind == "slow":
                    self.wfile.flush()
                    time.sleep(0.1)
        if kind == "stall":
            self.wfile.flush()
            self.connection.settimeout(None)
            self.connection.recv(1)  # until the client gives up, or the server ends
        if kind in ("truncate", "stall"):
            self.close_connection = True

    def record(self, status) -> None:
        line = f"{self.command} {self.path} {self.headers.get('Range', '-')} {status}"
        self.server.record(line)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, directory, port: int = 0, log: Optional[str] = None, faults: List[str] = ()):
        self.directory = Path(directory).resolve()
        self.faults = Faults(self.directory, list(faults))
        self.requests: List[str] = []
        self.log = open(log, "a", encoding="utf-8") if log else None
        self.log_lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def record(self, line: str) -> None:
        with self.log_lock:
            self.requests.append(line)
            if self.log:
                self.log.write(line + "\n")
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
    parser.add_argument("--parent", metavar="PID", type=int, default=os.getppid())
    options = parser.parse_args()
    if not os.path.isdir(options.directory):
        parser.error(f"{options.directory} is not a directory")
    signal.signal(signal.SIGTERM, lambda *unused: os._exit(0))
    server = Server(options.directory, options.port, options.log, options.fault)
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
