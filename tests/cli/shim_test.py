#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command shim, as it is installed: the real binary under many names in a root built by hand."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import NOBODY, PROGRAM, SHIM, Sandbox, execve_raw

IS_ROOT = os.geteuid() == 0


class ShimTest(unittest.TestCase):
    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.box.toolkit("12.4.1", ["nvcc", "ptxas"])
        self.box.toolkit("12.8.1", ["nvcc", "ptxas"])
        self.nvcc = self.box.shim("nvcc")

    def select(self, text, directory=None):
        return self.box.write((directory or self.box.project) / ".cuda-version", text)

    def path_of(self, release, tool="nvcc"):
        return str(self.box.root / "versions" / release / "bin" / tool)

    def assert_runs(self, result, path):
        self.assertEqual((result.returncode, result.stdout.decode(), result.stderr.decode()), (0, f"{path}\n", ""))

    def assert_fails(self, result, *patterns, status=127):
        error = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (status, b""), error)
        self.assertTrue(error.startswith("cudaenv: "), error)
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", error), error)
        for pattern in patterns:
            self.assertIn(pattern, error)

    def put_in_place_of_nvcc(self, program, release="12.8.1"):
        """A binary as the tool, which a script cannot be where argv[0] matters."""
        tool = Path(self.path_of(release))
        tool.unlink()
        shutil.copy(shutil.which(program), tool)
        self.select(release)
        return tool


class Selecting(ShimTest):
    def test_runs_the_tool_of_the_selected_toolkit(self):
        self.select("12.4\n")
        self.assert_runs(self.box.run("nvcc"), self.path_of("12.4.1"))

    def test_SYS_07_home_and_path_are_enough(self):
        self.select("12.4\n")
        result = subprocess.run(["nvcc"], executable=self.nvcc, cwd=self.box.project, capture_output=True,
                                env={"HOME": str(self.box.home), "PATH": "/usr/bin:/bin"})
        self.assert_runs(result, self.path_of("12.4.1"))

    def test_SYS_07_empty_environment(self):
        # The shim knows its root by the place it lies in.
        self.select("12.4\n")
        result = subprocess.run([self.nvcc], cwd=self.box.project, env={}, capture_output=True)
        self.assert_runs(result, self.path_of("12.4.1"))

    def test_SYS_07_sh_finds_the_shim_on_path(self):
        self.select("12.4\n")
        result = self.box.run("/bin/sh", "-c", "cd project && nvcc", cwd=self.box.home)
        self.assert_runs(result, self.path_of("12.4.1"))

    def test_arguments_never_select(self):
        self.select("12.4\n")
        for argument in ("--version", "-v", "12.8", "CUDAENV_VERSION=12.8"):
            self.assert_runs(self.box.run("nvcc", argument), self.path_of("12.4.1"))

    def test_VER_01_line_endings(self):
        for text in ("12.4\r\n", "12.4\n", "12.4", "12.4\r"):
            self.select(text)
            self.assert_runs(self.box.run("nvcc"), self.path_of("12.4.1"))

    def test_VER_01_carriage_return_in_the_root_variable(self):
        bad = f"{self.box.root}\r"
        result = self.box.run("nvcc", env={"CUDAENV_ROOT": bad})
        self.assert_fails(result, "CUDAENV_ROOT is", "\\x0d")
        self.assertFalse(os.path.lexists(bad))

    def test_relative_root_variable(self):
        self.assert_fails(self.box.run("nvcc", env={"CUDAENV_ROOT": ".cudaenv"}), 'CUDAENV_ROOT is ".cudaenv"')

    def test_VER_02_text_is_never_a_path(self):
        outside = self.box.tool(self.box.top / "evil" / "bin", "nvcc", "echo evil")
        for text in ("../../../../evil", str(outside.parent.parent), "12.4/../../x", ".", "..", "-rf", "12.4;id",
                     "$(id)", "1" * 60000, "x" * 200000):
            with self.subTest(text=text[:20]):
                file = self.select(text + "\n")
                self.assert_fails(self.box.run("nvcc"), str(file))
                if len(text) < 60000:
                    self.assert_fails(self.box.run("nvcc", env={"CUDAENV_VERSION": text}), "CUDAENV_VERSION")

    def test_VER_02_control_bytes_never_reach_the_terminal(self):
        file = self.select("\x1b]0;owned\x07\n")
        self.assert_fails(self.box.run("nvcc"), f"{file}:1", "\\x1b]0;owned\\x07")

    def test_VER_07_missing_release(self):
        file = self.select("# pinned\n11.8\n")
        result = self.box.run("nvcc")
        self.assert_fails(result)
        self.assertEqual(result.stderr.decode(), f"cudaenv: CUDA 11.8 is not installed (set by {file}:2)\n"
                                                 "  installed: 12.4.1, 12.8.1\n"
                                                 "try: cudaenv install 11.8\n")

    def test_VER_07_no_fallback_to_the_system(self):
        self.select("11.8\n")
        self.box.tool("usr", "nvcc", "echo system")
        path = f"{self.box.shims}:{self.box.top}/usr:/usr/bin:/bin"
        self.assert_fails(self.box.run("nvcc", env={"PATH": path}), "CUDA 11.8 is not installed")

    def test_leftover_of_an_install_is_not_run(self):
        self.box.tool(self.box.root / "versions" / "12.9.0" / "bin", "nvcc")
        self.select("12")
        self.assert_runs(self.box.run("nvcc"), self.path_of("12.8.1"))

    def test_adopted_toolkit(self):
        self.box.tool("opt/cuda/bin", "nvcc")
        (self.box.root / "versions" / "site").symlink_to(self.box.top / "opt" / "cuda")
        self.select("site")
        self.assert_runs(self.box.run("nvcc"), self.path_of("site"))

    def test_SYS_03_shared_root(self):
        shared = self.box.top / "sw"
        self.box.toolkit("13.0.2", root=shared)
        self.select("13")
        result = self.box.run("nvcc", env={"CUDAENV_SHARED_ROOT": str(shared)})
        self.assert_runs(result, shared / "versions" / "13.0.2" / "bin" / "nvcc")

    def test_SYS_03_shim_of_the_shared_root_serves_the_users_own_too(self):
        shared = self.box.top / "sw"
        shared_nvcc = self.box.shim("nvcc", shared / "shims")
        self.select("12.4")
        result = self.box.run(shared_nvcc, env={"CUDAENV_SHARED_ROOT": str(shared)})
        self.assert_runs(result, self.path_of("12.4.1"))


