#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The modulefile that `env` prints, read by Tcl and by the programs that it is for."""

import os
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from env_test import HOSTILE_NAMES, EnvTest
from support.modules import MODULES, module_function

# The commands of a modulefile, doing what modulecmd does on `load`.
TCL_STUBS = r"""
proc module-whatis {text} { if {$text eq ""} { error "no text" } }
proc conflict {args} { if {$args ne "cuda"} { error $args } }
proc setenv {name value} { set ::env($name) $value }
proc elements {name} { if {[info exists ::env($name)] && $::env($name) ne ""} { return [split $::env($name) :] } }
proc prepend-path {name value} { set ::env($name) [join [linsert [elements $name] 0 $value] :] }
proc append-path {name value} { set ::env($name) [join [linsert [elements $name] end $value] :] }
source [lindex $argv 0]
ModulesHelp
foreach name [array names env] { puts -nonewline "$name=$env($name)\0" }
"""


class Modulefile(EnvTest):
    SET = ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH")
    OPTED_IN = {"CUDAENV_ENV_LIBRARY_PATH": "toolkit", "CUDAENV_ENV_COMPILER_PATHS": "true"}

    def modulefile(self, spec="12.4", **options):
        result = self.cudaenv("env", spec, "--format", "modulefile", **options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout

    def evaluated(self, text, env):
        tclsh = shutil.which("tclsh")
        if not tclsh:
            self.skipTest("no tclsh")
        stubs, file = self.box.write("stubs.tcl", TCL_STUBS), self.box.write("modulefile", text)
        result = self.box.run(tclsh, stubs, file, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr.decode(), r"\ANVIDIA CUDA toolkit [0-9.]+\n\Z")
        return dict(os.fsdecode(entry).split("=", 1) for entry in result.stdout.split(b"\0") if entry)

    def test_describes_the_toolkit_and_not_the_way_from_here_to_it(self):
        plain = self.modulefile()
        self.assertTrue(plain.startswith(b"#%Module1.0\n"))
        self.assertIn(f'setenv CUDA_HOME "{self.old}"\nsetenv CUDA_PATH "{self.old}"\n'.encode(), plain)
        self.assertIn(f'\nprepend-path PATH "{self.old}/bin"\n'.encode(), plain)
        self.assertNotRegex(plain, rb"/usr/bin|LIBRARY_PATH|CPATH|CUDAENV_")
        env = {"PATH": f"/x:{self.old}/bin", "CUDA_HOME": str(self.old), "CUDACXX": "/my/nvcc", "LD_LIBRARY_PATH": "/a:"}
        self.assertEqual(self.modulefile(env=env), plain)
        inside = self.cudaenv("exec", "-v", "12.8", "--", self.program, "env", "12.4", "--format", "modulefile")
        self.assertEqual(inside.stdout, plain)

    def test_loading_it_is_what_exec_sets_whatever_the_name(self):
        for locale in ("C", "C.UTF-8"):
            for index, name in enumerate(HOSTILE_NAMES):
                if locale != "C" and not name.isprintable():
                    continue  # Tcl has no byte that is no character
                with self.subTest(locale=locale, name=os.fsencode(name)):
                    root = self.box.top / str(index) / name
                    self.box.toolkit("12.4.1", ["nvcc"], root=root)
                    (root / "versions/12.4.1/include/cccl").mkdir(parents=True, exist_ok=True)
                    env = {"CUDAENV_ROOT": str(root), "LC_ALL": locale, "LD_LIBRARY_PATH": "/a b", "LIBRARY_PATH": "/l", **self.OPTED_IN}
                    found, wanted = self.evaluated(self.modulefile(env=env), env), self.values("-v", "12.4", env=env)
                    for variable in self.SET:
                        self.assertEqual(found.get(variable), wanted[variable], variable)

    def test_of_nothing_is_refused(self):
        for arguments in ((), ("system",)):
            error = self.cudaenv("env", *arguments, "--format", "modulefile")
            self.assert_fails(error, 2, "a modulefile is for a toolkit", "cudaenv env VERSION --format modulefile")

    def test_refused_by_the_gate_tells_how_to_have_it_all_the_same(self):
        env = {"CUDAENV_OVERRIDE_DRIVER": "470.57.02"}
        error = self.cudaenv("env", "12.4", "--format", "modulefile", env=env)
        self.assert_fails(error, 5, "CUDAENV_GATE=off cudaenv env 12.4 --format modulefile")
        self.assertEqual(self.modulefile(env={**env, "CUDAENV_GATE": "off"}), self.modulefile())

    def in_bash(self, program, script, env):
        """What a script prints that may use `module`, with modules of both toolkits."""
        function = module_function(program)
        if not function:
            self.skipTest(f"no {program}")
        for version in ("12.4", "12.8"):
            self.box.write(f"modules/cuda/{version}", self.modulefile(version, env=self.OPTED_IN))
        env = {"MODULEPATH": str(self.box.top / "modules"), "LC_ALL": "C.UTF-8", **env}
        return self.box.run(shutil.which("bash"), "--norc", "-c", function + script, env=env)

    def test_SYS_06_load_and_unload_by_the_real_programs(self):
        names = "".join(f"${{{name}-unset}}|" for name in self.SET)
        before = {"LIBRARY_PATH": "/l"}
        wanted = self.values("-v", "12.4", env={**before, **self.OPTED_IN})
        for program in MODULES:
            with self.subTest(program=program):
                result = self.in_bash(program, f'module load cuda/12.4; echo "{names}"; module unload cuda/12.4; echo "{names}"', before)
                loaded = "|".join(wanted[name] for name in self.SET)
                unloaded = "|".join({**self.box.environment, **before}.get(name, "unset") for name in self.SET)
                self.assertEqual(result.stdout.decode(), f"{loaded}|\n{unloaded}|\n", result.stderr)

    def test_SYS_06_never_two_at_once(self):
        """Environment Modules refuses the second one, Lmod puts it in place of the first."""
        for program in MODULES:
            with self.subTest(program=program):
                script = 'module load cuda/12.4; module load cuda/12.8; echo "$CUDA_HOME/bin:/usr/bin:$PATH"'
                result = self.in_bash(program, script, {"PATH": "/usr/bin"})
                self.assertRegex(result.stdout.decode(), r"\A(/.*/bin:/usr/bin):\1\n\Z", result.stderr)


if __name__ == "__main__":
    unittest.main()
