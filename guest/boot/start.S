/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry of a payload from vpt: RDI = struct vpt_boot_info (docs/abi/boot.md). */

	.section .text.start, "ax", @progbits
	.globl	_start
	.type	_start, @function
_start:
	cld
	lea	boot_stack_top(%rip), %rsp
	xor	%ebp, %ebp
	call	guest_start
	/* guest_start() leaves through the exit port. */
1:	hlt
	jmp	1b
	.size	_start, . - _start

	.section .bss
	.balign	4096
	.globl	boot_stack, boot_stack_top
boot_stack:
	.skip	64 * 1024
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