class FindingItself(ShimTest):
    def test_through_a_link_from_outside(self):
        self.select("12.4")
        link = self.box.top / "nvcc"
        link.symlink_to(self.nvcc)
        self.assert_runs(self.box.run(link, env={"HOME": None}), self.path_of("12.4.1"))

    def test_copy_of_the_file(self):
        self.nvcc.unlink()
        shutil.copy(SHIM, self.nvcc)
        self.select("12.4")
        self.assert_runs(self.box.run("nvcc"), self.path_of("12.4.1"))

    def test_outside_of_any_root_the_home_counts(self):
        self.select("12.4")
        copy = self.box.top / "nvcc"
        shutil.copy(SHIM, copy)
        self.assert_runs(self.box.run(copy), self.path_of("12.4.1"))
        self.assert_fails(self.box.run(copy, env={"HOME": None}), "neither CUDAENV_ROOT nor HOME")
        self.assert_fails(self.box.run(copy, env={"HOME": "home"}, cwd=self.box.top), "neither CUDAENV_ROOT nor HOME")

    def test_home_behind_a_link_is_spelt_as_the_user_does(self):
        self.select("12.4")
        elsewhere = self.box.top / "disk"
        self.box.root.rename(elsewhere)
        self.box.root.symlink_to(elsewhere)
        self.assert_runs(self.box.run("nvcc"), self.path_of("12.4.1"))

    def test_root_with_odd_bytes(self):
        root = self.box.top / "a b'$(id)\n\xe9"
        self.box.toolkit("12.4.1", root=root)
        self.select("12.4")
        result = self.box.run(self.box.shim("nvcc", root / "shims"))
        self.assertEqual(os.fsdecode(result.stdout), f"{root}/versions/12.4.1/bin/nvcc\n")

    def test_name_is_the_last_part_of_argv0(self):
        self.select("12.4")
        ptxas = self.path_of("12.4.1", "ptxas")
        for name in ("ptxas", "/nowhere/ptxas", "../ptxas"):
            self.assert_runs(self.box.run(name, executable=self.nvcc), ptxas)

    def test_no_name(self):
        for arguments in ([], [b""], [b"/usr/bin/"]):
            status, output = execve_raw(self.nvcc, arguments, [], self.box.project)
            self.assertEqual(status, 127)
            self.assertTrue(output.startswith(b"cudaenv: a shim was started without a name"), output)

    def test_own_name_explains(self):
        result = self.box.run(SHIM)
        self.assert_fails(result, "not started by its own name", "nvcc", status=2)


