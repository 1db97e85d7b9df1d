/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BIOS of files/qemu.vpt: some 16-bit code, protected mode, a second CPU that is started by
 * INIT and SIPI, and an exit through QEMU's isa-debug-exit device.
 */
	.code16
	.section .text
start:
	xor %ax,%ax
	mov %ax,%ss
	mov $0x7000,%sp
	mov $20,%cx
1:	call leaf
	loop 1b
	/* The second CPU starts at 0x8000. */
	mov %ax,%es
	mov $0x8000,%di
	push %cs
	pop %ds
	mov $ap,%si
	mov $(ap_end-ap),%cx
	cld
	rep movsb
	lgdtl gdtr
	mov %cr0,%eax
	or $1,%al
	mov %eax,%cr0
	ljmpl $8,$(0xf0000+prot)
leaf:
	test $1,%cl
	jz 1f
	nop
1:	ret
ap:
	mov $30,%cx
1:	dec %cx
	jnz 1b
	mov $0x9000,%bx
	movb $1,%cs:0x100
	movw $0,%ax
	mov %ax,%ds
	movb $1,(%bx)
2:	cli
	hlt
	jmp 2b
ap_end:
	.code32
prot:
	mov $16,%ax
	mov %ax,%ds
	mov %ax,%es
	mov %ax,%ss
	mov $0xfee00300,%edi
	movl $0x000c4500,(%edi)
	mov $2000,%ecx
1:	pause
	dec %ecx
	cmp $1990,%ecx
	jne 1b
	movl $0x000c4608,(%edi)
	mov $200000,%ecx
2:	pause
	cmpb $1,0x9000
	je 3f
	dec %ecx
	jnz 2b
3:	mov $0x501,%dx
	xor %eax,%eax
	out %al,%dx
4:	cli
	hlt
	jmp 4b
	.balign 8
gdt:	.quad 0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdtr:	.word 23
	.long 0xf0000+gdt
	.org 0xfff0
	.code16
	ljmp $0xf000,$start
	.org 0x10000
