// SPDX-License-Identifier: Apache-2.0
//
// A function of the library is a stub here: one jump through its slot. At first the slot points at the binding of the
// same number, which asks cudaenv_bind for the real function and jumps there, with all registers and the stack as the
// caller left them. So nothing of the shim is on the stack while a function runs: exceptions, debuggers, arguments on
// the stack and structures that are returned need no care.

  .section .text.stubs, "ax", @progbits
  .globl cudaenv_stubs
  .hidden cudaenv_stubs
  .balign 64
cudaenv_stubs:
  .cfi_startproc
  .set number, 0
  .rept SLOT_COUNT
  .balign 16
  endbr64
  jmp *(cudaenv_slots + 8 * number)(%rip)
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
  endbr64
  .byte 0x68                 // push, always with a number of four bytes
  .long number
  .byte 0xe9                 // jmp, the same
  .long bind - (. + 4)
  .set number, number + 1
  .endr
  .cfi_endproc

// Saves what may hold an argument: also %rax (how many vector registers a variadic call uses) and %r10 (static chain).
// 8 + 8 * 8 + 8 * 16 bytes below the return address keep the stack aligned for the call.
  .balign 16
bind:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  .cfi_adjust_cfa_offset 64
  sub $128, %rsp
  .cfi_adjust_cfa_offset 128
  movups %xmm0, 0(%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov 192(%rsp), %rdi
  call cudaenv_bind
  mov %rax, %r11
  movups 0(%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  .cfi_adjust_cfa_offset -128
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  .cfi_adjust_cfa_offset -64
  lea 8(%rsp), %rsp          // the number; keeps the flags
  .cfi_adjust_cfa_offset -8
  jmp *%r11
  .cfi_endproc