class MissingTool(ShimTest):
    def test_in_another_toolkit(self):
        self.box.toolkit("11.8.0", ["nvprof"])
        file = self.select("12.4.1")
        result = self.box.run(self.box.shim("nvprof"))
        self.assert_fails(result)
        self.assertEqual(result.stderr.decode(), f"cudaenv: nvprof is not in CUDA 12.4.1 (set by {file}:1)\n"
                                                 "  installed toolkits that have it: 11.8.0\n"
                                                 "try: cudaenv exec -v 11.8.0 -- nvprof\n")

    def test_nowhere(self):
        self.select("12.4")
        self.assert_fails(self.box.run(self.box.shim("nvccc")), "unknown tool nvccc: no installed toolkit has it")

    def test_nothing_selected(self):
        self.assert_fails(self.box.run("nvcc", env={"PATH": str(self.box.shims)}, executable=self.nvcc),
                          "nvcc is not on PATH (nothing selects a toolkit here)", "12.4.1, 12.8.1",
                          "try: cudaenv exec -v 12.8.1 -- nvcc")

    def test_strange_names(self):
        self.select("12.4")
        for name in ("..", ".", "-nvcc", "\x1b[31m", "n" * 5000, "nvcc.profile"):
            with self.subTest(name=name[:10]):
                self.box.write(Path(self.path_of("12.4.1")).with_name("nvcc.profile"), "TOP = ..")
                self.assert_fails(self.box.run(name, executable=self.nvcc), "unknown tool")

    def test_directory_of_the_name_is_no_tool(self):
        (self.box.root / "versions" / "12.4.1" / "bin" / "crt").mkdir()
        self.select("12.4")
        self.assert_fails(self.box.run(self.box.shim("crt")), "unknown tool crt")

    def test_missing_interpreter(self):
        self.box.write(self.path_of("12.4.1"), "#!/no/such/interpreter\n", 0o755)
        self.select("12.4")
        self.assert_fails(self.box.run("nvcc"), f"cannot start {self.path_of('12.4.1')}: No such file", "interpreter")

    def test_damaged_program(self):
        self.box.write(self.path_of("12.4.1"), b"\x7fELF damaged", 0o755)
        self.select("12.4")
        self.assert_fails(self.box.run("nvcc"), f"cannot start {self.path_of('12.4.1')}: Exec format", status=126)

    @unittest.skipUnless(IS_ROOT, "needs root, to run as another user")
    def test_program_of_somebody_else(self):
        Path(self.path_of("12.4.1")).chmod(0o700)
        self.select("12.4")
        self.assert_fails(self.box.run("nvcc", user=NOBODY, group=NOBODY, extra_groups=[]),
                          f"cannot start {self.path_of('12.4.1')}: Permission denied", status=126)


