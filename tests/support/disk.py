# SPDX-License-Identifier: Apache-2.0
"""What the tests of disks and of system calls that fail stand on: a root on a disk of its own, and libc with other functions."""

import os
import shlex
import shutil
import subprocess

from support.mirror import MirrorTest
from support.sandbox import PROGRAM

IS_ROOT = os.geteuid() == 0
NAMESPACE = ["unshare", "-m"] if IS_ROOT else ["unshare", "-rm"]


def cannot_mount():
    """Why there is no mount namespace to be had; empty if there is."""
    if not shutil.which("unshare"):
        return "there is no unshare program"
    probe = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True)
    return probe.stderr.strip()


class DiskTest(MirrorTest):
    RELEASES = ("12.8.0", "12.8.1")

    def on_disk(self, options, *arguments, env=None, prepare="true"):
        """Runs the program with its root on a small disk of its own. Result, and what it leaves on the disk."""
        refused = cannot_mount()
        if refused:
            self.skipTest(f"nothing can be mounted here: {refused}")
        root, left = shlex.quote(str(self.box.root)), self.box.top / "left"
        command = shlex.join(map(str, (PROGRAM, *arguments)))
        script = (f"mount -t tmpfs -o {options} tmpfs {root} || exit 99; {prepare}; {command}; status=$?; "
                  f"find {root} -mindepth 1 >{shlex.quote(str(left))}; exit $status")
        result = self.box.run(*NAMESPACE, "sh", "-c", script, text=True, env=env)
        self.assertNotEqual(result.returncode, 99, result.stderr)
        return result, left.read_text().split()

    def library(self, code):
        """A library that replaces a function of libc."""
        source = self.box.write("replaced.c", f"#define _GNU_SOURCE\n#include <errno.h>\n{code}\n")
        library = source.with_suffix(".so")
        built = self.box.run("cc", "-shared", "-fPIC", "-o", library, source)
        self.assertEqual(built.returncode, 0, built.stderr)
        return str(library)
