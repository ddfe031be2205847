#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A prompt never waits for the driver: it is asked in the background, and what it says counts at a later prompt."""

import os
import select
import shutil
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.fake_driver import FakeMachine, Gpu, NoCompiler
from support.shells import ShellTest, in_every_shell, in_shells

PROMPT_SECONDS = 3  # more than any prompt may take, and less than a driver that hangs is given
DEADLINE = 15


class DriverTest(ShellTest):
    def machine(self, driver="470.57.02", cuda=(11, 4), **options):
        """One that is too old for 12, unless told otherwise."""
        try:
            machine = FakeMachine(self.box.top / "machine", driver=driver, cuda=cuda, gpus=[Gpu("NVIDIA A10", "8.6")], **options)
        except NoCompiler as reason:
            self.skipTest(reason)
        for name in ("CUDAENV_OVERRIDE_DRIVER", "CUDAENV_OVERRIDE_GPUS"):
            del self.box.environment[name]
        self.box.environment.update(machine.environment)
        return machine

    def askers(self):
        """How many processes of the program belong to this sandbox."""
        count = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = os.fsencode(self.box.top) in (process / "environ").read_bytes()
                count += is_ours and (process / "cmdline").read_bytes().startswith(os.fsencode(self.program))
            except OSError:  # it has ended, or is somebody else's
                pass
        return count

    def wait_until(self, condition):
        deadline = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), deadline, "nothing was learnt in the background")
            select.select([], [], [], 0.02)

    def timed(self, answer):
        """The answer of a call, which must not have waited."""
        start = time.monotonic()
        value = answer()
        self.assertLess(time.monotonic() - start, PROMPT_SECONDS)
        return value

    def records(self):
        return list((self.box.runtime / "cudaenv").glob("gate-*"))


@in_every_shell
class Background(DriverTest):
    def test_a_driver_that_hangs_is_not_waited_for(self):
        machine = self.machine(calls={"cuDriverGetVersion": "hang"})
        terminal = self.start()
        for directory, toolkit in ((self.a, self.old), (self.b, self.new)):
            self.assert_quiet(self.timed(lambda: terminal.cd(directory)))
            self.assert_toolkit(terminal, toolkit)
        self.wait_until(lambda: "cuDriverGetVersion" in machine.called())
        for _ in range(10):
            self.assert_quiet(self.timed(lambda: terminal.run("")))
        self.assertEqual(machine.called().count("cuDriverGetVersion"), 1)
        self.assertLessEqual(self.askers(), 2)  # the one that asks, and its child

    def test_a_refusal_is_told_once_at_a_later_prompt(self):
        self.machine()
        terminal = self.start()
        answers = [self.timed(lambda: terminal.cd(self.a))]
        self.wait_until(self.records)
        answers += [self.timed(lambda: terminal.run("")) for _ in range(5)]
        self.assertEqual("".join(answer.output for answer in answers).count("cudaenv: "), 1, answers)
        self.assert_nothing_is_active(terminal)
        self.assert_quiet(terminal.run(""))

    def test_no_word_where_nothing_is_wrong(self):
        self.machine("620.70.06", (13, 4))
        terminal = self.start()
        self.assert_quiet(terminal.cd(self.a))
        self.wait_until(self.records)
        for _ in range(3):
            self.assert_quiet(terminal.run(""))
        self.assert_toolkit(terminal, self.old)

    def test_nothing_is_started_where_nothing_can_be_kept(self):
        machine = self.machine()
        (self.box.runtime / "cudaenv").write_text("in the way")
        place = f"/tmp/cudaenv-{os.getuid()}"
        namespace = ["unshare", "-m", "/bin/sh", "-c",
                     f'mkdir -p -m 700 {place} && mount -t tmpfs -o ro,mode=755 none {place} && exec "$@"', "sh"]
        if not shutil.which("unshare") or self.box.run(*namespace, "true").returncode != 0:
            self.skipTest("no mount namespaces here")
        terminal = self.start(prefix=namespace)
        self.assert_quiet(terminal.cd(self.a))
        self.assert_toolkit(terminal, self.old)
        for _ in range(5):
            self.assert_quiet(terminal.run(""))
        self.assertEqual(machine.called(), [])


@in_shells("bash")
class Patience(DriverTest):
    def test_what_a_driver_that_hung_leaves_to_go_by(self):
        """The kernel module alone says that it is too old."""
        self.machine(calls={"cuDriverGetVersion": "hang"})
        terminal = self.start(cwd=self.a)
        told, deadline = "", time.monotonic() + DEADLINE
        while "cudaenv: " not in told and time.monotonic() < deadline:
            select.select([], [], [], 0.2)
            told += terminal.run("").output
        for _ in range(3):
            told += terminal.run("").output
        self.assertEqual(told.count("cudaenv: "), 1, told)
        self.assert_nothing_is_active(terminal)
        self.assert_quiet(terminal.run(""))


if __name__ == "__main__":
    unittest.main()