class System(ShimTest):
    def setUp(self):
        super().setUp()
        self.usr = self.box.tool("usr/bin", "nvcc").parent
        (self.box.top / "spelling").symlink_to(self.box.shims)
        top, shims = self.box.top, self.box.shims
        self.three_spellings = f"{shims}:{shims}/:{top}/spelling:{top}/home/../spelling/"

    def run_system(self, path, **options):
        return self.box.run("nvcc", executable=self.nvcc, env={"PATH": path, "CUDAENV_VERSION": "system"}, **options)

    def test_SHIM_01_system_never_finds_a_shim(self):
        self.assert_runs(self.run_system(f"{self.three_spellings}:{self.usr}"), self.usr / "nvcc")

    def test_SHIM_01_nothing_but_shims_fails_at_once(self):
        start = time.monotonic()
        result = self.run_system(self.three_spellings)
        self.assertLess(time.monotonic() - start, 1)
        self.assert_fails(result, "nvcc is not on PATH (system is set by the variable CUDAENV_VERSION)")

    def test_SHIM_01_link_to_a_shim_is_one(self):
        (self.box.top / "links").mkdir()
        (self.box.top / "links" / "nvcc").symlink_to(self.nvcc)
        self.assert_runs(self.run_system(f"{self.box.top}/links:{self.usr}"), self.usr / "nvcc")

    def test_SHIM_01_own_file_under_another_name(self):
        (self.box.top / "hard").mkdir()
        os.link(self.nvcc, self.box.top / "hard" / "nvcc")
        self.assert_runs(self.run_system(f"{self.box.top}/hard:{self.usr}"), self.usr / "nvcc")

    def test_SHIM_01_shims_of_another_root_or_manager(self):
        self.box.shim("nvcc", self.box.top / "other" / "shims")
        self.box.tool("manager/shims", "nvcc", "echo manager")
        path = f"{self.box.top}/other/shims:{self.box.top}/manager/shims:{self.usr}"
        self.assert_runs(self.run_system(path), self.usr / "nvcc")

    def test_SHIM_01_wrapper_that_calls_back_stops(self):
        self.box.tool("wrap", "nvcc", 'echo x >> "$COUNT"; exec nvcc "$@"')
        count = self.box.write("count")
        result = self.box.run("nvcc", env={"PATH": f"{self.box.shims}:{self.box.top}/wrap:/usr/bin:/bin",
                                           "CUDAENV_VERSION": "system", "COUNT": str(count)})
        self.assert_fails(result, "nvcc leads back to a shim", "CUDAENV_SHIM_DEPTH")
        self.assertEqual(count.read_text().count("x"), 20)

    def test_depth_variable_that_is_no_number_counts_as_none(self):
        for text in ("", "x", "-5"):
            result = self.box.run("nvcc", env={"PATH": str(self.usr), "CUDAENV_SHIM_DEPTH": text},
                                  executable=self.nvcc)
            self.assert_runs(result, self.usr / "nvcc")

    def test_what_cannot_be_run_is_passed_over(self):
        self.box.write("plain/nvcc", "no program")
        (self.box.top / "directory" / "nvcc").mkdir(parents=True)
        (self.box.top / "dangling").mkdir()
        (self.box.top / "dangling" / "nvcc").symlink_to("nowhere")
        path = f"{self.box.top}/plain:{self.box.top}/directory:{self.box.top}/dangling:/no/such:{'x' * 5000}:{self.usr}"
        self.assert_runs(self.run_system(path), self.usr / "nvcc")

    def test_empty_element_is_the_working_directory(self):
        self.assert_runs(self.run_system(f"{self.box.shims}::/usr/bin", cwd=self.usr), "./nvcc")

    def test_empty_element_in_the_shims_directory_is_no_loop(self):
        self.assert_fails(self.run_system(":", cwd=self.box.shims), "nvcc is not on PATH")

    def test_without_path_the_usual_directories_count(self):
        result = self.box.run("sh", "-c", "echo it is sh", executable=self.nvcc, env={"PATH": None})
        self.assertEqual(result.stdout, b"it is sh\n")

    def test_cuda_home_is_left_alone(self):
        self.box.tool("usr/bin", "nvcc", 'echo "${CUDA_HOME-unset} ${CUDA_PATH-unset}"')
        result = self.box.run("nvcc", executable=self.nvcc, env={"PATH": str(self.usr), "CUDA_HOME": "/mine"})
        self.assertEqual(result.stdout, b"/mine unset\n")


