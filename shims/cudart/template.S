// SPDX-License-Identifier: Apache-2.0
//
// The parts of the template whose places the generator must know: stubs, slots and the table (core/library_shim.hpp).

#define SLOT_COUNT 4096

#if defined(__x86_64__)
#include "stubs_x86_64.S"
#elif defined(__aarch64__)
#include "stubs_aarch64.S"
#else
#error "no stubs are written for this machine"
#endif

// What is written to when a process starts lies together, on as few pages as can be: the table is read then, and the
// first slots are pointed at their bindings.
  .section .cudaenv, "aw", %progbits
  .globl cudaenv_table
  .hidden cudaenv_table
  .type cudaenv_table, %object
  .balign 64
cudaenv_table:
  .quad cudaenv_stubs - cudaenv_table
  .quad cudaenv_bindings - cudaenv_table
  .quad cudaenv_slots - cudaenv_table
  .quad SLOT_COUNT
  .quad cudaenv_resolve - cudaenv_table
  .quad resolver_slot - cudaenv_table
  .quad sentinel_slot - cudaenv_table
  .fill 6, 8, 0
  .fill 10, 4, 0
  .size cudaenv_table, . - cudaenv_table

resolver_slot:
  .quad 0
sentinel_slot:
  .quad 0

// One pointer a function; the generator makes the used ones point at their bindings.
  .globl cudaenv_slots
  .hidden cudaenv_slots
  .type cudaenv_slots, %object
cudaenv_slots:
  .fill SLOT_COUNT, 8, 0
  .size cudaenv_slots, . - cudaenv_slots

// A note of no content. The generator needs a program header for what it appends, and takes that of the notes.
  .section .note.cudaenv, "a", %note
  .balign 4
  .long 8, 0, 0
  .asciz "cudaenv"

  .section .note.GNU-stack, "", %progbits
