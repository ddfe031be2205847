#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The environment of a toolkit: what is set, what is left alone, and the forms in which `env` prints it."""

import json
import os
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest

HOSTILE_NAMES = ["a b", "a'b", 'a"b', "$HOME $(id) `id`", "a\\b", "a;b&c|d", "*?[x]{y}~!^", "#a", "-a", "%PATH%", "caf\u00e9", "\udce9"]


class EnvTest(ProgramTest):
    def values(self, *arguments, env=None, **options):
        """The environment that a command run by `exec` finds."""
        return self.read(self.cudaenv("exec", *arguments, "--", "/usr/bin/env", "-0", env=env, **options))

    def values_inside(self, outer, inner, **env):
        """The same for an `exec` in an `exec`."""
        return self.read(self.cudaenv("exec", "-v", outer, "--", self.program, "exec", "-v", inner, "--", "/usr/bin/env", "-0", env=env))

    def read(self, result):
        self.assertEqual((result.returncode, result.stderr), (0, b""), result.stderr)
        return dict(os.fsdecode(entry).split("=", 1) for entry in result.stdout.split(b"\0") if entry)

    def document(self, *arguments, **options):
        return json.loads(self.cudaenv("env", *arguments, "--format", "json", **options).stdout)


class Setting(EnvTest):
    def test_what_is_set(self):
        before = self.values("-v", "system")
        after = self.values("-v", "12.4")
        changed = {name: value for name, value in after.items() if before.get(name) != value}
        self.assertEqual(changed, {
            "CUDA_HOME": str(self.old), "CUDA_PATH": str(self.old), "CUDAToolkit_ROOT": str(self.old),
            "CUDACXX": f"{self.old}/bin/nvcc", "CUDAENV_ACTIVE": "12.4.1", "CUDAENV_VERSION": "12.4.1",
            "PATH": f"{self.old}/bin:{self.box.environment['PATH']}"})
        self.assertEqual(set(before) - set(after), set())

    def test_BLD_01_both_variables_name_one_directory_whatever_was_exported(self):
        env = {"CUDA_PATH": "/usr/local/cuda-11.8", "CUDA_HOME": "/usr/local/cuda-11.8:", "CUDAToolkit_ROOT": "/x"}
        result = self.cudaenv("exec", "-v", "12.4", "--", "sh", "-c", "echo $CUDA_HOME $CUDA_PATH $CUDAToolkit_ROOT; nvcc; command -v nvcc",
                              env=env)
        self.assert_prints(result, f"{self.old} {self.old} {self.old}\n{self.old}/bin/nvcc\n{self.old}/bin/nvcc\n")

    def test_toolkit_comes_first_on_path_and_once(self):
        for path in (f"/usr/bin:{self.old}/bin", f"{self.old}/bin:/usr/bin:{self.old}/bin"):
            self.assertEqual(self.values("-v", "12.4", env={"PATH": path})["PATH"], f"{self.old}/bin:/usr/bin")
        self.assertEqual(self.values_inside("12.4", "12.4", PATH="/usr/bin")["PATH"], f"{self.old}/bin:/usr/bin")

    def test_users_entries_keep_their_order_and_their_empty_elements(self):
        for path in ("/b:/usr/bin::/a:/b", ":/usr/bin", "/usr/bin:"):
            self.assertEqual(self.values("-v", "12.4", env={"PATH": path})["PATH"], f"{self.old}/bin:{path}")

    def test_ENV_04_switching_inside_an_exec_leaves_nothing_of_the_first(self):
        self.box.write(self.box.root / "config.toml", '[env]\ncompiler_paths = true\nlibrary_path = "toolkit"\n')
        for env in ({}, {"LD_LIBRARY_PATH": "/mine:", "CPATH": "", "CUDA_HOME": "/opt/x", "LIBRARY_PATH": "/l"}):
            switched = self.values_inside("12.4", "12.8", **env)
            self.assertEqual(switched, self.values("-v", "12.8", env=env))
            self.assertNotIn("12.4.1", str(switched))

    def test_ENV_04_system_inside_an_exec_gives_back_what_was_there(self):
        self.box.write(self.box.root / "config.toml", '[env]\ncompiler_paths = true\nlibrary_path = "toolkit"\n')
        for env in ({}, {"LD_LIBRARY_PATH": "/mine::/lib", "CPATH": "", "CUDA_HOME": "/opt/x:", "LIBRARY_PATH": "/a b\n;%41",
                         "CUDACXX": "/opt/x/nvcc", "CUDA_PATH": ""}):
            self.assertEqual(self.values_inside("12.4", "system", **env), self.values("-v", "system", env=env))

    def test_system_leaves_the_users_own_alone(self):
        user = {"CUDA_HOME": "/opt/x", "CUDA_PATH": "/opt/x", "CUDACXX": "/opt/x/bin/nvcc", "LD_LIBRARY_PATH": "/opt/x/lib64"}
        values = self.values(env=user)
        self.assertEqual({name: values[name] for name in user}, user)

    def test_BLD_11_cmake_compiler_is_the_real_nvcc_unless_the_user_chose(self):
        self.assertEqual(self.values("-v", "12.4")["CUDACXX"], f"{self.old}/bin/nvcc")
        self.assertEqual(self.values("-v", "12.4", env={"CUDACXX": ""})["CUDACXX"], f"{self.old}/bin/nvcc")
        self.assertEqual(self.values_inside("12.8", "12.4")["CUDACXX"], f"{self.old}/bin/nvcc")
        self.assertEqual(self.values("-v", "12.4", env={"CUDACXX": "/my/clang++"})["CUDACXX"], "/my/clang++")
        self.box.toolkit("11.8.0", ["ptxas"])
        self.assertNotIn("CUDACXX", self.values("-v", "11.8"))
        self.assertNotIn("CUDACXX", self.values_inside("12.4", "11.8"))


