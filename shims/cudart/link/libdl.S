// SPDX-License-Identifier: Apache-2.0
  .globl dlopen
  .type dlopen, %function
  .globl dlsym
  .type dlsym, %function
  .globl dlerror
  .type dlerror, %function
  .text
dlopen:
dlsym:
dlerror:
  .section .note.GNU-stack, "", %progbits
