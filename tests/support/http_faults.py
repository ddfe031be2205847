# SPDX-License-Identifier: Apache-2.0
"""Which faults meet a request: the rules of http_server.py, where the kinds are described."""

import fnmatch
import random
import re
import threading
from pathlib import Path
from typing import Dict, List

KIND = re.compile(  # kind:argument@limit
    r"([45]\d\d(?:html)?|html200|redirect|close|late|auth|truncate|reset|stall|slow|swap|extra|length|chunked|gzip|encoding"
    r"|norange|badrange|partial|noetag|weaketag|novalidators|newetag|mixed|random)(?::(.*?))?(?:@(\d+))?")
NEEDS_NUMBER = {"truncate", "reset", "slow", "length", "partial"}
BAD_RANGES = {"shifted", "whole", "total", "unit", "none"}
AT_RANDOM = ("503", "close", "truncate", "reset", "norange", "newetag", "chunked")


def is_wrong(kind: str, argument: str) -> bool:
    if kind in NEEDS_NUMBER and not re.fullmatch(r"[+-]?\d+", argument):
        return True
    return kind == "badrange" and argument not in BAD_RANGES


class Faults:
    def __init__(self, directory: Path, rules: List[str]):
        self.file = directory / ".faults"
        self.rules = [rule.replace("=", " ", 1) for rule in rules]
        self.used: Dict[str, int] = {}
        self.lock = threading.Lock()

    def of(self, path: str) -> Dict[str, str]:
        """Kinds and their arguments: {"truncate": "1000"}; empty for a request that goes well."""
        lines = [(line, "") for line in self.rules]
        try:
            written = str(self.file.stat().st_mtime_ns)  # lines that are written anew count anew
            lines += [(line, written) for line in self.file.read_text().splitlines()]
        except OSError:
            pass
        with self.lock:
            for line, written in lines:
                glob, *kinds = line.split() or [""]
                if kinds and fnmatch.fnmatchcase(path.lstrip("/"), glob.lstrip("/")):
                    found = self.of_line(line, kinds, written)
                    if found:
                        return found
        return {}

    def of_line(self, line: str, kinds: List[str], written: str) -> Dict[str, str]:
        found = {}
        for index, kind in enumerate(kinds):
            match = KIND.fullmatch(kind)
            if not match or is_wrong(match[1], match[2] or ""):
                return {"misspelt": line}
            name, argument, limit = match.groups()
            key = f"{written} {index} {line}"
            count = self.used.get(key, 0)
            if limit and count >= int(limit):
                continue
            self.used[key] = count + 1
            found.update(chosen(argument, count) if name == "random" else {name: argument or ""})
        return found


def chosen(seed: str, count: int) -> Dict[str, str]:
    """What meets the request of that number: nothing every second time."""
    generator = random.Random(f"{seed} {count}")
    if generator.random() < 0.5:
        return {}
    kind = generator.choice(AT_RANDOM)
    return {kind: str(generator.randrange(1, 2_000_000)) if kind in NEEDS_NUMBER else ""}
