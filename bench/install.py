#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `cudaenv install` costs, against the usual way, uv and what it cannot be faster than.

    install.py [CUDAENV] [--quick] [--rounds N] [--slow-rounds N] [--links MB,MB] [--preset N] [--directory DIR]

The mirror (install_mirror.py) is of NVIDIA's wheels and served by a process of its own. In each round every variant has one
turn, in random order, in fresh directories, after a sync. Exit status 1 if a goal is missed.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

import install_mirror  # also finds what is below

import components as parts
import redist
import wheels

FIRST, SECOND = install_mirror.RELEASES
SERVER = install_mirror.SUPPORT / "http_server.py"
MB = 1_000_000
USUAL_WAY = """
set -eu
mkdir prefix
while read -r url digest; do
  curl -fsSO "$url"
  echo "$digest  ${url##*/}" | sha256sum -c --quiet
  tar -xJf "${url##*/}" -C prefix --strip-components=1
done
"""
DECODE = 'xargs -P "$(nproc)" -n 1 sh -c \'xz -dc "$0" >/dev/null\''


@dataclass
class Turn:
    seconds: float
    peak: int  # bytes, of the largest process


class Watcher(threading.Thread):
    """The most memory that a process or one below it has had. Not from wait4: that counts what the process was before its exec,
    which is this one."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak, self.ended = process, 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.05):
            self.look(self.process)

    def look(self, process):
        try:
            status = Path(f"/proc/{process}/status").read_text()
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        except OSError:
            return  # it has ended
        had = re.search(r"VmHWM:\s*(\d+) kB", status)
        self.peak = max(self.peak, int(had[1]) * 1024 if had else 0)
        for child in children:
            self.look(child)


def timed(command, cwd, environment, text=""):
    """Runs a command that must succeed."""
    os.sync()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as lines:
        lines.write(text)
        lines.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), cwd=cwd, env=environment, stdin=lines, stdout=output, stderr=output)
        watcher = Watcher(process.pid)
        watcher.start()
        process.wait()
        seconds = time.perf_counter() - start
        watcher.ended.set()
        watcher.join()
        if process.returncode != 0:
            output.seek(0)
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {output.read()[-2000:]}")
    return Turn(seconds, watcher.peak)


class Server:
    """The mirror at so many bytes a second, 0 for as many as there can be."""

    def __init__(self, mirror, scratch, rate=0):
        self.log, port = scratch / f"log-{rate}", scratch / f"port-{rate}"
        self.log.touch()
        self.process = subprocess.Popen([sys.executable, "-B", SERVER, mirror, "--port-file", port, "--log", self.log, "--rate",
                                         str(rate)])
        while not port.exists():
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{port.read_text().strip()}"

    def sent(self):
        """Bytes of archives so far. A line is written once an answer has ended, so a moment after its last byte."""
        time.sleep(0.2)
        return sum(int(line.split()[-1]) for line in self.log.read_text().splitlines() if "-archive." in line)

    def close(self):
        self.process.terminate()
        self.process.wait()


class Place:
    """A fresh home and root for one turn."""

    def __init__(self, bench):
        self.top = Path(tempfile.mkdtemp(dir=bench.scratch))
        self.root = self.top / "root"
        self.program = bench.program
        self.environment = {
            "HOME": str(self.top), "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "CUDAENV_ROOT": str(self.root),
            "CUDAENV_SHARED_ROOT": "", "CUDAENV_ACCEPT_MANIFEST": "any", "CUDAENV_OVERRIDE_DRIVER": "620.70.06",
            "CUDAENV_OVERRIDE_GPUS": "8.6", "UV_CACHE_DIR": str(self.top / "uv-cache")}

    def run(self, *command, text=""):
        return timed(command, self.top, self.environment, text)

    def install(self, server, release, *options):
        return self.run(self.program, "install", release, "--mirror", server.url, *options)

    def disk_usage(self):
        """Bytes that the root takes on disk; what has several names is counted once."""
        inodes = {}
        for parent, _, files in os.walk(self.root):
            for name in files:
                info = os.lstat(os.path.join(parent, name))
                inodes[info.st_ino] = info.st_blocks * 512
        return sum(inodes.values())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.top)


def find_uv():
    """The program, or why there is none."""
    found = shutil.which("uv")
    if found:
        return found, ""
    place = wheels.cache().parent / "uv"
    for command in ([sys.executable, "-m", "venv", place], [place / "bin/pip", "install", "--quiet", "uv"]):
        if (place / "bin/uv").exists():
            break
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return place / "bin/uv", ""


class Bench:
    def __init__(self, options, scratch):
        self.program, self.scratch, self.options = Path(options.program).resolve(), scratch, options
        self.mirror = install_mirror.make(options.quick, options.preset)
        self.turns, self.facts, self.failed = {}, {}, {}
        self.links = {rate: Server(self.mirror, scratch, int(rate * MB)) for rate in options.links}
        self.server = Server(self.mirror, scratch)
        self.uv, self.no_uv = find_uv()
        self.tree = scratch / "tree"
        self.learn()

    def learn(self):
        """What an install of the release consists of, which all others then fetch as well."""
        with Place(self) as place:
            place.install(self.server, SECOND)
            (place.root / "versions" / SECOND).rename(self.tree)
        receipt = json.loads((self.tree / "receipt.json").read_text())
        self.archives = {one["archive"]: (one["archive_sha256"], one["archive_size"]) for one in receipt["components"]}
        self.names = {one["name"]: one["version"] for one in receipt["components"]}
        self.size = sum(size for _, size in self.archives.values())
        self.unpacked = sum(file.get("size", 0) for file in receipt["files"])
        first = install_mirror.archives(redist.read_manifest(self.mirror, FIRST))
        shared = {entry["sha256"] for entry in first.values()}
        self.new = sum(size for digest, size in self.archives.values() if digest not in shared)

    def wheel_requirements(self):
        pins = wheels.pinned(SECOND)
        return [wheels.fetch(info.wheel, pins[info.wheel]).name.split("-")[0] + f"=={pins[info.wheel]}.*"
                for name, info in parts.COMPONENTS.items()
                if info.wheel in pins and parts.name_in(SECOND, name) in self.names]

    # The variants. Each makes one turn.

    def cold(self):
        with Place(self) as place:
            return place.install(self.server, SECOND)

    def usual(self):
        lines = "".join(f"{self.server.url}/{path} {digest}\n" for path, (digest, _) in self.archives.items())
        with Place(self) as place:
            return place.run("bash", "-c", USUAL_WAY, text=lines)

    def wheels(self):
        with Place(self) as place:
            return place.run(self.uv, "pip", "install", "--quiet", "--no-index", "--no-deps", "--python", sys.executable,
                             "--find-links", wheels.cache(), "--target", place.top / "target", *self.wheel_requirements())

    def decode(self):
        with Place(self) as place:
            return place.run("sh", "-c", DECODE, text="".join(f"{self.mirror / path}\n" for path in self.largest_first()))

    def largest_first(self):
        return sorted(self.archives, key=lambda path: -self.archives[path][1])

    def copy(self):
        with Place(self) as place:
            return place.run("cp", "-r", self.tree, place.top / "copy")

    def bare(self, rate):
        addresses = [word for path in self.archives for word in ("-o", "/dev/null", f"{self.links[rate].url}/{path}")]
        with Place(self) as place:
            return place.run("curl", "-fsS", *addresses)

    def over_link(self, rate):
        with Place(self) as place:
            return place.install(self.links[rate], SECOND)

    def second(self):
        with Place(self) as place:
            place.install(self.server, FIRST)
            sent, used = self.server.sent(), place.disk_usage()
            turn = place.install(self.server, SECOND)
            self.facts["fetched"], self.facts["written"] = self.server.sent() - sent, place.disk_usage() - used
            return turn

    def repeat(self):
        with Place(self) as place:
            place.install(self.server, SECOND)
            return place.install(self.server, SECOND)

    def force(self):
        with Place(self) as place:
            place.run(self.program, "config", "set", "install.keep_archives", "true")
            place.install(self.server, SECOND)
            sent = self.server.sent()
            turn = place.install(self.server, SECOND, "--force")
            self.facts["fetched again"] = self.server.sent() - sent
            return turn

    def variants(self):
        uv = {"uv": self.wheels} if self.uv else {}
        return {"cudaenv": self.cold, "usual way": self.usual, **uv, "xz -dc": self.decode, "cp -r": self.copy,
                "second release": self.second, "repeat": self.repeat, "--force": self.force}

    def measure(self):
        rounds = [self.variants()] * self.options.rounds
        for rate in self.links:
            over = {f"cudaenv, {rate:g} MB/s": lambda rate=rate: self.over_link(rate),
                    f"curl, {rate:g} MB/s": lambda rate=rate: self.bare(rate)}
            rounds += [over] * self.options.slow_rounds
        self.order = list(dict.fromkeys(name for variants in rounds for name in variants))
        for number, variants in enumerate(rounds, 1):
            for name, turn in random.sample(sorted(variants.items()), len(variants)):
                print(f"round {number} of {len(rounds)}: {name}", file=sys.stderr)
                try:
                    made = turn()
                    self.turns.setdefault(name, []).append(made)
                except RuntimeError as error:
                    self.failed[name] = str(error)

    def close(self):
        for server in [self.server, *self.links.values()]:
            server.close()

    # What came of it.

    def has(self, *names):
        return all(name in self.turns and name not in self.failed for name in names)

    def seconds(self, name):
        return statistics.median(turn.seconds for turn in self.turns[name])

    def ratio(self, name, *others):
        """Of the times in one round, the median of the rounds."""
        rounds = zip(self.turns[name], *(self.turns[other] for other in others))
        return statistics.median(own.seconds / sum(turn.seconds for turn in rest) for own, *rest in rounds)

    def rows(self):
        """Name, seconds, the time of the install as a multiple of this, peak."""
        for name in self.order:
            over = re.search(r"[\d.]+ MB/s", name)
            install = f"cudaenv, {over[0]}" if over else "cudaenv"
            if self.has(name, install):
                yield name, self.seconds(name), self.ratio(install, name), max(turn.peak for turn in self.turns[name])
        if self.has("xz -dc", "cp -r"):
            yield "floor: xz -dc, then cp -r", self.seconds("xz -dc") + self.seconds("cp -r"), self.ratio(
                "cudaenv", "xz -dc", "cp -r"), 0

    def goals(self):
        """Each goal, and whether it is met."""
        if self.has("cudaenv", "usual way"):
            yield "1.8 times as fast as the usual way", self.ratio("usual way", "cudaenv") >= 1.8
        if self.has("cudaenv", "xz -dc", "cp -r"):
            yield "1.25 times the floor", self.ratio("cudaenv", "xz -dc", "cp -r") <= 1.25
        slow = min(self.links, default=0)
        if self.has(f"cudaenv, {slow:g} MB/s", f"curl, {slow:g} MB/s"):
            yield f"1.05 times curl at {slow:g} MB/s", self.ratio(f"cudaenv, {slow:g} MB/s", f"curl, {slow:g} MB/s") <= 1.05
        if "fetched" in self.facts:
            yield "a second release fetches only what differs", self.facts["fetched"] <= self.new


def server_speed(bench):
    """Bytes a second of the server, so that nobody measures it in place of the client."""
    largest = bench.largest_first()[0]
    with Place(bench) as place:
        turn = place.run("curl", "-fsS", *["-o", "/dev/null", f"{bench.server.url}/{largest}"] * 8)
    return 8 * bench.archives[largest][1] / turn.seconds


def report(bench):
    print(f"{SECOND}: {len(bench.archives)} archives, {bench.size / MB:.0f} MB (xz -{bench.options.preset}), "
          f"{bench.unpacked / MB:.0f} MB unpacked; {os.cpu_count()} cores; the server gives {server_speed(bench) / 1e9:.1f} GB/s\n")
    print("| variant | median s | install / this | peak MiB |\n| --- | --- | --- | --- |")
    for name, seconds, ratio, peak in bench.rows():
        print(f"| {name} | {seconds:.2f} | {ratio:.2f} | {f'{peak / (1 << 20):.0f}' if peak else '-'} |")
    if "fetched" in bench.facts:
        print(f"\n{SECOND} beside {FIRST}: {bench.facts['fetched'] / MB:.1f} MB fetched, of {bench.new / MB:.1f} MB that differ; "
              f"{bench.facts['written'] / MB:.1f} MB more on disk")
    if "fetched again" in bench.facts:
        print(f"--force with kept archives: {bench.facts['fetched again'] / MB:.1f} MB fetched")
    if not bench.uv:
        print(f"uv is not to be had: {bench.no_uv}")
    for name, reason in bench.failed.items():
        print(f"failed: {name}: {reason}")
    missed = [goal for goal, is_met in bench.goals() if not is_met]
    for goal in missed:
        print("missed:", goal)
    return 1 if missed or bench.failed else 0


def main():
    build = Path(os.environ.get("CUDAENV_BUILD") or Path(__file__).resolve().parents[1] / "build")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="CUDAENV", nargs="?", default=build / "bin/cudaenv")
    parser.add_argument("--quick", action="store_true", help="a small mirror, one round")
    parser.add_argument("--rounds", metavar="N", type=int, default=0, help="default 5")
    parser.add_argument("--slow-rounds", metavar="N", type=int, default=0, help="rounds over links, default 3")
    parser.add_argument("--links", metavar="MB,MB", default="20,5", help="megabytes a second")
    parser.add_argument("--preset", metavar="N", type=int, default=6, help="of xz, for a mirror that is not made yet")
    parser.add_argument("--directory", metavar="DIR", help="where to install to, default $TMPDIR")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.slow_rounds = options.slow_rounds or (1 if options.quick else 3)
    options.links = [float(word) for word in options.links.split(",") if word]
    with tempfile.TemporaryDirectory(prefix="bench.", dir=options.directory) as scratch:
        bench = Bench(options, Path(scratch).resolve())
        try:
            bench.measure()
            return report(bench)
        finally:
            bench.close()


if __name__ == "__main__":
    sys.exit(main())
