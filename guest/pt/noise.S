/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See noise.h. Each TIP holds the low two bytes of its target. */

	.text
	.globl	noise
	.type	noise, @function
noise:
	lea	1f(%rip), %rax
	lea	2f(%rip), %rcx
	lea	3f(%rip), %rdx
	lea	4f(%rip), %rsi
	lea	5f(%rip), %r8
	lea	6f(%rip), %r9
	lea	7f(%rip), %r10
	lea	8f(%rip), %r11
	test	%rdi, %rdi
	jz	9f
0:	jmp	*%r11
1:	jmp	*%rcx
2:	jmp	*%rdx
3:	jmp	*%rsi
4:	dec	%rdi
	jnz	0b
9:	ret
5:	jmp	*%rax
6:	jmp	*%r8
7:	jmp	*%r9
8:	jmp	*%r10
	.size	noise, . - noise

	.section .note.GNU-stack, "", @progbits
