/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a guest of ours (abi/boot.h) in a stock QEMU: entered by Multiboot in 32-bit
 * protected mode, it maps the first 4 GiB one to one, goes to 64-bit mode and jumps to
 * the guest's entry. QEMU's loader device has put the guest, its boot info and, at
 * ENTRY, the address of its entry into memory.
 */
#define BOOT_INFO 0x1000
#define ENTRY	  0x1ff8
#define GDT	  0x2000
#define PML4	  0x3000
#define PDPT	  0x4000
#define PD	  0x5000
#define STACK	  0xfff8

	.text
	.align 4
	.long 0x1badb002, 0, -0x1badb002

	.code32
	.globl _start
_start:
	cli
	movl $(PDPT + 3), PML4
	movl $(PD + 3), PDPT
	movl $(PD + 0x1003), PDPT + 8
	movl $(PD + 0x2003), PDPT + 16
	movl $(PD + 0x3003), PDPT + 24
	xorl %ecx, %ecx
1:	movl %ecx, %eax
	shll $21, %eax
	orl $0x83, %eax
	movl %eax, PD(, %ecx, 8)
	incl %ecx
	cmpl $2048, %ecx
	jne 1b
	movl $0x0000ffff, GDT + 8
	movl $0x00af9b00, GDT + 12
	movl $0x0000ffff, GDT + 16
	movl $0x00cf9300, GDT + 20
	lgdt gdtr
	movl %cr4, %eax
	orl $0x620, %eax
	movl %eax, %cr4
	movl $PML4, %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx
	xorl %edx, %edx
	movl $0x901, %eax
	wrmsr
	movl $0x80010033, %eax
	movl %eax, %cr0
	ljmp $8, $2f
	.code64
2:	movl $16, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %eax, %fs
	movl %eax, %gs
	movl $STACK, %esp
	movl $BOOT_INFO, %edi
	jmp *ENTRY

	.align 8
gdtr:	.word 23
	.long GDT