class Libraries(EnvTest):
    def library_path(self, setting, before):
        return self.values("-v", "12.4", env={"CUDAENV_ENV_LIBRARY_PATH": setting, "LD_LIBRARY_PATH": before}).get("LD_LIBRARY_PATH")

    def test_ENV_03_toolkit_is_not_there_by_default(self):
        self.assertNotIn("LD_LIBRARY_PATH", self.values("-v", "12.4"))

    def test_library_shims_come_first_once_they_exist(self):
        lib = self.box.shims / "lib"
        self.assertIsNone(self.library_path("shims", None))
        lib.mkdir()
        self.assertEqual(self.library_path("shims", None), f"{lib}")
        self.assertEqual(self.library_path(None, "/a"), f"{lib}:/a")
        self.assertEqual(self.library_path("shims", f"/a:{lib}:/b"), f"{lib}:/a:/b")

    def test_toolkits_own(self):
        self.assertEqual(self.library_path("toolkit", None), f"{self.old}/lib")
        self.assertEqual(self.library_path("toolkit", f"/a:{self.old}/lib:/b"), f"{self.old}/lib:/a:/b")

    def test_ENV_01_unset_and_empty_stay(self):
        (self.box.shims / "lib").mkdir()
        for before in (None, ""):
            self.assertEqual(self.library_path("none", before), before)
            self.assertEqual(self.library_path("toolkit", before), f"{self.old}/lib")
        self.assertNotIn("LD_LIBRARY_PATH", self.values_inside("12.4", "system", CUDAENV_ENV_LIBRARY_PATH="toolkit"))

    def test_ENV_01_users_empty_elements_stay_and_none_is_added(self):
        for before in (":/a", "/a:", "/a::/b"):
            self.assertEqual(self.library_path("none", before), before)
            self.assertEqual(self.library_path("toolkit", before), f"{self.old}/lib:{before}")

    def test_ENV_09_users_stubs_are_left_alone_and_none_are_added(self):
        self.assertEqual(self.library_path("toolkit", "/x/lib/stubs"), f"{self.old}/lib:/x/lib/stubs")

    def test_project_chooses(self):
        self.select("12.4")
        self.box.write(self.box.project / ".cudaenv.toml", '[env]\nlibrary_path = "toolkit"\n')
        self.assertEqual(self.values()["LD_LIBRARY_PATH"], f"{self.old}/lib")
        (self.box.project / "sub").mkdir()
        self.assertEqual(self.values(cwd=self.box.project / "sub")["LD_LIBRARY_PATH"], f"{self.old}/lib")
        self.assertNotIn("LD_LIBRARY_PATH", self.values("-v", "12.4", cwd=self.box.home))

    def test_project_cannot_choose_the_mirror(self):
        self.select("12.4")
        self.box.write(self.box.project / ".cudaenv.toml", 'mirror = "http://evil.example"\n[env]\nlibrary_path = "none"\n')
        result = self.cudaenv("exec", "nvcc")
        self.assertEqual((result.returncode, result.stdout.decode()), (0, f"{self.old}/bin/nvcc\n"))
        self.assertIn(b"mirror cannot be set by a project and is ignored", result.stderr)


