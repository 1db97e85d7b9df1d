/* SPDX-License-Identifier: GPL-2.0-or-later */
	.text
	.globl	setjmp
	.type	setjmp, @function
setjmp:
	pop	%rcx
	mov	%rbx, (%rdi)
	mov	%rbp, 8(%rdi)
	mov	%r12, 16(%rdi)
	mov	%r13, 24(%rdi)
	mov	%r14, 32(%rdi)
	mov	%r15, 40(%rdi)
	mov	%rsp, 48(%rdi)
	mov	%rcx, 56(%rdi)
	push	%rcx
	xor	%eax, %eax
	ret
	.size	setjmp, . - setjmp

	.globl	longjmp
	.type	longjmp, @function
longjmp:
	mov	(%rdi), %rbx
	mov	8(%rdi), %rbp
	mov	16(%rdi), %r12
	mov	24(%rdi), %r13
	mov	32(%rdi), %r14
	mov	40(%rdi), %r15
	mov	48(%rdi), %rsp
	mov	%esi, %eax
	jmp	*56(%rdi)
	.size	longjmp, . - longjmp

	.globl	call_on_stack
	.type	call_on_stack, @function
call_on_stack:
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdx, %rsp
	and	$-16, %rsp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	leave
	ret
	.size	call_on_stack, . - call_on_stack

	.section .note.GNU-stack, "", @progbits
