/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest, in 64-bit mode and rings 0 and 3. It follows the struct plan at rdi: it writes the
 * MSRs of the first list, works for the given rounds, and writes the MSRs of the second list.
 * It then stores PT's registers in the plan. The code is position-independent and is copied to
 * TRACES_CODE.
 */
#include "plan.h"

	.section .rodata
	.balign 4096
	.global traces_code, traces_code_end
traces_code:

	.global traces_main
traces_main:
	mov	%rdi, %rbp
	lea	PLAN_BEGIN(%rbp), %rsi
	call	write_list
	mov	PLAN_ROUNDS(%rbp), %r12
1:	call	work
	dec	%r12
	jnz	1b
	lea	PLAN_END(%rbp), %rsi
	call	write_list
	mov	$0x560, %ecx
	lea	PLAN_OUTPUT_BASE(%rbp), %rsi
2:	rdmsr
	mov	%eax, (%rsi)
	mov	%edx, 4(%rsi)
	add	$8, %rsi
	inc	%ecx
	cmp	$0x562, %ecx
	jb	2b
	mov	$0x570, %ecx
3:	rdmsr
	mov	%eax, (%rsi)
	mov	%edx, 4(%rsi)
	add	$8, %rsi
	inc	%ecx
	cmp	$0x572, %ecx
	jb	3b
4:	out	%al, $0x12
	jmp	4b

/* Write MSRs. rsi: pairs of an MSR and its value, up to MSR 0. */
write_list:
	mov	(%rsi), %rcx
	test	%rcx, %rcx
	jz	1f
	mov	8(%rsi), %eax
	mov	12(%rsi), %edx
	wrmsr
	add	$16, %rsi
	jmp	write_list
1:	ret

/* Work for one round. r12: its number, rbp: the plan. */
work:
	testl	$PLAN_BRANCHES, PLAN_WHAT(%rbp)
	jz	1f
	call	branches
1:	testl	$PLAN_TSC, PLAN_WHAT(%rbp)
	jz	1f
	call	time
1:	testl	$PLAN_EXITS, PLAN_WHAT(%rbp)
	jz	1f
	xor	%eax, %eax
	cpuid
1:	testl	$PLAN_CR3, PLAN_WHAT(%rbp)
	jz	1f
	mov	%cr3, %rax
	xor	$PLAN_CR3_FLIP, %rax
	mov	%rax, %cr3
1:	testl	$PLAN_TRAPS, PLAN_WHAT(%rbp)
	jz	1f
	int3
	ud2
1:	testl	$PLAN_USER, PLAN_WHAT(%rbp)
	jz	1f
	call	to_user
1:	test	$15, %r12b
	jnz	1f
	testl	$PLAN_OUT, PLAN_WHAT(%rbp)
	jz	1f
	out	%al, $0x10
1:	ret

branches:
	lea	3f(%rip), %rdx
	mov	$20, %ecx
1:	test	$1, %cl
	jz	2f
	nop
2:	call	*%rdx
	call	3f
	dec	%ecx
	jnz	1b
3:	ret

/* Store the TSC directly after a VM exit. The VM entry sends a TSC packet. */
time:
	xor	%eax, %eax
	cpuid
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	PLAN_TIMES(%rbp), %rdx
	mov	%rax, (%rdx)
	addq	$8, PLAN_TIMES(%rbp)
	ret

/* Enter ring 3 by SYSRET, branch there, and return by SYSCALL. */
to_user:
	mov	%rsp, %r15
	lea	user(%rip), %rcx
	mov	$2, %r11d
	sysretq
user:
	mov	$10, %ecx
1:	test	$2, %cl
	jnz	2f
	call	3f
2:	loop	1b
	syscall
3:	ret

	.global traces_syscall, traces_int3, traces_ud
traces_syscall:
	mov	%r15, %rsp
	ret
traces_int3:
	iretq
traces_ud:
	addq	$2, (%rsp)
	iretq

/* LVTPC's NMI: count it, clear bit 55 of the status and unmask LVTPC (x2APIC). */
	.global traces_nmi
traces_nmi:
	push	%rax
	push	%rcx
	push	%rdx
	incq	PLAN_NMIS(%rbp)
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
traces_code_end:

	.section .note.GNU-stack, "", @progbits