class CompilerPaths(EnvTest):
    def values_with(self, **before):
        return self.values("-v", "12.4", env={"CUDAENV_ENV_COMPILER_PATHS": "true", **before})

    def test_not_by_default(self):
        self.assertFalse({"CPATH", "LIBRARY_PATH"} & set(self.values("-v", "12.4")))

    def test_ENV_07_include_and_nothing_deeper(self):
        values = self.values_with()
        self.assertEqual((values["CPATH"], values["LIBRARY_PATH"]), (f"{self.old}/include", f"{self.old}/lib:{self.old}/lib/stubs"))

    def test_ENV_07_cccl_of_13(self):
        (self.old / "include" / "cccl").mkdir(parents=True)
        self.assertEqual(self.values_with()["CPATH"], f"{self.old}/include:{self.old}/include/cccl")

    def test_ENV_09_stubs_come_after_all_that_the_user_has(self):
        values = self.values_with(LIBRARY_PATH=f"/a:{self.old}/lib:{self.old}/lib/stubs:/b", CPATH="/inc")
        self.assertEqual(values["LIBRARY_PATH"], f"{self.old}/lib:/a:/b:{self.old}/lib/stubs")
        self.assertEqual(values["CPATH"], f"{self.old}/include:/inc")

    def test_ENV_01_empty_before(self):
        self.assertEqual(self.values_with(CPATH="", LIBRARY_PATH="")["CPATH"], f"{self.old}/include")
        values = self.values("-v", "12.4", env={"CPATH": "", "LIBRARY_PATH": ""})
        self.assertEqual((values["CPATH"], values["LIBRARY_PATH"]), ("", ""))


