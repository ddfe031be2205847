#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shell integration costs at a prompt, against a hook that does nothing and, where it is installed, direnv.

    prompt.py CUDAENV [ROUNDS]

One process for each shell and hook; each runs batches of prompts on demand, in random order, all on one core. bash and
zsh time them by their own clock; fish has none, so its batches are timed from outside, from a line that it waits for to
one that it writes. Exit status 1 if a goal is missed.
"""

import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# A batch moves to and fro between two directories, with a prompt after each step.
KINDS = {
    "unchanged": ("one/a", "one/a"),
    "12 deep, no file": ("deep/" + "/".join("abcdefghijkl"),) * 2,
    "cd in a project": ("one/a", "one/b/c"),
    "switch": ("one", "two"),
}
GOALS = {"unchanged": (20, 0), "12 deep, no file": (float("inf"), 0), "cd in a project": (100, 0), "switch": (1000, 1)}
DIRENV_GOAL = 15
PROMPTS = {"empty": 200, "cudaenv": 200, "direnv": 6}
SWITCHES = {"empty": 40, "cudaenv": 40, "direnv": 4}

# @LOAD@ brings the hook; @PROMPT@ is what happens at a prompt. A line on stdin: two directories, and as many words as
# there shall be pairs of prompts.
LOOPS = {
    "bash": r"""
@LOAD@
while IFS=' ' read -r -a line; do
  there=${line[0]} back=${line[1]} same= pairs=("${line[@]:2}")
  [[ $there != "$back" ]] || same=yes
  cd "$back"; @PROMPT@
  start=$EPOCHREALTIME
  if [[ $same ]]; then
    for pair in "${pairs[@]}"; do @PROMPT@; @PROMPT@; done
  else
    for pair in "${pairs[@]}"; do cd "$there"; @PROMPT@; cd "$back"; @PROMPT@; done
  fi
  end=$EPOCHREALTIME
  echo "$((${end/./} - ${start/./}))"
done
""",
    "zsh": r"""
zmodload zsh/datetime
@LOAD@
while IFS=' ' read -r -A line; do
  there=$line[1] back=$line[2] same= pairs=("${(@)line[3,-1]}")
  [[ $there != "$back" ]] || same=yes
  cd "$back"; @PROMPT@
  start=$EPOCHREALTIME
  if [[ -n $same ]]; then
    for pair in $pairs; do @PROMPT@; @PROMPT@; done
  else
    for pair in $pairs; do cd "$there"; @PROMPT@; cd "$back"; @PROMPT@; done
  fi
  end=$EPOCHREALTIME
  printf '%d\n' "$(((end - start) * 1000000))"
done
""",
    "fish": r"""
@LOAD@
while read -l -a line
    set there $line[1]
    set back $line[2]
    set -e line[1 2]
    cd $back; @PROMPT@
    echo ready
    read -l go
    if test $there = $back
        for pair in $line
            @PROMPT@; @PROMPT@
        end
    else
        for pair in $line
            cd $there; @PROMPT@; cd $back; @PROMPT@
        end
    end
    echo done
