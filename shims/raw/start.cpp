// SPDX-License-Identifier: Apache-2.0
//
// Where a program without libc begins. Before a program with a static glibc gets to `main`, it has asked the processor
// what it is by some 40 `cpuid` instructions, each of which traps on a virtual machine, has relocated itself, and has
// set up threads, locales and streams: half a millisecond for a shim that needs none of them.

#include <elf.h>

#include "start.hpp"
#include "syscalls.hpp"

#if !defined(__x86_64__)
#error "elsewhere a shim begins in start_libc.cpp"
#endif

// At its start %rsp points at the number of arguments; %rbp is 0 to end a debugger's walk. The stack is made to be as
// the ABI wants it before a call.
asm(R"(
.pushsection .text._start, "ax", @progbits
.globl _start
.type _start, @function
_start:
  xorl %ebp, %ebp
  movq %rsp, %rdi
  andq $-16, %rsp
  call cudaenv_raw_start
  hlt
.size _start, . - _start
.popsection
)");

extern "C" [[noreturn, gnu::used]] void cudaenv_raw_start(long* stack) {
  using namespace cudaenv::raw;
  char** const arguments = reinterpret_cast<char**>(stack + 1);
  char** const environment = arguments + *stack + 1;
  Start start{static_cast<int>(*stack), arguments, environment, nullptr, Trust::nobody};
  char** end = environment;
  while (*end) ++end;
  for (const auto* entry = reinterpret_cast<const Elf64_auxv_t*>(end + 1); entry->a_type != AT_NULL; ++entry) {
    if (entry->a_type == AT_SECURE && entry->a_un.a_val == 0) start.trust = Trust::caller;
    if (entry->a_type == AT_EXECFN) start.executable = reinterpret_cast<const char*>(entry->a_un.a_val);
  }
  SystemCalls::exit(run(start));
}