class PassingOn(ShimTest):
    def test_SHIM_05_argv0_is_the_real_path(self):
        tool = self.put_in_place_of_nvcc("cat")
        result = self.box.run("nvcc", "/proc/self/cmdline")
        self.assertEqual(result.stdout, b"%b\0/proc/self/cmdline\0" % os.fsencode(tool))

    def test_every_byte_of_an_argument(self):
        tool = self.put_in_place_of_nvcc("cat")
        arguments = [b"/proc/self/cmdline", b"", b" ", b"*", b"$(id)", b"'\"\\", bytes(range(1, 256)), b"x" * 100000]
        result = self.box.run("nvcc", *arguments)
        self.assertEqual(result.stdout, b"\0".join([os.fsencode(tool), *arguments]) + b"\0")

    def test_many_arguments(self):
        self.put_in_place_of_nvcc("cat")
        arguments = ["/proc/self/cmdline", *(str(number) for number in range(20000))]
        self.assertEqual(self.box.run("nvcc", *arguments).stdout.count(b"\0"), len(arguments) + 1)

    def test_environment_but_for_the_named_variables(self):
        self.put_in_place_of_nvcc("cat")
        mine = [b"B=2", b"A=1", b"A=again", b"no equals sign", b"", b"=x", b"ODD=\x01\xff\n", b"CUDA_HOME=/old",
                b"CUDA_HOMES=kept", b"CUDA_HOME=/older", b"CUDAENV_SHIM_DEPTH=3", b"LAST="]
        status, output = execve_raw(self.nvcc, [b"nvcc", b"/proc/self/environ"], mine, self.box.project)
        toolkit = os.fsencode(self.box.root / "versions" / "12.8.1")
        self.assertEqual(status, 0, output)
        self.assertEqual(output.split(b"\0")[:-1],
                         [b"B=2", b"A=1", b"A=again", b"no equals sign", b"", b"=x", b"ODD=\x01\xff\n",
                          b"CUDA_HOME=" + toolkit, b"CUDA_HOMES=kept", b"CUDAENV_SHIM_DEPTH=4", b"LAST=",
                          b"CUDA_PATH=" + toolkit])

    def test_large_environment(self):
        self.put_in_place_of_nvcc("cat")
        variables = {f"V{number}": "x" for number in range(20000)}
        result = self.box.run("nvcc", "/proc/self/environ", env=variables)
        self.assertEqual(result.stdout.count(b"=x\0"), len(variables))

    def test_stdin(self):
        self.put_in_place_of_nvcc("cat")
        self.assertEqual(self.box.run("nvcc", input=b"a\0b").stdout, b"a\0b")

    def test_exit_status(self):
        self.select("12.8")
        for status in (1, 2, 42, 126, 127, 255):
            self.box.tool(Path(self.path_of("12.8.1")).parent, "nvcc", f"exit {status}")
            result = self.box.run("nvcc")
            self.assertEqual((result.returncode, result.stderr), (status, b""))

    def test_killed_by_a_signal(self):
        self.select("12.8")
        self.box.tool(Path(self.path_of("12.8.1")).parent, "nvcc", "kill -TERM $$")
        self.assertEqual(self.box.run("nvcc").returncode, -signal.SIGTERM)

    def test_same_process(self):
        self.select("12.8")
        self.box.tool(Path(self.path_of("12.8.1")).parent, "nvcc", "echo $$")
        result = self.box.run("/bin/sh", "-c", "echo $$; exec nvcc")
        first, second = result.stdout.split()
        self.assertEqual(first, second)

    def test_signals_umask_and_descriptors(self):
        tool = self.put_in_place_of_nvcc("cat")
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)

        def prepare():
            os.umask(0o027)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

        def state(program):
            options = {"preexec_fn": prepare, "pass_fds": [writer]}
            status = self.box.run(program, "/proc/self/status", **options).stdout.decode()
            wanted = [line for line in status.splitlines() if re.match(r"Umask|Sig(Blk|Ign|Cgt)|FDSize", line)]
            return wanted, self.box.run(program, f"/proc/self/fdinfo/{writer}", **options).stdout
        self.assertEqual(state(self.nvcc), state(tool))

    def test_closed_standard_descriptors(self):
        self.select("12.8")
        result = self.box.run("/bin/sh", "-c", "nvcc 0<&- 2>&-")
        self.assert_runs(result, self.path_of("12.8.1"))
        self.select("11.8")
        self.assertEqual(self.box.run("/bin/sh", "-c", "nvcc 2>&-").returncode, 127)


