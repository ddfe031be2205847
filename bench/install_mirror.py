# SPDX-License-Identifier: Apache-2.0
"""The mirror that install.py measures with: two patch releases of the wheels that NVIDIA publishes, in archives packed as
NVIDIA packs them (one block of xz), kept from one run to the next."""

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "tests" / "support"
sys.path.insert(0, str(SUPPORT))

import redist
import toolkit
import wheels

RELEASES = ("13.0.1", "13.0.2")  # the first one, and the patch release after it
COMPONENTS = {True: "compile", False: "all"}


def archives(manifest):
    """The entries of a manifest that are archives, by component."""
    return {name: component[toolkit.host_platform()] for name, component in manifest.items()
            if isinstance(component, dict) and toolkit.host_platform() in component}


def unpacked_size(component):
    return sum(entry.size() for tree in component.platforms.values() for entry in tree.values() if hasattr(entry, "size"))


class Known:
    """Manifest entries of what is packed already, by component and version; also of a run that was ended."""

    def __init__(self, file):
        self.file, self.lock = file, threading.Lock()
        self.entries = json.loads(file.read_text()) if file.exists() else {}

    def add(self, key, entry):
        with self.lock:
            self.entries[key] = entry
            partial = self.file.with_suffix(".part")
            partial.write_text(json.dumps(self.entries))
            partial.replace(self.file)


def write(release, base, preset, known):
    """Writes a release, of which no component that is known is packed a second time."""
    def entry_of(name):
        key = f"{name} {release.components[name].version}"
        if key not in known.entries:
            known.add(key, release.write_component(base, name, release.components[name], preset, threads=1))
        return known.entries[key]

    largest_first = sorted(release.components, key=lambda name: -unpacked_size(release.components[name]))
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        entries = dict(zip(largest_first, workers.map(entry_of, largest_first)))
    head = {"release_date": release.date, "release_label": release.version, "release_product": release.product}
    redist.write_manifest(base, release.version, {**head, **entries})


def make(quick, preset):
    """The directory. The first call takes minutes of downloads and many more of packing; where it was ended, the next goes on."""
    kept = wheels.cache().parent / f"bench-{'quick' if quick else 'all'}-{preset}"
    if not kept.is_dir():
        partial = kept.with_name(f"{kept.name}.part")
        partial.mkdir(exist_ok=True)
        known = Known(partial / ".known.json")
        for version in RELEASES:
            with wheels.unpacked(version, COMPONENTS[quick], None) as release:
                write(release, partial, preset, known)
        partial.rename(kept)
    return kept
