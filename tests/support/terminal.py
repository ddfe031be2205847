# SPDX-License-Identifier: Apache-2.0
"""A real interactive shell on a pseudo-terminal.

    with Terminal("zsh", init='eval "$(cudaenv init zsh)"', env={...}, cwd=...) as terminal:
        answer = terminal.run("cd project")
        answer.output, answer.status

The shell's own prompt is the marker that tells the end of a command: it has a number of its own, so that neither an echo
nor a prompt that is drawn twice is taken for it, and the status that the person would see. Line editors are off where
the shell can do without one; fish cannot, so there the output starts where fish says that it runs the command."""

import errno
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import tempfile
import termios
import time
from collections import namedtuple
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")
DEADLINE = 20  # seconds for one answer
Answer = namedtuple("Answer", "output status")

PROMPTS = {
    "bash": "__test_number=0 PS1='{{P:$((++__test_number)):$?}}' PS2=",
    "zsh": "__test_number=0 PS1='{{P:$((++__test_number)):%?}}' PS2= ; setopt prompt_subst no_prompt_sp no_prompt_cr",
    "fish": """
set -g __test_number 0
function fish_prompt
    set -l shown $status
    set -g __test_number (math $__test_number + 1)
    builtin echo -n "{{P:$__test_number:$shown}}"
end
function fish_right_prompt; end
function fish_title; end
function fish_greeting; end
function __test_preexec --on-event fish_preexec
    builtin echo -n "{{X}}"
end
""",
}
# What a terminal is told beside text: colours, titles, movements; and fish's mark of a line that has no end.
CONTROL = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b[()].|\x1b[=>78]|\x0f")
UNFINISHED_LINE = re.compile("(?:\u23ce\\s*)+\\Z")


class Ended(Exception):
    """The shell has come to its end instead of answering."""

    def __init__(self, output, status):
        super().__init__(f"the shell ended with {status}: {output!r}")
        self.output, self.status = output, status


def available(shell):
    return shutil.which(shell) is not None


def quote(shell, text):
    """One word of the shell, without any byte that a terminal would take for a key."""
    out = ""
    for byte in os.fsencode(text):
        if chr(byte).isalnum() and byte < 128 or chr(byte) in "/._-:=,+@%":
            out += chr(byte)
        elif shell == "fish":
            out += f"\\X{byte:02x}"
        else:
            out += f"\\{byte:03o}"
    if shell == "fish":
        return out or "''"
    return f"$'{out}'"


class Terminal:
    def __init__(self, shell, init="", env=None, cwd=None, options=(), prefix=(), after=""):
        """`init` is read at the start, before the prompt is set up, and `after` afterwards; `prefix`: a program that starts the
        shell (strace); `options`: the shell's own. `env` is the whole environment."""
        self.shell, self.status, self._pending, self._number = shell, None, b"", 0
        self.directory = Path(tempfile.mkdtemp(prefix="cudaenv-terminal-"))
        self._master = -1
        try:
            command, further = self._command(shell, f"{init}\n{PROMPTS[shell]}\n{after}\n")
            variables = {"TERM": "dumb", **(env or {}), **further}
            self._start([*prefix, *command, *options], variables, cwd)
            self.greeting = self._answer().output
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _command(self, shell, text):
        name = {"bash": "rc", "zsh": ".zshrc", "fish": "config"}[shell]
        file = self.directory / name
        file.write_bytes(os.fsencode(text))
        place = str(self.directory)
        if shell == "bash":
            return ["bash", "--noprofile", "--noediting", "--rcfile", str(file), "-i"], {"HISTFILE": place + "/history"}
        if shell == "zsh":
            return ["zsh", "-d", "+Z", "-i"], {"ZDOTDIR": place}
        return ["fish", "--no-config", "-i", "-C", f"source {file}"], {
            "XDG_CONFIG_HOME": place, "XDG_DATA_HOME": place, "fish_color_normal": ""}

    def _start(self, command, variables, cwd):
        program = shutil.which(command[0])
        child, self._master = pty.fork()
        if child == 0:
            try:
                attributes = termios.tcgetattr(0)
                attributes[3] &= ~termios.ECHO
                termios.tcsetattr(0, termios.TCSANOW, attributes)
                os.chdir(cwd or "/")
                variables = {"PWD": os.fspath(cwd or "/"), **variables}
                os.execve(program, command, {name: value for name, value in variables.items() if value is not None})
            finally:
                os._exit(125)
        self.pid = child
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 2000, 0, 0))
        os.set_blocking(self._master, False)

    def _read(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._master], [], [], left)[0]:
            raise TimeoutError(f"no prompt after: {self._pending!r}")
        try:
            data = os.read(self._master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            raise Ended(self._text(self._pending), self.status)
        self._pending += data

    def _answer(self):
        deadline = time.monotonic() + DEADLINE
        marker = re.compile(rb"\{\{P:(\d+):(\d+)\}\}")
        position = 0
        while True:
            for match in marker.finditer(self._pending, max(0, position - 40)):
                if int(match[1]) > self._number:
                    self._number = int(match[1])
                    output, self._pending = self._pending[:match.start()], self._pending[match.end():]
                    return Answer(self._text(output), int(match[2]))
            position = len(self._pending)
            self._read(deadline)

    def _text(self, output):
        if b"{{X}}" in output:
            output = output.split(b"{{X}}", 1)[1]
        elif self.shell == "fish" and self._number > 1:
            output = output.partition(b"\n")[2]  # an empty line, which runs nothing
        text = CONTROL.sub(b"", output).decode("utf-8", "surrogateescape").replace("\r", "")
        return UNFINISHED_LINE.sub("", text)

    def send(self, text):
        data = os.fsencode(text)
        while data:
            try:
                data = data[os.write(self._master, data):]
            except BlockingIOError:
                # What the shell says must be taken, or it will not listen.
                self._read(time.monotonic() + DEADLINE)

    def run(self, line):
        """What a line printed and the status that the next prompt shows. Ended if the shell did not come back."""
        self.send(line + "\n")
        return self._answer()

    def output(self, line):
        return self.run(line).output

    def cd(self, directory):
        return self.run(f"cd {quote(self.shell, directory)}")

    def export(self, name, value):
        word = quote(self.shell, value)
        return self.run(f"set -gx {name} {word}" if self.shell == "fish" else f"export {name}={word}")

    def unset(self, name):
        return self.run(f"set -e {name}" if self.shell == "fish" else f"unset {name}")

    def environment(self):
        """What a program started here gets, byte for byte."""
        file = self.directory / "environment"
        self.run(f"/usr/bin/env -0 {'>' if self.shell == 'fish' else '>|'} {file}")
        entries = os.fsdecode(file.read_bytes()).split("\0")
        of_a_shell = ("_", "OLDPWD", "PWD", "SHLVL", "COLUMNS", "LINES")
        variables = dict(entry.split("=", 1) for entry in entries if "=" in entry)
        return {name: value for name, value in variables.items() if name not in of_a_shell}

    def close(self):
        """The status of the shell, which is made to end if it has not."""
        if self._master >= 0 and self.status is None:
            os.kill(self.pid, signal.SIGHUP)
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if self._master >= 0:
            os.close(self._master)
            self._master = -1
        shutil.rmtree(self.directory, ignore_errors=True)
        return self.status
