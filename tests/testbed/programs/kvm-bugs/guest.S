/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest, in 64-bit mode and ring 0. It executes the list of struct op at rdi, and stores
 * the result and the fault of each operation there. The code is position-independent. It is
 * copied to VM_CODE, where it may write to itself.
 */
#define OP_MSR	  4
#define OP_VALUE  8
#define OP_RESULT 16
#define OP_FAULT  24
#define OP_SIZE	  32

	.section .rodata
	.balign 16
	.global guest_code, guest_code_end
guest_code:

/* The kinds are in the order of enum op_kind. */
	.global guest_main
guest_main:
	mov	(%rdi), %eax
	lea	table(%rip), %rbx
	movslq	(%rbx,%rax,4), %rax
	add	%rbx, %rax
	lea	next(%rip), %r14
	jmp	*%rax
next:
	add	$OP_SIZE, %rdi
	jmp	guest_main

	.balign 4
table:
	.long	op_end - table, op_wrmsr - table, op_rdmsr - table, op_work - table
	.long	op_mark - table, op_exits - table, op_popcnt - table, op_vmxon - table
	.long	op_load - table

op_end:
	out	%al, $0x12
	jmp	op_end

op_wrmsr:
	mov	OP_MSR(%rdi), %ecx
	mov	OP_VALUE(%rdi), %eax
	mov	OP_VALUE+4(%rdi), %edx
	wrmsr
	jmp	next

op_rdmsr:
	mov	OP_MSR(%rdi), %ecx
	rdmsr
	mov	%eax, OP_RESULT(%rdi)
	mov	%edx, OP_RESULT+4(%rdi)
	jmp	next

/* Rounds of a conditional branch that is taken every other time and an indirect call. */
op_work:
	mov	OP_VALUE(%rdi), %rcx
	lea	3f(%rip), %rdx
1:	test	$1, %cl
	jz	2f
	nop
2:	call	*%rdx
	dec	%rcx
	jnz	1b
	jmp	next
3:	ret

op_mark:
	mov	OP_VALUE(%rdi), %al
	out	%al, $0x10
	jmp	next

/* Rounds of CPUID, whose VM exit KVM handles without userspace. */
op_exits:
	mov	OP_VALUE(%rdi), %rsi
1:	xor	%eax, %eax
	cpuid
	dec	%rsi
	jnz	1b
	jmp	next

/* Rounds of an instruction that KVM's emulator does not know. */
op_popcnt:
	mov	OP_VALUE(%rdi), %rsi
1:	popcnt	%rsi, %rax
	dec	%rsi
	jnz	1b
	jmp	next

/* The result is RFLAGS. */
op_vmxon:
	vmxon	OP_VALUE(%rdi)
	pushf
	pop	%rax
	mov	%rax, OP_RESULT(%rdi)
	jmp	next

op_load:
	mov	OP_VALUE(%rdi), %rax
	mov	(%rax), %rax
	mov	%rax, OP_RESULT(%rdi)
	jmp	next

/* Faults: store the vector and continue with the next operation. */
	.global guest_ud, guest_gp
guest_gp:
	add	$8, %rsp
	movq	$13, OP_FAULT(%rdi)
	mov	%r14, (%rsp)
	iretq
guest_ud:
	movq	$6, OP_FAULT(%rdi)
	mov	%r14, (%rsp)
	iretq

/* LVTPC's NMI: count it, store the status, clear bit 55 and unmask LVTPC (x2APIC). */
	.global guest_nmi, guest_nmis, guest_nmi_status
guest_nmi:
	push	%rax
	push	%rcx
	push	%rdx
	incq	guest_nmis(%rip)
	mov	$0x38e, %ecx
	rdmsr
	or	%edx, guest_nmi_status(%rip)
	mov	$0x390, %ecx
	xor	%eax, %eax
	mov	$0x800000, %edx
	wrmsr
	mov	$0x834, %ecx
	mov	$0x400, %eax
	xor	%edx, %edx
	wrmsr
	pop	%rdx
	pop	%rcx
	pop	%rax
	iretq
	.balign 8
guest_nmis:
	.quad	0
guest_nmi_status:
	.quad	0
guest_code_end:

/* The SMM handler, 16-bit: exit to userspace, then return. */
	.global guest_smm, guest_smm_end
guest_smm:
	.code16
	mov	$0x41, %al
	out	%al, $0x11
	rsm
	.code64
guest_smm_end:

	.section .note.GNU-stack, "", @progbits