class Formats(EnvTest):
    def setUp(self):
        super().setUp()
        self.select("12.4")

    def evaluated(self, shell, *arguments, env):
        """What a real shell has after evaluating the text."""
        if not shutil.which(shell):
            self.skipTest(f"no {shell}")
        options = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
        source = 'eval "$("$0" env "$@")"' if shell != "fish" else "$argv[1] env $argv[2..-1] | source"
        # In the C locale fish does not pass on the bytes of a variable as they are.
        result = self.box.run(shutil.which(shell), *options, "-c", f"{source}; /usr/bin/env -0", self.program, *arguments,
                              "--shell", shell, env={**env, "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(self.box.top / "xdg")})
        self.assertEqual((result.returncode, result.stderr), (0, b""), result.stderr)
        return dict(os.fsdecode(entry).split("=", 1) for entry in result.stdout.split(b"\0") if entry)

    def test_sh_is_what_exec_sets(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                for index, name in enumerate(HOSTILE_NAMES):
                    root = self.box.top / str(index) / name
                    toolkit = self.box.toolkit("12.4.1", ["nvcc"], root=root)
                    env = {"CUDAENV_ROOT": str(root), "LD_LIBRARY_PATH": "/a b:/c\nd:/e'f", "CPATH": f"/x:{root}/versions/1.0.0/include",
                           "CUDAENV_ENV_LIBRARY_PATH": "toolkit", "LIBRARY_PATH": f"{root}/versions/1.0.0/lib",
                           "CUDAENV_ACTIVE": "1.0.0"}
                    found, wanted = self.evaluated(shell, env=env), self.values(env=env)
                    self.assertEqual(wanted["CUDA_HOME"], str(toolkit))
                    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "PATH", "LD_LIBRARY_PATH", "CPATH",
                                     "LIBRARY_PATH", "CUDAENV_ACTIVE"):
                        self.assertEqual(found.get(variable), wanted.get(variable), variable)

    def test_evaluating_twice_changes_nothing(self):
        source = 'eval "$("$0" env)"; env > once; eval "$("$0" env)"; env > twice; cmp once twice && grep -c "^PATH=.*12.4.1/bin" twice'
        self.assert_prints(self.box.run("/bin/sh", "-c", source, self.program), "1\n")

    def test_system_prints_what_undoes_it(self):
        source = 'a=$(env | sort); eval "$("$0" env)"; eval "$("$0" env system)"; b=$(env | sort); [ "$a" = "$b" ] || echo "$b"'
        self.assert_prints(self.box.run("/bin/sh", "-c", source, self.program), "")

    def test_BLD_06_text_never_ends_the_shell(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertNotRegex(self.cudaenv("env", "--shell", shell).stdout.decode(), r"\b(exit|return|logout|exec)\b")

    def test_SYS_07_dotenv(self):
        lines = self.cudaenv("env", "--format=dotenv").stdout.decode().splitlines()
        self.assertIn(f"CUDA_HOME={self.old}", lines)
        for line in lines:
            self.assertRegex(line, r"^[A-Za-z_]+=[^'\"\s]*$")
        self.box.toolkit("12.4.1", root=self.box.top / "a b'$x")
        text = self.cudaenv("env", "--format=dotenv", env={"CUDAENV_ROOT": str(self.box.top / "a b'$x")}).stdout
        read = self.box.run("/bin/sh", "-c", 'set -a; . /dev/stdin; echo "$CUDA_HOME"', input=text)
        self.assert_prints(read, f"{self.box.top}/a b'$x/versions/12.4.1\n")

    def test_json_has_null_for_what_is_unset(self):
        result = self.cudaenv("exec", "--", self.program, "env", "system", "--format", "json")
        document = json.loads(result.stdout)
        self.assertEqual(document["PATH"], self.box.environment["PATH"])
        self.assertEqual([document[name] for name in ("CUDA_HOME", "CUDACXX", "CUDAENV_ACTIVE")], [None] * 3)

    def test_SYS_07_whole_also_where_it_is_active_already(self):
        for form in ("sh", "dotenv", "json", "modulefile"):
            outside = self.cudaenv("env", "--format", form).stdout
            self.assert_prints(self.cudaenv("exec", "--", self.program, "env", "--format", form), outside.decode())

    def test_unknown_words(self):
        self.assert_fails(self.cudaenv("env", "--shell", "tcsh"), 2, 'no shell "tcsh"', "known: bash, zsh, fish")
        self.assert_fails(self.cudaenv("env", "--format", "yaml"), 2, 'no format "yaml"', "known: sh, dotenv, json, github, modulefile")

    def test_of_another_toolkit(self):
        self.assertEqual(self.document("12.8")["CUDA_HOME"], str(self.new))
        self.assert_fails(self.cudaenv("env", "13"), 4, "CUDA 13 is not installed")


class Github(EnvTest):
    """Against the rules of the runner: GITHUB_ENV takes NAME=value or NAME<<END, lines, END; GITHUB_PATH a directory a line,
    the last one first on PATH."""

    def setUp(self):
        super().setUp()
        self.step, self.variables, self.path = {}, {}, self.box.environment["PATH"]
        self.github_env, self.github_path = self.box.top / "github/env", self.box.top / "github/path"

    def run_step(self, *arguments, env=None):
        """One step of a job: what it wrote into the two files holds for the steps after it."""
        self.box.write(self.github_env), self.box.write(self.github_path)
        env = {**self.variables, "PATH": self.path, "GITHUB_ENV": str(self.github_env), "GITHUB_PATH": str(self.github_path), **(env or {})}
        result = self.cudaenv(*arguments, env=env)
        lines = iter(os.fsdecode(self.github_env.read_bytes()).split("\n"))
        for line in lines:
            name, equals, value = line.partition("=")
            if "<<" in name:
                name, end = line.split("<<", 1)
                value = "\n".join(iter(lambda: next(lines), end))
            elif not equals:
                self.assertEqual(line, "")
                continue
            self.variables[name] = value
        for directory in os.fsdecode(self.github_path.read_bytes()).splitlines():
            self.path = f"{directory}:{self.path}"
        return result

    def test_SYS_07_next_step_has_what_exec_sets(self):
        self.select("12.4")
        before = {"CUDAENV_ENV_LIBRARY_PATH": "toolkit", "LD_LIBRARY_PATH": "/a b:/c\nd=e<<f\nCUDAENV_END", "CPATH": ""}
        self.variables.update(before)
        self.assert_prints(self.run_step("env", "--format", "github"), "")
        wanted = self.values(env=before)
        self.assertEqual({**self.box.environment, **self.variables, "PATH": self.path, "PWD": wanted["PWD"]}, wanted)

    def test_nothing_of_others_is_touched(self):
        self.box.write(self.github_env, "OTHER=1\n"), self.box.write(self.github_path, "/other\n")
        env = {"GITHUB_ENV": str(self.github_env), "GITHUB_PATH": str(self.github_path)}
        self.assert_prints(self.cudaenv("env", "12.4", "--format", "github", env=env), "")
        self.assertEqual(self.github_path.read_text(), f"/other\n{self.old}/bin\n")
        self.assertTrue(self.github_env.read_text().startswith(f"OTHER=1\nCUDA_HOME={self.old}\n"))
        self.assertNotIn("\nPATH", self.github_env.read_text())

    def test_ENV_04_another_toolkit_in_a_later_step(self):
        self.box.toolkit("11.8.0", ["ptxas"])
        self.run_step("env", "12.4", "--format", "github")
        self.run_step("env", "11.8", "--format", "github")
        self.assertEqual(self.variables["CUDA_HOME"], f"{self.box.root}/versions/11.8.0")
        self.assertEqual(self.variables["CUDACXX"], "", "of the first toolkit, which the second has none to replace by")
        self.assertTrue(self.path.startswith(f"{self.box.root}/versions/11.8.0/bin:"))

    def test_system_in_a_later_step_tells_what_stays(self):
        self.assert_prints(self.run_step("env", "system", "--format", "github"), "")
        self.run_step("env", "12.4", "--format", "github")
        result = self.run_step("env", "system", "--format", "github")
        self.assertEqual((result.returncode, self.variables["CUDA_HOME"], self.variables["CUDAENV_ACTIVE"]), (0, "", ""))
        self.assertIn(b"GITHUB_PATH takes nothing back", result.stderr)

    def test_elsewhere_is_refused(self):
        for env in ({}, {"GITHUB_ENV": str(self.box.top / "x")}, {"GITHUB_ENV": "", "GITHUB_PATH": ""}):
            error = self.cudaenv("env", "12.4", "--format", "github", env=env)
            self.assert_fails(error, 2, "GITHUB_ENV and GITHUB_PATH are not set")
        self.assertFalse((self.box.top / "x").exists())


if __name__ == "__main__":
    unittest.main()
