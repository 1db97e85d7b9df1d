/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a payload on another machine than vpt's. Multiboot 1 enters it in 32-bit protected mode.
 * The code sets up the state of abi/boot.h and enters guest_start(). The payload's seed is the
 * number after "seed=" on the command line.
 */
#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0x00000003 /* page alignment, memory sizes */
#define MB_MEM_UPPER	8
#define MB_CMDLINE	16

	.section .text.start, "ax", @progbits
	.align	4
	.long	MULTIBOOT_MAGIC, MULTIBOOT_FLAGS, -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

	.code32
	.globl	_start
_start:
	cli
	cld
	movl	$boot_stack_top, %esp
	/* RAM above 1 MiB is counted in KiB, to the first hole. */
	movl	MB_MEM_UPPER(%ebx), %eax
	addl	$1024, %eax
	xorl	%edx, %edx
	shldl	$10, %eax, %edx
	shll	$10, %eax
	movl	%eax, info_ram
	movl	%edx, info_ram + 4
	movl	MB_CMDLINE(%ebx), %esi
	call	find_seed
	movl	%eax, info_seed

	movl	$(pdpt + 3), pml4
	movl	$pdpt, %edi
	movl	$(pd + 3), %eax
	movl	$4, %ecx
1:	movl	%eax, (%edi)
	addl	$8, %edi
	addl	$4096, %eax
	loop	1b
	xorl	%ecx, %ecx
2:	movl	%ecx, %eax
	shll	$21, %eax
	orl	$0x83, %eax
	movl	%eax, pd(, %ecx, 8)
	incl	%ecx
	cmpl	$2048, %ecx
	jne	2b

	lgdt	gdtr
	movl	%cr4, %eax
	orl	$0x620, %eax
	movl	%eax, %cr4
	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	xorl	%edx, %edx
	movl	$0x901, %eax
	wrmsr
	movl	$0x80010033, %eax
	movl	%eax, %cr0
	ljmp	$8, $enter

/* EAX = the decimal number after "seed=" in the string at ESI, 0 if there is none. */
find_seed:
	xorl	%eax, %eax
	testl	%esi, %esi
	jz	3f
1:	cmpb	$0, (%esi)
	je	3f
	cmpl	$0x64656573, (%esi)
	je	2f
	incl	%esi
	jmp	1b
2:	addl	$5, %esi
4:	movzbl	(%esi), %edx
	subl	$0x30, %edx
	cmpl	$9, %edx
	ja	3f
	imull	$10, %eax
	addl	%edx, %eax
	incl	%esi
	jmp	4b
3:	ret

	.code64
enter:	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%eax, %fs
	movl	%eax, %gs
	movl	$boot_stack_top, %esp
	xorl	%ebp, %ebp
	movl	$info, %edi
	call	guest_start
5:	hlt
	jmp	5b

	.section .data.boot, "aw", @progbits
	.balign	8
info:	.quad	0x31544f4f42545056 /* VPT_BOOT_MAGIC */
	.long	info_end - info, 1 << 3 /* VPT_BOOT_BARE */
info_ram:
	.quad	0, image_end, 0, 0
info_seed:
	.quad	0, 0, 0, 0, 0
info_end:
	.balign	8
gdt:	.quad	0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdtr:	.word	. - gdt - 1
	.long	gdt

	.section .bss.boot, "aw", @nobits
	.balign	4096
pml4:	.skip	4096
pdpt:	.skip	4096
pd:	.skip	4 * 4096
	.balign	4096
	.globl	boot_stack, boot_stack_top
boot_stack:
	.skip	64 * 1024
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