class Footprint(ShimTest):
    def test_is_static_and_small(self):
        image = SHIM.read_bytes()
        self.assertLess(len(image), 2 * 1024 * 1024)
        self.assertEqual(image[:5], b"\x7fELF\x02", "a 64-bit ELF file")
        self.assertEqual(struct.unpack_from("<H", image, 16)[0], 2, "ET_EXEC, no PIE")
        (offset,), (size, count) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
        kinds = {struct.unpack_from("<I", image, offset + i * size)[0] for i in range(count)}
        self.assertFalse(kinds & {2, 3}, "PT_DYNAMIC (so NEEDED) or PT_INTERP")

    def test_SYS_03_writes_nothing(self):
        self.select("12")
        for place, _, _ in os.walk(self.box.root):
            os.chmod(place, 0o555)
        state = lambda: [(path, path.lstat()[:7], path.lstat().st_mtime_ns) for path in sorted(self.box.top.rglob("*"))]
        before = state()
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if IS_ROOT else {}
        self.assert_runs(self.box.run("nvcc", **who), self.path_of("12.8.1"))
        self.assert_fails(self.box.run("nvcc", env={"CUDAENV_VERSION": "11"}, **who))
        self.assertEqual(state(), before)

    def trace(self, *options):
        if not shutil.which("strace"):
            self.skipTest("no strace")
        log = self.box.top / "trace"
        result = self.box.run(shutil.which("strace"), "-f", "-o", log, *options, self.nvcc)
        if not log.exists() or not log.stat().st_size or b"ptrace" in result.stderr.lower():
            self.skipTest(f"strace does not work here: {result.stderr.decode()}")
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.split(maxsplit=1)[1] for line in log.read_text(errors="replace").splitlines()]

    def let_the_gate_decide(self):
        """The first call asks the program, which keeps its answer for all others."""
        if not PROGRAM.exists():
            self.skipTest(f"{PROGRAM} is not built")
        link = self.box.root / "bin" / "cudaenv"
        link.parent.mkdir()
        link.symlink_to(PROGRAM)
        self.assertEqual(self.box.run("nvcc").returncode, 0)

    def calls_of_the_shim(self):
        self.let_the_gate_decide()
        calls = self.trace()
        starts = [i for i, call in enumerate(calls) if call.startswith("execve(")]
        return calls[starts[0] + 1:starts[1]]

    def test_one_execve_and_no_process(self):
        self.select("12.8")
        self.box.tool(Path(self.path_of("12.8.1")).parent, "nvcc", ":")
        self.let_the_gate_decide()
        calls = self.trace("-e", "trace=execve,clone,clone3,fork,vfork")
        started = [re.match(r'(\w+)\("?([^",]*)', call).groups() for call in calls if not call.startswith("+++")]
        self.assertEqual(started, [("execve", str(self.nvcc)), ("execve", self.path_of("12.8.1"))])

    def test_opens_few_files_and_none_for_writing(self):
        self.select("12")
        deep = self.box.project / "a" / "b" / "c"
        deep.mkdir(parents=True)
        self.box.project = deep
        calls = self.calls_of_the_shim()
        opens = [call for call in calls if call.startswith("open")]
        # Four version files, one directory; for the gate the boot's id, the driver's two files, the cgroup, the record.
        self.assertLessEqual(len(opens), 10, "\n".join(opens))
        for call in opens:
            self.assertNotRegex(call, "O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
        forbidden = re.compile(r"(write|mkdir|unlink|rename|link|symlink|chmod|flock|socket|fork|clone|kill)\w*\(")
        self.assertFalse([call for call in calls if forbidden.match(call)])
        self.assertLessEqual(len(calls), 68, "\n".join(calls))

    def test_tells_a_problem_in_one_write(self):
        self.select("11.8")
        if not shutil.which("strace"):
            self.skipTest("no strace")
        log = self.box.top / "trace"
        self.box.run(shutil.which("strace"), "-o", log, "-e", "trace=write,writev", self.nvcc)
        if not log.exists() or not log.stat().st_size:
            self.skipTest("strace does not work here")
        self.assertEqual(len(re.findall(r"^write", log.read_text(), re.M)), 1)


@unittest.skipUnless(IS_ROOT, "needs root, to make a set-uid program")
class MorePrivileges(ShimTest):
    def test_caller_does_not_choose(self):
        if os.statvfs(self.box.top).f_flag & os.ST_NOSUID:
            self.skipTest("the temporary directory is mounted nosuid")
        self.box.write(self.box.root / "version", "12.4.1")
        self.select("12.8")
        self.nvcc.chmod(0o4755)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for env in ({}, {"CUDAENV_VERSION": "12.8"}, {"CUDAENV_ROOT": str(self.box.top)}, {"HOME": "/"}):
            self.assert_runs(self.box.run("nvcc", env=env, **who), self.path_of("12.4.1"))


if __name__ == "__main__":
    unittest.main()
