/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See modes.h. */

	.section .user.text, "ax", @progbits
	.globl	modes_ring3
	.type	modes_ring3, @function
/* RDI: rounds, alternately in 64-bit and in 32-bit code. Returns 0. */
modes_ring3:
	mov	%rdi, %rax
	test	%rax, %rax
	jz	3f
1:	call	2f
	pushq	$0x1b
	lea	modes_compat(%rip), %rcx
	push	%rcx
	lretq
modes_back:
	dec	%rax
	jnz	1b
3:	ret
2:	test	$1, %al
	jz	4f
	nop
4:	ret
	.size	modes_ring3, . - modes_ring3

	.code32
modes_compat:
	movl	$3, %ecx
5:	call	6f
	loop	5b
	ljmp	$0x2b, $modes_back
6:	testb	$2, %al
	jnz	7f
	nop
7:	ret

/*
 * The other processor, in real mode: CS is the page of this copy. Its other data is in struct
 * modes_other at the page's end.
 */
#define OTHER_SEED	0xe00
#define OTHER_LVTPC	0xe04
#define OTHER_FLAT	0xe08
#define OTHER_ROUNDS	0xe10
#define OTHER_REFUSED	0xe14
#define OTHER_TRACED	0xe18
#define OTHER_STOP	0xe1c
#define OTHER_BASES	0xe20
#define OTHER_STACK	0xe00
#define OFFSET(label)	((label) - modes_other_code)

	.section .rodata.modes, "a", @progbits
	.globl	modes_other_code, modes_other_end, modes_other_gp, modes_other_iret
	.code16
modes_other_code:
	cli
	movw	%cs, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movl	$OTHER_STACK, %esp
	/* FS without a limit, to reach the APIC from real mode. */
	lgdtl	OTHER_FLAT
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	movw	$0x10, %bx
	movw	%bx, %fs
	andb	$0xfe, %al
	movl	%eax, %cr0
	xorw	%bx, %bx
	movw	%bx, %fs
	movl	$0xfee000f0, %ebx
	orl	$0x100, %fs:(%ebx)
	movl	OTHER_SEED, %ebp

1:	call	modes_random
	testb	$7, %al
	jnz	2f
	movl	$0xfee00340, %ebx
	movl	OTHER_LVTPC, %eax
	movl	%eax, %fs:(%ebx)
2:	call	modes_write
	call	modes_flow
	incl	OTHER_ROUNDS
	cmpl	$0, OTHER_STOP
	je	1b
	xorl	%eax, %eax
	xorl	%edx, %edx
	movl	$0x570, %ecx
	wrmsr
	movl	$0, OTHER_STOP
3:	hlt
	jmp	3b

/* Advance EBP to the next random number, and return it in EAX as well. */
modes_random:
	movl	%ebp, %eax
	shll	$13, %eax
	xorl	%eax, %ebp
	movl	%ebp, %eax
	shrl	$17, %eax
	xorl	%eax, %ebp
	movl	%ebp, %eax
	shll	$5, %eax
	xorl	%eax, %ebp
	movl	%ebp, %eax
	ret

/* Write a random value to a random MSR. OUTPUT_BASE is one of OTHER_BASES, and ToPA is set. */
modes_write:
	call	modes_random
	movl	%eax, %edx
	shrl	$20, %edx
	movl	%eax, %ebx
	andw	$7, %bx
	jz	5f
	cmpw	$1, %bx
	je	6f
	cmpw	$2, %bx
	je	7f
	cmpw	$3, %bx
	je	8f
	/* CTL: usually a permitted value, so that the code is traced. */
	movl	$0x570, %ecx
	xorl	%edx, %edx
	testb	$0x30, %al
	jz	4f
	andl	$0x0000ac8d, %eax
4:	orl	$0x100, %eax
	testb	$1, %al
	jz	9f
	incl	OTHER_TRACED
	jmp	9f
5:	movl	$0x560, %ecx
	movw	%ax, %bx
	andw	$0x78, %bx
	movl	OTHER_BASES(%bx), %eax
	movl	OTHER_BASES + 4(%bx), %edx
	jmp	9f
6:	movl	$0x561, %ecx
	andl	$0x1fff, %eax
	jmp	9f
7:	movl	$0x571, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	jmp	9f
8:	movl	%eax, %ecx
	shrl	$8, %ecx
	andl	$0x1f, %ecx
	addl	$0x572, %ecx
9:	wrmsr
	ret

/* Execute all kinds of branches of real mode, and enter protected mode briefly. */
modes_flow:
	call	modes_random
	movw	%ax, %cx
	andw	$0x3f, %cx
	incw	%cx
1:	testw	$1, %cx
	jz	2f
	call	3f
2:	loop	1b
	jcxz	4f
3:	ret
4:	int	$0x80
	pushw	%cs
	call	5f
	movw	$OFFSET(6f), %bx
	jmp	*%bx
5:	lret
	/* Mask LVTPC, because an NMI would use the interrupt table of real mode. */
6:	movl	$0xfee00340, %ebx
	movl	$0x10000, %fs:(%ebx)
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	andb	$0xfe, %al
	movl	%eax, %cr0
	ret

/* Skip a WRMSR that raised #GP: its length is two bytes. */
modes_other_gp:
	incl	%cs:OTHER_REFUSED
	pushw	%bp
	movw	%sp, %bp
	addw	$2, 2(%bp)
	popw	%bp
modes_other_iret:
	iretw
modes_other_end:

	.section .note.GNU-stack, "", @progbits
