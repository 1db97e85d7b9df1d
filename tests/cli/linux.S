/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bzImage for tests: it has the header of a Linux kernel, and is a program of a few instructions.
 * It prints the command line, and ends with the first byte of the initrd plus the number of e820
 * entries as its status. If SLP is defined, it powers the machine off by PM1 instead.
 * If RESET is defined, it first resets the machine once, and RAM remembers that: 1 by port CF9H, 2 by
 * the keyboard controller, 3 by port 92H.
 */
	.section .text
	.org	0x1f1
	.byte	1			/* setup_sects */
	.org	0x1f4
	.long	(end - kernel + 15) / 16 /* syssize */
	.org	0x1fe
	.word	0xaa55
	.byte	0xeb, 0x6a		/* jump: where the header ends */
	.ascii	"HdrS"
	.word	0x20f			/* version */
	.org	0x211
	.byte	1			/* loadflags: LOADED_HIGH */
	.org	0x22c
	.long	0x7fffffff, 0x200000	/* initrd_addr_max, kernel_alignment */
	.byte	RELOCATABLE, 21		/* relocatable_kernel, min_alignment */
	.word	1			/* xloadflags: XLF_KERNEL_64 */
	.long	100			/* cmdline_size */
	.org	0x258
	.quad	0x1000000		/* pref_address */
	.long	0x100000		/* init_size */
	.org	0x400
kernel:
	.org	0x600
	mov	0x228(%rsi), %ebx	/* cmd_line_ptr */
1:	mov	(%rbx), %al
	test	%al, %al
	jz	2f
	out	%al, $0xe9
	inc	%rbx
	jmp	1b
2:
#ifdef RESET
	cmpb	$0x5a, 0x700000
	je	4f
	movb	$0x5a, 0x700000
#if RESET == 1
	mov	$0xcf9, %dx
	mov	$6, %al
	out	%al, %dx
#elif RESET == 2
	mov	$0xfe, %al
	out	%al, $0x64
#else
	mov	$1, %al
	out	%al, $0x92
#endif
	hlt
4:
#endif
#ifdef SLP
	mov	$0x604, %dx
	mov	$0x3400, %ax
	out	%ax, %dx
	hlt
#endif
	movzbl	0x1e8(%rsi), %eax	/* e820_entries */
	mov	0x218(%rsi), %ecx	/* ramdisk_image */
	cmpl	$0, 0x21c(%rsi)		/* ramdisk_size */
	je	3f
	movzbl	(%rcx), %ecx
	add	%ecx, %eax
3:	out	%eax, $0xf4
end:
