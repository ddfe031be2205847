#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a person sees of an install under way: bars on a terminal, plain lines elsewhere."""

import os
import re
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import File, MirrorTest
from support.sandbox import PROGRAM
from support.screen import Screen, ScreenProgram

TOTAL = r"total +\d+/13"


class OnATerminal(MirrorTest):
    def on_screen(self, *arguments, columns=80, rows=24, env=None):
        program = ScreenProgram([PROGRAM, "install", *arguments], {**self.box.environment, **(env or {})},
                                self.box.project, columns, rows)
        self.addCleanup(program.__exit__)
        return program

    def slow(self, size=100_000, rate=50_000):
        """A mirror from which libcublas takes two seconds."""
        self.publish("12.8.1", "libcublas", {"lib/large": File(os.urandom(size))})
        return self.serve(f"libcublas/*=slow:{rate}")

    def assert_clean(self, program, *, first, last):
        """Of the bars nothing is left, and nothing that stood before them is gone."""
        lines = program.screen.lines()
        self.assertEqual(lines[-1], "", lines)
        told = [line for line in lines if line]
        self.assertRegex(told[0], first)
        self.assertRegex(told[-1], last)
        for line in told:
            self.assertNotRegex(line, TOTAL)
            self.assertNotIn("[=", line)
        self.assertEqual(program.screen.row, len(lines) - 1)
        self.assertEqual(program.screen.column, 0)

    def test_bars_show_bytes_rate_and_time_left(self):
        self.slow()
        program = self.on_screen("12.8.1", columns=100)
        program.read_until(lambda: " left" in program.screen.text())
        frame = program.screen.lines()
        component = next(line for line in frame if line.startswith("libcublas "))
        self.assertRegex(component, r"^libcublas +\[[=-]* *\] [\d.]+ kB of 10\d\.\d kB$")
        total = next(line for line in frame if re.match(TOTAL, line))
        self.assertRegex(total, r"\[[=-]+ *\] [\d.]+ kB of [\d.]+ kB  [\d.]+ kB/s  \d+ s left$")
        self.assertEqual(component.index("["), total.index("["))
        self.assertEqual(program.finish(), 0)
        self.assert_clean(program, first="^cudaenv: ", last="to use it here")

    def test_the_amount_only_grows(self):
        self.slow()
        program = self.on_screen("12.8.1", columns=60)
        self.assertEqual(program.finish(), 0)
        bars = [bar for frame in program.frames for bar in re.findall(TOTAL + r" +\[([=-]*)( *)\]", frame)]
        seen = [len(filled) / len(filled + rest) for filled, rest in bars]
        for before, after in zip(seen, seen[1:]):
            self.assertGreater(after, before - 1 / 8)  # a cell of the shortest bar: the width may change
        self.assertGreater(len(set(seen)), 3)

    def test_a_warning_appears_above_the_bars(self):
        server = self.slow()
        server.faults.rules[:0] = ["cuda_nvcc/* 404"]
        self.box.environment["CUDAENV_MIRROR"] = f"{server.url}\n{self.mirror}"
        program = self.on_screen("12.8.1")
        program.read_until(lambda: re.search(r"warning: [^$]*total ", program.screen.text()))
        self.assertEqual(program.finish(), 0)
        self.assert_clean(program, first="^cudaenv: ", last="to use it here")
        self.assertEqual(program.screen.text().count("warning: "), 1)

    def test_narrow_terminals(self):
        for columns in (20, 24, 40):
            with self.subTest(columns=columns):
                self.slow(30_000, 60_000)
                program = self.on_screen("12.8.1", "--force", columns=columns)
                self.assertEqual(program.finish(), 0)
                drawn = re.findall(r"([^\r\n\x1b]*)\x1b\[K", re.sub(r"\x1b\[\d+A", "", program.sent))
                self.assertTrue(drawn)
                self.assertLess(max(map(len, drawn)), columns)
                self.assertNotRegex(program.screen.text(), r"total|%")

    def test_a_terminal_that_becomes_narrower_and_wider(self):
        self.slow(200_000)
        program = self.on_screen("12.8.1", columns=100)
        program.read_until(lambda: "libcublas  " in program.screen.text())
        for columns in (30, 70, 20, 90):
            program.resize(columns, 24)
            count = len(program.frames)
            program.read_until(lambda: len(program.frames) > count + 1)
        self.assertEqual(program.finish(), 0)
        text = program.screen.text()
        self.assertNotRegex(text, TOTAL)
        self.assertNotIn("[=", text)
        self.assertEqual(text.count("NVIDIA's licence"), 1)

    def test_a_low_terminal_does_not_scroll(self):
        for rows in (1, 2, 3):
            with self.subTest(rows=rows):
                self.slow(30_000, 60_000)
                program = self.on_screen("12.8.1", "--force", columns=90, rows=rows)
                self.assertEqual(program.finish(), 0)
                self.assertNotIn("total", program.screen.text())

    def test_an_error_stands_where_the_bars_were(self):
        self.slow().faults.rules[:0] = ["cuda_nvcc/* swap"]
        program = self.on_screen("12.8.1")
        self.assertEqual(program.finish(), 7)
        self.assert_clean(program, first="^cudaenv: ", last="^try: ")

    def test_control_c(self):
        self.slow()
        program = self.on_screen("12.8.1")
        program.read_until(lambda: "libcublas  " in program.screen.text())
        start = time.monotonic()
        program.press_control_c()
        self.assertEqual(program.finish(), 130)
        self.assertLess(time.monotonic() - start, 5)
        text = program.screen.text()
        self.assertNotRegex(text, TOTAL)
        self.assertIn("cudaenv: interrupted", text)

    def test_no_color_means_bars_without_colour(self):
        self.slow()
        server = self.serve("cuda_nvcc/*=404")
        self.box.environment["CUDAENV_MIRROR"] = f"{server.url}\n{self.mirror}"
        program = self.on_screen("12.8.1", env={"NO_COLOR": "1"})
        self.assertEqual(program.finish(), 0)
        self.assertTrue(any("total " in frame for frame in program.frames))
        self.assertNotRegex(program.sent, r"\x1b\[[\d;]*m")

    def test_a_dumb_terminal_and_quiet(self):
        for arguments, env in ((["--force"], {"TERM": "dumb"}), (["--force", "--quiet"], {})):
            with self.subTest(arguments=arguments, env=env):
                program = self.on_screen("12.8.1", *arguments, env=env)
                self.assertEqual(program.finish(), 0)
                self.assertNotIn("\x1b", program.sent)
                self.assertEqual(program.sent.count("cudaenv: ["), 0 if "--quiet" in arguments else 13)


