#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The choice of a process holds for its life, whatever the process does: threads, forks, exceptions, directories."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cudart import CudartTest, compile_c, linked, program, workshop

FORKING = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int cudaRuntimeGetVersion(int *);
int cudaNumbered42(void);
static void *busy(void *unused) {
  for (;;) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    if (library) { dlsym(library, "cos"); dlclose(library); }
  }
  return unused;
}
int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, busy, NULL)) return 1;
  for (int i = 0; i < 300; ++i) {
    pid_t child = fork();
    if (child == 0) {
      int version = 0;
      alarm(10);
      cudaRuntimeGetVersion(&version);
      _exit(version == 13050 && cudaNumbered42() == 42 ? 0 : 1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) { printf("child %d: %d\n", i, status); return 1; }
  }
  printf("all\n");
  fflush(stdout);
  _exit(0);
}
"""

RACING = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t barrier;
static void *run(void *result) {
  pthread_barrier_wait(&barrier);
  void *library = dlopen("libcudart.so.13", RTLD_LAZY);
  int (*ask)(int *) = (int (*)(int *))dlsym(library, "cudaRuntimeGetVersion");
  int (*numbered)(void) = (int (*)(void))dlsym(library, "cudaNumbered42");
  int version = 0;
  ask(&version);
  *(int *)result = version + numbered();
  return NULL;
}
int main(void) {
  pthread_t threads[32];
  int results[32];
  pthread_barrier_init(&barrier, NULL, 32);
  for (int i = 0; i < 32; ++i) pthread_create(&threads[i], NULL, run, &results[i]);
  for (int i = 0; i < 32; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 32; ++i) if (results[i] != 13050 + 42) { printf("%d\n", results[i]); return 1; }
  printf("all\n");
  return 0;
}
"""

CALLING_IN_THREADS = r"""
#include <pthread.h>
#include <stdio.h>
int cudaNumbered10(void); int cudaNumbered42(void); int cudaRuntimeGetVersion(int *);
static pthread_barrier_t barrier;
static void *run(void *result) {
  pthread_barrier_wait(&barrier);
  int version = 0;
  cudaRuntimeGetVersion(&version);
  *(int *)result = version + cudaNumbered10() + cudaNumbered42();
  return NULL;
}
int main(void) {
  pthread_t threads[32];
  int results[32];
  pthread_barrier_init(&barrier, NULL, 32);
  for (int i = 0; i < 32; ++i) pthread_create(&threads[i], NULL, run, &results[i]);
  for (int i = 0; i < 32; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 32; ++i) if (results[i] != 13050 + 52) return 1;
  printf("all\n");
  return 0;
}
"""

MOVING = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int cudaRuntimeGetVersion(int *);
int main(int count, char **arguments) {
  if (chdir(arguments[1]) || setenv("CUDAENV_VERSION", "13.9", 1)) return 1;
  int first = 0, second = 0, in_child = 0;
  cudaRuntimeGetVersion(&first);
  void *library = dlopen("libcudart.so.13", RTLD_NOW);
  ((int (*)(int *))dlsym(library, "cudaRuntimeGetVersion"))(&second);
  pid_t child = fork();
  if (child == 0) { cudaRuntimeGetVersion(&in_child); _exit(in_child == 13050 ? 50 : 51); }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d %d %d\n", first, second, WEXITSTATUS(status));
  fflush(stdout);
  if (count > 2) execl(arguments[2], arguments[2], NULL);
  return 0;
}
"""

EARLY = r"""
int cudaRuntimeGetVersion(int *);
int early_version;
__attribute__((constructor(101))) static void construct(void) { cudaRuntimeGetVersion(&early_version); }
"""
EARLY_PROGRAM = r"""
#include <stdio.h>
extern int early_version;
int cudaRuntimeGetVersion(int *);
int main(void) { int version = 0; cudaRuntimeGetVersion(&version); printf("%d %d\n", early_version, version); return 0; }
"""

THROWING = r"""
#include <cstdio>
#include <stdexcept>
extern "C" int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int main() {
  for (int i = 0; i < 2; ++i) {
    try {
      cudaLaunchHostFunc(nullptr, [](void *) { throw std::runtime_error("thrown"); }, nullptr);
    } catch (const std::exception &error) {
      std::printf(i ? " %s\n" : "%s", error.what());
    }
  }
}
"""

PASSING = r"""
#include <stdio.h>
struct channel { int x, y, z, w, kind; };
struct large { char bytes[40]; };
struct channel cudaCreateChannelDesc(int, int, int, int, int);
double cudaSumOfAll(int, int, int, int, int, int, int, int, int, double, float, struct large, double);
int main(void) {
  struct large large = {{0}};
  large.bytes[0] = 10;
  large.bytes[39] = 20;
  for (int i = 0; i < 2; ++i) {
    struct channel made = cudaCreateChannelDesc(1, 2, 3, 4, 5);
    double sum = cudaSumOfAll(1, 2, 3, 4, 5, 6, 7, 8, 9, 0.5, 0.25f, large, 1000.0);
    printf("%s%d%d%d%d%d %.2f", i ? " " : "", made.x, made.y, made.z, made.w, made.kind, sum);
  }
  printf("\n");
  return 0;
}
"""

CLOSING = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < 4; ++i) {
    setenv("CUDAENV_VERSION", i % 2 ? "13.9" : "13.5", 1);
    void *library = dlopen("libcudart.so.13", RTLD_NOW);
    if (!library) { printf("%s\n", dlerror()); return 1; }
    int version = 0;
    ((int (*)(int *))dlsym(library, "cudaRuntimeGetVersion"))(&version);
    printf("%s%d", i ? " " : "", version);
    if (dlclose(library)) return 1;
  }
  printf("\n");
  return 0;
}
"""

