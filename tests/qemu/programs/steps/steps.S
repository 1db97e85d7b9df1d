/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * void steps(uint64_t count, uint64_t work, const uint8_t *bytes);
 *
 * Call step0 to step3 in turn, through a table. Each has a conditional branch, which is taken
 * in every second round. The work is one instruction, which can be interrupted.
 */
	.text
	.macro	step name
	.globl	\name
	.type	\name, @function
\name:	test	$4, %ebx
	jz	1f
	nop
1:	ret
	.size	\name, . - \name
	.endm

	step	step0
	step	step1
	step	step2
	step	step3

	.globl	steps, steps_work, steps_end
	.type	steps, @function
steps:	push	%rbx
	mov	%rsi, %r8
	mov	%rdx, %r9
	xor	%ebx, %ebx
	cld
next:	mov	%r9, %rsi
	mov	%r8, %rcx
steps_work:
	rep lodsb
	mov	%ebx, %eax
	and	$3, %eax
	lea	table(%rip), %rdx
	call	*(%rdx, %rax, 8)
	inc	%rbx
	cmp	%rdi, %rbx
	jb	next
	pop	%rbx
	ret
	.size	steps, . - steps
steps_end:

	.section .rodata
	.balign	8
table:	.quad	step0, step1, step2, step3

	.section .note.GNU-stack, "", @progbits
