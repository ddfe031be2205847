// SPDX-License-Identifier: Apache-2.0
  .globl _r_debug
  .type _r_debug, %object
  .globl __libc_stack_end
  .type __libc_stack_end, %object
  .data
  .balign 8
_r_debug:
  .fill 5, 8, 0
  .size _r_debug, 40
__libc_stack_end:
  .quad 0
  .size __libc_stack_end, 8
  .section .note.GNU-stack, "", %progbits
