# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of a certain size, and what a person would see there.

    with ScreenProgram([program, ...], env={...}, cwd=..., columns=80, rows=24) as program:
        program.read_until(lambda: "total" in program.screen.text())
        program.resize(40, 24)
        status = program.finish()
        program.screen.lines()     # the scrolled-out ones first
"""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

DEADLINE = 20  # seconds
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Screen:
    """Just what cudaenv may send: text, line ends, colours, and erasing and going up within what is on the screen.
    Anything else is an error. Lines that a narrower terminal cannot hold are broken anew, as most terminals do."""

    def __init__(self, columns=80, rows=24):
        self.columns, self.rows = columns, rows
        self.cells = [""]      # all lines, the scrolled-out ones too
        self.wrapped = set()   # numbers of the lines that go on in the next one
        self.row = self.column = 0

    def resize(self, columns, rows):
        cursor = None
        lines, joined = [], ""
        for number, line in enumerate(self.cells):
            if number == self.row:
                cursor = len(lines), len(joined) + self.column
            joined += line
            if number not in self.wrapped:
                lines.append(joined)
                joined = ""
        self.columns, self.rows, self.cells, self.wrapped = columns, rows, [], set()
        for number, line in enumerate(lines):
            first = len(self.cells)
            parts = [line[at:at + columns] for at in range(0, len(line), columns)] or [""]
            self.cells += parts
            self.wrapped.update(range(first, first + len(parts) - 1))
            if number == cursor[0]:
                self.row, self.column = first + min(cursor[1] // columns, len(parts) - 1), cursor[1] % columns

    def top(self):
        """The first line that is on the screen."""
        return max(0, len(self.cells) - self.rows)

    def feed(self, text):
        at = 0
        while at < len(text):
            control = CONTROL.match(text, at)
            if control:
                self._control(control[1], control[2])
                at = control.end()
                continue
            character, at = text[at], at + 1
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self._down()
            elif character.isprintable():
                self._put(character)
            else:
                raise AssertionError(f"a terminal must not be sent {text[at - 1:at + 10]!r}")

    def _down(self):
        self.row += 1
        if self.row == len(self.cells):
            self.cells.append("")

    def _put(self, character):
        if self.column == self.columns:
            self.wrapped.add(self.row)
            self._down()
            self.column = 0
        line = self.cells[self.row].ljust(self.column)
        self.cells[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def _control(self, parameters, kind):
        if kind == "A":
            self.row = max(self.top(), self.row - int(parameters or 1))
        elif kind == "K" and not parameters:
            self.cells[self.row] = self.cells[self.row][:self.column]
            self.wrapped.discard(self.row)
        elif kind == "J" and not parameters:
            self.cells[self.row] = self.cells[self.row][:self.column]
            del self.cells[self.row + 1:]
            self.wrapped = {number for number in self.wrapped if number < self.row}
        elif kind != "m":
            raise AssertionError(f"a terminal must not be sent ESC [ {parameters} {kind}")

    def lines(self):
        return [line.rstrip() for line in self.cells]

    def text(self):
        return "\n".join(self.lines())


class ScreenProgram:
    def __init__(self, command, env, cwd, columns=80, rows=24):
        self.screen, self.sent, self.status, self.frames = Screen(columns, rows), "", None, []
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            try:
                os.read(0, 1)  # until the terminal has its size
                os.chdir(cwd)
                os.execve(command[0], [os.fspath(part) for part in command], {"TERM": "xterm", **env, "PWD": str(cwd)})
            finally:
                os._exit(125)
        attributes = termios.tcgetattr(self._master)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(self._master, termios.TCSANOW, attributes)
        self._set_size(columns, rows)
        os.write(self._master, b"\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)

    def _set_size(self, columns, rows):
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)

    def press_control_c(self):
        os.write(self._master, b"\x03")

    def _read(self, deadline):
        """Takes what the program says; whether it still can."""
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._master], [], [], left)[0]:
            raise AssertionError(f"the program went silent after: {self.sent!r}")
        try:
            data = os.read(self._master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        text = data.decode("utf-8")
        self.sent += text
        self.screen.feed(text)
        self.frames.append(self.screen.text())
        return bool(data)

    def read_until(self, condition):
        deadline = time.monotonic() + DEADLINE
        while not condition():
            if not self._read(deadline):
                raise AssertionError(f"it never came, and the program ended: {self.sent!r}")

    def finish(self):
        """The exit status of the program."""
        deadline = time.monotonic() + DEADLINE
        while self._read(deadline):
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status