class PlainLines(MirrorTest):
    def test_a_line_a_component(self):
        error = self.install("12.8.1").stderr
        numbers = re.findall(r"^cudaenv: \[(\d+)/13\] \w+ [\d.]+ \([\d.]+ k?B\)$", error, re.M)
        self.assertEqual(numbers, [str(number) for number in range(1, 14)])
        self.assertNotIn("\x1b", error)


class TheScreen(unittest.TestCase):
    """The emulated terminal itself."""

    def test_text_wraps_and_scrolls(self):
        screen = Screen(4, 2)
        screen.feed("abcdef\r\nx\x1b[9Ay")
        self.assertEqual(screen.lines(), ["abcd", "eyf"[0:1] + "y", "x"])

    def test_a_narrower_one_breaks_lines_anew(self):
        screen = Screen(6, 5)
        screen.feed("one\r\nsix66\r\nsi")
        screen.resize(3, 5)
        self.assertEqual((screen.lines(), screen.row, screen.column), (["one", "six", "66", "si"], 3, 2))
        screen.feed("\r\x1b[2A\x1b[J")
        self.assertEqual(screen.lines(), ["one", ""])

    def test_what_does_not_belong_there(self):
        for text in ("\a", "\x1b[2J", "\x1b[?25l", "\x00"):
            with self.assertRaises(AssertionError):
                Screen().feed(text)


if __name__ == "__main__":
    unittest.main()
