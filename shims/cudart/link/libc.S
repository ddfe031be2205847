// SPDX-License-Identifier: Apache-2.0
//
// What the template may import, and nothing else (CMakeLists.txt). These stand for the real libraries when it is linked.

  .globl environ
  .type environ, %object
  .globl getauxval
  .type getauxval, %function
  .data
  .balign 8
environ:
  .quad 0
  .size environ, 8
  .text
getauxval:
  .section .note.GNU-stack, "", %progbits
