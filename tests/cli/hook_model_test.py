#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random walks through projects, with edits of files and of variables, against a model: the outside environment comes back
byte for byte, with what the person changed meanwhile."""

import random
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.shells import ShellTest, in_every_shell
from support.terminal import quote

SEED = 20260214
SEQUENCES = 334  # in each shell; in all three a thousand
WALK = 6  # steps of one sequence
LISTS = ("PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH")
SCALARS = ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX")
WORDS = ("/opt/x", "/a b", "it's", "/x:y", "100%;a", "$HOME `id`", "*", "\\", "\udcff", "/\u00e9", "a\nb", "-n")
ELEMENTS = ("/usr/lib", "/a b", "/it's", "/m%41;n", "/*", "/\udcff", "/o\"p", "/q\\r")


class Model:
    """What the person has outside, and what is selected."""

    def __init__(self, outside):
        self.outside, self.version, self.files, self.directory = dict(outside), None, {}, None

    def selected(self):
        return self.version or (self.files.get(self.directory) if self.directory else None)


@in_every_shell
class Walks(ShellTest):
    def setUp(self):
        super().setUp()
        self.box.write(self.box.root / "config.toml", '[env]\ncompiler_paths = true\nlibrary_path = "toolkit"\n')
        self.toolkits = {"12.4": self.old, "12.8": self.new}
        self.directories = {"a": self.a, "b": self.b, "out": self.box.home}
        self.steps = (self.move, self.move, self.edit, self.set_scalar, self.add_to_list, self.choose)

    def test_outside_comes_back(self):
        self.random = random.Random(f"{SEED} {self.shell}")
        self.terminal = self.start()
        outside = self.terminal.environment()
        for number in range(SEQUENCES):
            self.said = []
            with self.subTest(sequence=number):
                try:
                    outside = self.sequence(outside)
                except AssertionError as error:
                    self.fail("\n".join(self.said) + f"\n{error}")

    def sequence(self, outside):
        """One walk, which begins and ends outside with nothing selected. The environment after it."""
        self.model = Model(outside)
        self.prepare()
        self.check_inside()
        for _ in range(WALK):
            self.random.choice(self.steps)()
            self.check_inside()
        self.say("cudaenv shell --unset")
        self.say(f"cd {self.box.home}")
        found = self.terminal.environment()
        self.assertEqual(found, self.model.outside)
        return found

    def say(self, *lines):
        line = "; ".join(lines)
        self.said.append(line)
        answer = self.terminal.run(line)
        self.assertEqual(answer.output, "", line)

    def prepare(self):
        """Files as they were, and variables of the person: set, empty or not at all."""
        self.model.files = {"a": "12.4", "b": "12.8"}
        for name, version in self.model.files.items():
            (self.directories[name] / ".cuda-version").write_text(version + "\n")
        lines = []
        for name in SCALARS + LISTS[1:]:
            if self.random.random() < 0.6:
                continue
            if self.random.random() < 0.3:
                lines.append(self.unset(name))
            elif name in SCALARS:
                lines.append(self.export(name, self.random.choice(("", *WORDS))))
            else:
                lines.append(self.export(name, ":".join(self.random.choices(("", *ELEMENTS), k=self.random.randrange(4)))))
        if lines:
            self.say(*lines)

    def export(self, name, value):
        self.model.outside[name] = value
        return self.assignment(name, value)

    def assignment(self, name, value):
        if self.shell != "fish":
            return f"export {name}={quote(self.shell, value)}"
        words = [quote("fish", word) for word in (value.split(":") if name in LISTS else [value])]
        return f"set -gx {name} {' '.join(words)}"

    def unset(self, name):
        self.model.outside.pop(name, None)
        return f"set -eg {name}" if self.shell == "fish" else f"unset {name}"

    # The steps.

    def move(self):
        name = self.random.choice(("a", "b", "out"))
        self.model.directory = None if name == "out" else name
        self.say(f"cd {self.directories[name]}")

    def edit(self):
        name = self.random.choice(("a", "b"))
        version = self.random.choice(("12.4", "12.8", "system", None))
        file = self.directories[name] / ".cuda-version"
        file.unlink(missing_ok=True)
        self.model.files[name] = None
        if version:
            file.write_text(f"# {version}\n{version}\n")
            self.model.files[name] = None if version == "system" else version
        self.said.append(f"{file}: {version}")
        self.say("")

    def choose(self):
        version = self.random.choice(("12.4", "12.8", None))
        self.model.version = version
        self.say(f"cudaenv shell {version}" if version else "cudaenv shell --unset")

    def set_scalar(self):
        name = self.random.choice(SCALARS)
        # What is unset inside is so for good: what was outside is not to come back.
        self.say(self.unset(name) if self.random.random() < 0.3 else self.export(name, self.random.choice(WORDS)))

    def add_to_list(self):
        """Before or after what is there, as start files and other tools do it."""
        name, element = self.random.choice(LISTS), self.random.choice(ELEMENTS)
        current, outside = self.inside.get(name), self.model.outside.get(name)
        first = self.random.random() < 0.5
        join = lambda value: element if not value else f"{element}:{value}" if first else f"{value}:{element}"
        self.say(self.assignment(name, join(current)))
        self.model.outside[name] = join(outside)

    def check_inside(self):
        self.inside = environment = self.terminal.environment()
        selected = self.model.selected()
        toolkit = self.toolkits.get(selected)
        self.assertEqual(environment.get("CUDAENV_ACTIVE"), toolkit.name if toolkit else None)
        bins = [entry for entry in environment["PATH"].split(":") if "/versions/" in entry]
        self.assertEqual(bins, [f"{toolkit}/bin"] if toolkit else [])
        if not toolkit:
            found = {name: value for name, value in environment.items() if name != "CUDAENV_VERSION"}
            self.assertEqual(found, self.model.outside)


if __name__ == "__main__":
    unittest.main()