end
""",
}
OPTIONS = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}
LOADS = {
    ("bash", "empty"): ("__empty() { :; }", "__empty"),
    ("bash", "cudaenv"): ('eval "$("$CUDAENV" init bash)"', "__cudaenv_hook"),
    ("bash", "direnv"): ('eval "$(direnv hook bash)"', "_direnv_hook"),
    ("zsh", "empty"): ("__empty() { :; }; chpwd_functions=(__empty)", "__empty"),
    ("zsh", "cudaenv"): ('eval "$("$CUDAENV" init zsh)"', "__cudaenv_hook"),
    ("zsh", "direnv"): ('eval "$(direnv hook zsh)"', "_direnv_hook"),
    ("fish", "empty"): ("function __empty --on-event fish_prompt --on-variable PWD; end", "emit fish_prompt"),
    ("fish", "cudaenv"): ("$CUDAENV init fish | source", "emit fish_prompt"),
    ("fish", "direnv"): ("direnv hook fish | source", "emit fish_prompt"),
}


class Place:
    """A home with 20 toolkits and two projects that name one each, for both programs."""

    def __init__(self, top, program):
        self.top, self.home = top, top / "home"
        versions = self.home / ".cudaenv/versions"
        for name in (f"12.{minor}.{patch}" for minor in range(10) for patch in range(2)):
            (versions / name / "bin").mkdir(parents=True)
            (versions / name / "receipt.json").write_text("{}\n")
            tool = versions / name / "bin/nvcc"
            tool.write_text("#!/bin/sh\n")
            tool.chmod(0o755)
        for project, version in (("one", "12.8"), ("two", "12.4")):
            for below in ("a", "b/c"):
                (self.home / project / below).mkdir(parents=True)
            (self.home / project / ".cuda-version").write_text(version + "\n")
            (self.home / project / ".envrc").write_text(
                f"export CUDA_HOME={versions}/{version}.1\nPATH_add {versions}/{version}.1/bin\n")
        (self.home / KINDS["12 deep, no file"][0]).mkdir(parents=True)
        (top / "run").mkdir(mode=0o700)
        # Copies: a program as the linker left it on disk starts measurably slower.
        program, hook = Path(program).resolve(), "libexec/cudaenv/cudaenv-hook"
        (top / "bin").mkdir()
        (top / hook).parent.mkdir(parents=True)
        shutil.copy(program.parents[1] / hook, top / hook)
        program = str(shutil.copy(program, top / "bin/cudaenv"))
        self.environment = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "CUDAENV": program,
                            "CUDAENV_SHARED_ROOT": "", "XDG_RUNTIME_DIR": str(top / "run"), "TERM": "dumb",
                            "CUDAENV_OVERRIDE_DRIVER": "620.70.06", "CUDAENV_OVERRIDE_GPUS": "8.6"}
        if shutil.which("direnv"):
            for project in ("one", "two"):
                subprocess.run(["direnv", "allow", self.home / project], env=self.environment, check=True)

    def command(self, shell, hook):
        script = self.top / f"{shell}-{hook}"
        load, prompt = LOADS[shell, hook]
        script.write_text(LOOPS[shell].replace("@LOAD@", load).replace("@PROMPT@", prompt))
        return [shell, *OPTIONS[shell], str(script)]

    def line(self, kind, prompts):
        there, back = (self.home / directory for directory in KINDS[kind])
        return " ".join([str(there), str(back)] + ["x"] * (prompts // 2)) + "\n"


class Variant:
    def __init__(self, place, shell, hook):
        self.place, self.shell, self.hook = place, shell, hook
        self.times = {kind: [] for kind in KINDS}
        self.process = subprocess.Popen(place.command(shell, hook), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=place.home, env=place.environment)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.shell} with {self.hook} has ended")
        return line

    def say(self, line):
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def run(self, kind):
        """Microseconds a prompt."""
        prompts = (SWITCHES if kind == "switch" else PROMPTS)[self.hook]
        self.say(self.place.line(kind, prompts))
        if self.shell != "fish":
            return int(self.answer()) / prompts
        self.answer()
        start = time.perf_counter()
        self.say("go\n")
        self.answer()
        return (time.perf_counter() - start) * 1e6 / prompts

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def median(self, kind):
        return statistics.median(self.times[kind])

    def processes(self, kind):
        """How many a prompt starts, by the difference between many and none."""
        counts, trace = [], self.place.top / "trace"
        tracer = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=clone,clone3,fork,vfork"]
        for prompts in (0, 10):
            lines = self.place.line(kind, prompts) + "go\n" * (self.shell == "fish")
            subprocess.run(tracer + self.place.command(self.shell, self.hook), input=lines.encode(), check=True, cwd=self.place.home,
                           env=self.place.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            started = re.findall(r"^.*(?:clone3?|v?fork)\(.*$", trace.read_text(), re.MULTILINE)
            counts.append(sum("CLONE_THREAD" not in line for line in started))
        return (counts[1] - counts[0]) / 10


def measure(variants, rounds):
    batches = [(variant, kind) for variant in variants for kind in KINDS]
    for round_number in range(-1, rounds):
        random.shuffle(batches)
        for variant, kind in batches:
            microseconds = variant.run(kind)
            if round_number >= 0:
                variant.times[kind].append(microseconds)


def report(shell, variants):
    """The table of one shell; returns the goals that were missed."""
    missed = []
    empty = next(variant for variant in variants if variant.hook == "empty")
    ours = next(variant for variant in variants if variant.hook == "cudaenv")
    for kind in KINDS:
        own = ours.median(kind) - empty.median(kind)
        for variant in variants:
            over = variant.median(kind) - empty.median(kind)
            count = variant.processes(kind) if shutil.which("strace") else None
            ratio = "" if variant is empty else f"{over / own:.1f}"
            print(f"{shell:5} {kind:17} {variant.hook:8} {variant.median(kind):10.1f} {over:12.1f} {ratio:>10}"
                  f" {'?' if count is None else format(count, 'g'):>10}")
            if variant is ours and (over > GOALS[kind][0] or (count or 0) > GOALS[kind][1]):
                missed.append(f"{shell}, {kind}: at most {GOALS[kind][0]} us and {GOALS[kind][1]} processes")
            if kind == "switch" and variant.hook == "direnv" and over < DIRENV_GOAL * own:
                missed.append(f"{shell}, {kind}: {DIRENV_GOAL} times faster than direnv")
    return missed


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: prompt.py CUDAENV [ROUNDS]")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    random.seed(20)
    missed = []
    with tempfile.TemporaryDirectory(prefix="bench.") as top:
        place = Place(Path(top).resolve(), sys.argv[1])
        hooks = ["empty", "cudaenv"] + ["direnv"] * bool(shutil.which("direnv"))
        shells = [shell for shell in LOOPS if shutil.which(shell)]
        print(f"{'':5} {'':17} {'hook':8} {'median us':>10} {'over empty':>12} {'/ cudaenv':>10} {'processes':>10}")
        for shell in shells:
            variants = [Variant(place, shell, hook) for hook in hooks]
            measure(variants, rounds)
            for variant in variants:
                variant.close()
            missed += report(shell, variants)
    for absent in sorted(set(LOOPS) - set(shells)) + ["direnv"] * ("direnv" not in hooks):
        print(f"{absent} is not installed")
    for goal in missed:
        print("missed:", goal)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
