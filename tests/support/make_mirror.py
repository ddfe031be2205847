#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a directory that looks like NVIDIA's download site, for tests and for trying cudaenv out.

    make_mirror.py DIR --samples 11.8.0 12.4.1       small toolkits built from tests/support/sample
    make_mirror.py DIR --from-toolkit [PATH]         the CUDA toolkit that is installed here
    make_mirror.py DIR --from-wheels 13.1.1          NVIDIA's Python wheels of a release

The three may be combined, and each call adds to what DIR holds. Exit code 77, with one line that says
why: what the mirror should be made of is not to be had here (no compiler, no toolkit, no pip).
"""

import argparse
import re
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import samples
import toolkit
import wheels

SKIP = 77


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=Path)
    parser.add_argument("--samples", metavar="RELEASE", nargs="+", action="extend", default=[])
    parser.add_argument("--from-toolkit", metavar="PATH", nargs="?", const="", help="default: nvcc's on PATH")
    parser.add_argument("--from-wheels", metavar="RELEASE", action="append", default=[])
    parser.add_argument("--release", metavar="R", default="", help="what --from-toolkit calls the toolkit")
    parser.add_argument("--components", metavar="C", default="compile",
                        help="of a toolkit or wheels: minimal, compile (default), all, or names with commas")
    parser.add_argument("--preset", metavar="N", type=int, default=0, help="xz preset (default 0, the fastest)")
    parser.add_argument("--registry", metavar="FILE", type=Path, help="default: registry/releases.toml")
    options = parser.parse_args(arguments)
    if not options.samples and not options.from_wheels and options.from_toolkit is None:
        parser.error("nothing to make: give --samples, --from-toolkit or --from-wheels")
    for release in options.samples + options.from_wheels + [options.release or "1.0.0"]:
        if not re.fullmatch(r"\d+\.\d+\.\d+", release):
            parser.error(f"a release has three numbers, like 12.8.1: {release}")
    return options


def make(options):
    """Yields each release when it is ready to be written."""
    if options.samples:
        kit = samples.Kit()
        for version in dict.fromkeys(options.samples):
            yield samples.make(kit, version, options.registry)
    if options.from_toolkit is not None:
        yield toolkit.make(options.from_toolkit, options.release, options.components, options.registry)
    for version in options.from_wheels:
        with wheels.unpacked(version, options.components, options.registry) as release:
            yield release


def main() -> int:
    options = parse(sys.argv[1:])
    start = time.monotonic()
    try:
        for release in make(options):
            release.write(options.directory, options.preset)
            took, start = time.monotonic() - start, time.monotonic()
            print(f"{options.directory}: {release.version}, {len(release.components)} components, {took:.1f} s")
    except toolkit.Unavailable as reason:
        print(f"make_mirror: skipped: {reason}", file=sys.stderr)
        return SKIP
    except ValueError as error:
        print(f"make_mirror: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
