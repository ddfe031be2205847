// SPDX-License-Identifier: Apache-2.0
//
// As stubs_x86_64.S says. x16 and x17 are the registers that belong to whatever lies between a caller and a function.

  .section .text.stubs, "ax", %progbits
  .globl cudaenv_stubs
  .hidden cudaenv_stubs
  .balign 64
cudaenv_stubs:
  .cfi_startproc
  .set number, 0
  .rept SLOT_COUNT
  .balign 16
  hint #34                   // bti c
  adrp x16, cudaenv_slots + 8 * number
  ldr x17, [x16, #:lo12:(cudaenv_slots + 8 * number)]
  br x17
  .set number, number + 1
  .endr
  .cfi_endproc

  .globl cudaenv_bindings
  .hidden cudaenv_bindings
  .balign 64
cudaenv_bindings:
  .cfi_startproc
  .set number, 0
  .rept SLOT_COUNT
  .balign 16
  hint #34
  mov w16, #number
  b bind
  .set number, number + 1
  .endr
  .cfi_endproc

// x8 is where a structure is returned to.
  .balign 16
bind:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w16
  bl cudaenv_bind
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
