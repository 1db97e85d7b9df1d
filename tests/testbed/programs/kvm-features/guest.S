/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of the guests of kvm-features: 64-bit, ring 0, position-independent. It uses no
 * memory except the stack. Each guest ends with HLT.
 */
	.section .rodata
	.balign 16
	.global guest_code, guest_code_end
guest_code:

/*
 * rdi: rounds. Each has two conditional branches, an indirect call and its return. The first
 * branch is taken in every second round.
 */
	.global guest_flow
guest_flow:
	lea	1f(%rip), %rbx
	jmp	2f
1:	ret
2:	test	$1, %dil
	jz	3f
	nop
3:	call	*%rbx
	dec	%rdi
	jnz	2b
	hlt

/* rdi: rounds, each with an exit to KVM (CPUID) and one to user space (OUT). */
	.global guest_exits
guest_exits:
1:	xor	%eax, %eax
	cpuid
	mov	$0x42, %al
	out	%al, $0x10
	dec	%rdi
	jnz	1b
	hlt

/* Run until the host writes HLT over the first instruction. rsi counts the rounds. */
	.global guest_forever
guest_forever:
1:	inc	%rsi
	test	$1, %sil
	jz	2f
	nop
2:	jmp	1b

/* rax: the TSC. */
	.global guest_tsc
guest_tsc:
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	hlt

/*
 * The guest traces itself. rdi: base of the single range, rsi: its size less 1, rdx: CTL
 * without TraceEn, rcx: rounds. Each round loads CR3 with and without bit 12 set, and has CPUID
 * and a branch. Then the guest stops its trace, and returns OUTPUT_MASK_PTRS in rax.
 */
	.global guest_owned
guest_owned:
	mov	%rcx, %r8
	mov	%rdx, %r9
	mov	%rdi, %rax
	xor	%edx, %edx
	mov	$0x560, %ecx
	wrmsr
	mov	%rsi, %rax
	mov	$0x561, %ecx
	wrmsr
	xor	%eax, %eax
	mov	$0x571, %ecx
	wrmsr
	lea	1(%r9), %rax
	mov	$0x570, %ecx
	wrmsr
	mov	%cr3, %r10
	mov	%r10, %r11
	xor	$0x1000, %r11
1:	mov	%r11, %cr3
	mov	%r10, %cr3
	xor	%eax, %eax
	cpuid
	dec	%r8
	jnz	1b
	mov	$0x570, %ecx
	mov	%r9, %rax
	xor	%edx, %edx
	wrmsr
	mov	$0x561, %ecx
	rdmsr
	shl	$32, %rdx
	or	%rdx, %rax
	hlt

/*
 * Instructions that KVM has to emulate: a load and a store where no memory is (rdi). rcx:
 * rounds. The host sets up the trace.
 */
	.global guest_mmio
guest_mmio:
1:	mov	(%rdi), %eax
	mov	%eax, 8(%rdi)
	dec	%rcx
	jnz	1b
	hlt
guest_code_end:

	.section .note.GNU-stack, "", @progbits
