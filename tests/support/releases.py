# SPDX-License-Identifier: Apache-2.0
"""What the project's registry says of a release: read without a TOML library, which Python 3.9 lacks."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Optional

from redist import numbers

REGISTRY = Path(__file__).resolve().parents[2] / "registry" / "releases.toml"
ROW = re.compile(r"\s*\{\s*release\s*=.*\}")  # one release a line, as an inline table
PAIR = re.compile(r'\b(release|date|driver|nvcc|cudart)\s*=\s*"([^"]*)"')


@dataclass
class Facts:
    release: str
    date: str = ""
    driver: str = ""
    nvcc: str = ""
    cudart: str = ""


def read(registry: Optional[Path] = None) -> Dict[str, Facts]:
    """Facts by release. Empty where there is no registry."""
    path = registry or REGISTRY
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [Facts(**dict(PAIR.findall(line))) for line in lines if ROW.match(line)]
    return {facts.release: facts for facts in rows}


def known(release: str, registry: Optional[Path] = None) -> Facts:
    """Facts of a release, with plausible numbers in place of those the registry lacks."""
    facts = read(registry).get(release, Facts(release))
    major, minor, update = numbers(release)
    build = f"{major}.{minor}.{48 + 20 * update}"
    driver = facts.driver or str(450 + 10 * minor if major == 11 else 525 if major == 12 else 620)
    if "." not in driver:
        driver += f".{10 + minor}.0{update}"
    return Facts(release, facts.date or "2026-01-01", driver, facts.nvcc or build, facts.cudart or build)


def of_compiler(nvcc: str, cudart: str = "", registry: Optional[Path] = None) -> str:
    """The newest release with that nvcc (and that runtime, where known); "" if none is listed."""
    fits = [
        facts.release
        for facts in read(registry).values()
        if facts.nvcc == nvcc and (not cudart or facts.cudart == cudart)
    ]
    return max(fits, key=numbers, default="")
