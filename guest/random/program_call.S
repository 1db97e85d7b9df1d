/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * void program_call(const void *function, void *data, struct program_state *s)
 * Registers begin as 0 and are folded into s->sum afterwards.
 */
	.text
	.globl	program_call
	.type	program_call, @function
program_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdx
	mov	%rsi, %r13
	mov	8(%rdx), %r14
	mov	0(%rdx), %r15
	mov	%rdi, %r12
	xor	%eax, %eax
	xor	%ecx, %ecx
	xor	%edx, %edx
	xor	%ebx, %ebx
	xor	%ebp, %ebp
	xor	%esi, %esi
	xor	%edi, %edi
	xor	%r8d, %r8d
	xor	%r9d, %r9d
	xor	%r10d, %r10d
	xor	%r11d, %r11d
	call	*%r12
	lea	(%rax,%rdx,2), %rax
	lea	(%rax,%rbx,4), %rax
	lea	(%rbp,%rax,2), %rax
	lea	(%r8,%rax,4), %rax
	lea	(%r9,%rax,8), %rax
	lea	(%r10,%rax,2), %rax
	lea	(%r11,%rax,4), %rax
	pop	%rdx
	add	%rax, 16(%rdx)
	mov	%r14, 8(%rdx)
	mov	%r15, 0(%rdx)
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	program_call, . - program_call

	.section .note.GNU-stack, "", @progbits