INTERPOSING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
int cudaRuntimeGetVersion(int *version) {
  int result = ((int (*)(int *))dlsym(RTLD_NEXT, "cudaRuntimeGetVersion"))(version);
  *version += 1;
  return result;
}
"""


class Processes(CudartTest):
    def setUp(self):
        super().setUp()
        self.select("13.5")

    def build(self, name, source, *flags, **options):
        return linked(name, "13.5.0", *flags, source=source, **options)

    def test_forks_while_another_thread_is_in_the_loader(self):
        for binding in ("lazy", "now"):
            forking = self.build(f"forking-{binding}", FORKING, "-pthread", "-ldl", f"-Wl,-z,{binding}")
            self.assert_version(self.box.run(forking), "all")

    def test_32_threads_open_it_at_once(self):
        for _ in range(10):
            self.assert_version(self.box.run(program("racing", RACING, "-pthread", "-ldl")), "all")

    def test_32_threads_make_their_first_call_at_once(self):
        for _ in range(10):
            self.assert_version(self.box.run(self.build("threads", CALLING_IN_THREADS, "-pthread")), "all")

    def test_neither_directory_nor_variable_changes_it_later(self):
        other = self.box.home / "other"
        self.select("13.9", other)
        moving = self.build("moving", MOVING, "-ldl")
        self.assert_version(self.box.run(moving, other), 13050, 13050, 50)

    def test_exec_chooses_anew(self):
        other = self.box.home / "other"
        self.select("13.9", other)
        result = self.box.run(self.build("moving", MOVING, "-ldl"), other, linked("asking", "13.5.0"))
        self.assertEqual(result.stdout.splitlines()[1], b"13090 13090")

    def test_constructor_that_runs_before_the_shims(self):
        # A library that was not linked with libcudart, so that the loader does not know that it comes later.
        early = compile_c(workshop() / "early" / "libearly.so", "-shared", "-fPIC", source=EARLY)
        built = self.build("early", EARLY_PROGRAM, "-Wl,--no-as-needed", early, f"-Wl,-rpath,{early.parent}")
        self.assert_version(self.box.run(built), 13050, 13050)

    def test_exception_through_a_callback(self):
        self.need("g++")
        built = self.build("throwing", THROWING, language="c++", with_compiler="g++")
        self.assert_version(self.box.run(built), "thrown", "thrown")

    def test_arguments_and_results_of_every_kind(self):
        result = self.box.run(self.build("passing", PASSING))
        self.assert_version(result, "12345", "1075.75", "12345", "1075.75")

    def test_closed_and_opened_again(self):
        # The library itself stays for as long as the process, and so does the choice.
        self.assert_version(self.box.run(program("closing", CLOSING, "-ldl")), 13050, 13050, 13050, 13050)

    def test_function_in_its_place_by_LD_PRELOAD(self):
        library = compile_c(workshop() / "interposing" / "libinterposing.so", "-shared", "-fPIC", "-ldl", source=INTERPOSING)
        self.assert_version(self.box.run(linked("asking", "13.5.0"), env={"LD_PRELOAD": str(library)}), 13051, 13051)

    def test_shim_preloaded(self):
        built = linked("asking", "13.5.0")
        self.assert_version(self.box.run(built, env={"LD_PRELOAD": "libcudart.so.13"}), 13050, 13050)

    def test_only_the_real_library_and_the_shim_are_mapped(self):
        script = ("import ctypes; ctypes.CDLL('libcudart.so.13')\n"
                  "print(' '.join(sorted({line.split()[-1] for line in open('/proc/self/maps') if 'libcudart' in line})))")
        result = self.box.run(sys.executable, "-c", script)
        real = self.box.root / "versions" / "13.5.0" / "lib" / "libcudart.so.13"
        self.assertEqual(result.stdout.decode().split(), sorted(map(str, (real, self.library_shims / "libcudart.so.13"))))


if __name__ == "__main__":
    unittest.main()
