/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a processor from its start-up IPI on, in a page below 1 MiB: real mode to 64-bit mode
 * (SDM vol. 3, 10.8.5). start_cpu.c fills in the words at the end of the page, which are those of
 * struct start_words.
 */
#define WORDS	  0xf00
#define WORD_GDT  (WORDS + 0)
#define WORD_CR3  (WORDS + 16)
#define WORD_CR4  (WORDS + 24)
#define WORD_EFER (WORDS + 32)
#define WORD_FAR  (WORDS + 40)

	.section .rodata.start_cpu, "a", @progbits
	.globl	start_cpu_code, start_cpu_end
	.code16
start_cpu_code:
	cli
	movw	%cs, %ax
	movw	%ax, %ds
	lgdtl	WORD_GDT
	movl	WORD_CR4, %eax
	movl	%eax, %cr4
	movl	WORD_CR3, %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	xorl	%edx, %edx
	movl	WORD_EFER, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80010003, %eax
	/* CD and NW */
	andl	$0x9fffffff, %eax
	movl	%eax, %cr0
	ljmpl	*WORD_FAR
start_cpu_end:

	.text
	.code64
	.globl	start_cpu_entry
	.type	start_cpu_entry, @function
start_cpu_entry:
	movw	start_cpu_ss(%rip), %ax
	movw	%ax, %ss
	movw	%ax, %ds
	movw	%ax, %es
	movq	start_cpu_stack(%rip), %rsp
	xorl	%ebp, %ebp
	call	start_cpu_main
1:	hlt
	jmp	1b
	.size	start_cpu_entry, . - start_cpu_entry

	.section .note.GNU-stack, "", @progbits
