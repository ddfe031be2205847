#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hook beside what other tools do to the same variables, and shells that never show a prompt."""

import contextlib
import fcntl
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.shells import ShellTest, in_every_shell
from support.terminal import quote


@in_every_shell
class Others(ShellTest):
    def test_BLD_06_conda_comes_first_and_is_not_fought(self):
        terminal = self.start(cwd=self.a)
        conda = self.box.top / "conda" / "bin"
        self.box.tool(conda, "nvcc")
        path = self.value(terminal, "PATH")
        terminal.export("PATH", f"{conda}:{path}")
        terminal.export("CONDA_PREFIX", conda.parent)
        for _ in range(3):
            self.assert_quiet(terminal.run(""))
            self.assertEqual(self.value(terminal, "PATH"), f"{conda}:{path}")
        terminal.export("PATH", path)  # conda deactivate
        terminal.unset("CONDA_PREFIX")
        terminal.cd(self.box.home)
        self.assert_nothing_is_active(terminal)

    def test_BLD_06_conda_left_outside(self):
        terminal = self.start()
        outside = self.value(terminal, "PATH")
        terminal.cd(self.a)
        terminal.export("PATH", f"/conda/bin:{self.value(terminal, 'PATH')}")
        terminal.cd(self.box.home)
        self.assertEqual(self.value(terminal, "PATH"), f"/conda/bin:{outside}")

    def test_SYS_06_module_load_and_unload(self):
        terminal = self.start(cwd=self.a)
        shims = f"{self.box.shims}:/usr/bin:/bin"
        terminal.run("; ".join(self.exports(PATH=f"/apps/cuda/bin:{self.value(terminal, 'PATH')}", CUDA_HOME="/apps/cuda",
                                            LD_LIBRARY_PATH="/apps/cuda/lib64", LOADEDMODULES="cuda/11.8")))
        environment = terminal.environment()
        self.assertEqual((environment["PATH"], environment["CUDA_HOME"], environment["LD_LIBRARY_PATH"]),
                         (f"{self.old}/bin:/apps/cuda/bin:{shims}", str(self.old), "/apps/cuda/lib64"))
        path = self.value(terminal, "PATH").replace("/apps/cuda/bin:", "")
        terminal.run("; ".join([*self.exports(PATH=path, LOADEDMODULES=""), *self.unsets("CUDA_HOME", "LD_LIBRARY_PATH")]))
        self.assert_toolkit(terminal, self.old)
        terminal.cd(self.box.home)
        self.assert_nothing_is_active(terminal)

    def test_SYS_06_module_stays_when_the_project_is_left(self):
        terminal = self.start(cwd=self.a)
        terminal.run("; ".join(self.exports(PATH=f"/apps/cuda/bin:{self.value(terminal, 'PATH')}", CUDA_HOME="/apps/cuda",
                                            LOADEDMODULES="cuda/11.8")))
        self.assert_quiet(terminal.cd(self.box.home))
        environment = terminal.environment()
        self.assertEqual((environment["PATH"], environment["CUDA_HOME"]), (f"/apps/cuda/bin:{self.box.shims}:/usr/bin:/bin", "/apps/cuda"))

    def test_SYS_06_purge_of_our_variables_is_repaired(self):
        for name in ("CUDAENV_ACTIVE", "PATH"):
            terminal = self.start(cwd=self.a, env={"CUDA_PATH": "/opt/x"})
            with self.subTest(name=name):
                ours = ("CUDA_HOME", "CUDA_PATH", "CUDACXX", "CUDAENV_ACTIVE", "CUDAENV_OUTSIDE")
                line = self.unsets(*ours) if name == "CUDAENV_ACTIVE" else self.exports(PATH="/usr/bin:/bin")
                self.assert_quiet(terminal.run("; ".join(line)))
                self.assert_toolkit(terminal, self.old)
                self.assert_quiet(terminal.cd(self.box.home))
                self.assertNotIn("/versions/", str(terminal.environment()))

    def exports(self, **values):
        form = "set -gx {} {}" if self.shell == "fish" else "export {}={}"
        return [form.format(name, quote(self.shell, value)) for name, value in values.items()]

    def unsets(self, *names):
        return [f"{'set -e' if self.shell == 'fish' else 'unset'} {name}" for name in names]

    def test_SYS_07_shims_alone_suffice(self):
        self.box.shim("nvcc")
        options = {"bash": "--norc --noprofile", "zsh": "-f", "fish": "--no-config"}[self.shell]
        result = self.box.run("/usr/bin/env", "-i", f"HOME={self.box.home}", f"PATH={self.box.shims}:/usr/bin:/bin", "CUDAENV_SHARED_ROOT=",
                              "CUDAENV_OVERRIDE_DRIVER=620.70.06", "CUDAENV_OVERRIDE_GPUS=8.6",
                              self.shell, *options.split(), "-c", f"cd {self.a} && nvcc; cd {self.b} && nvcc")
        self.assert_prints(result, f"{self.old}/bin/nvcc\n{self.new}/bin/nvcc\n")

    def test_SYS_07_integration_in_a_shell_that_is_not_interactive(self):
        self.box.shim("nvcc")
        options = {"bash": "--norc --noprofile", "zsh": "-f", "fish": "--no-config"}[self.shell]
        script = f"{self.source}; cd {self.a}; nvcc; cd {self.b}; nvcc; echo end"
        result = self.box.run(self.shell, *options.split(), "-c", script, env={"TERM": None})
        self.assert_prints(result, f"{self.old}/bin/nvcc\n{self.new}/bin/nvcc\nend\n")

    def test_SHIM_03_start_neither_rehashes_nor_waits(self):
        self.cudaenv("rehash")
        before = self.tree(self.box.root)
        locks = [path for path in self.box.root.rglob("*lock*") if path.is_file()]
        with contextlib.ExitStack() as stack:
            for path in locks:
                fcntl.flock(stack.enter_context(open(path, "r+")), fcntl.LOCK_EX)
            terminal = self.start()
            terminal.cd(self.a)
            self.assert_toolkit(terminal, self.old)
        self.assertEqual(self.tree(self.box.root), before)


if __name__ == "__main__":
    unittest.main()
