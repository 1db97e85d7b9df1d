/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One stub a vector makes all frames look like struct trap_frame (idt.h). */

	.text
	.balign	16
	.globl	trap_stubs
	.type	trap_stubs, @object
trap_stubs:
	vector = 0
	.rept	256
	.balign	16
	/* The processor pushes an error code for these vectors. */
	.if	(vector == 8) || ((vector >= 10) && (vector <= 14)) || (vector == 17) || (vector == 21)
	.else
	push	$0
	.endif
	push	$vector
	jmp	trap_common
	vector = vector + 1
	.endr
	.balign	16
	.size	trap_stubs, . - trap_stubs

	.globl	trap_common
	.type	trap_common, @function
trap_common:
	cld
	push	%rax
	push	%rbx
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%rbp
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, %rdi
	call	trap_dispatch
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rbp
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rbx
	pop	%rax
	add	$16, %rsp
	iretq
	.size	trap_common, . - trap_common

	.section .note.GNU-stack, "", @progbits
