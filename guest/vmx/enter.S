/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uint64_t vmx_enter_asm(struct vmx_regs *regs, bool launched): enter the guest, and return after
 * its exit. Returns RFLAGS.CF | RFLAGS.ZF of an entry that failed early, and 0 after an exit.
 */
#define HOST_RSP 0x6c14

	.section .text.vmx, "ax", @progbits
	.globl	vmx_enter_asm, vmx_host_ip, vmx_launch_ip, vmx_launch_next
	.globl	vmx_resume_ip, vmx_resume_next
	.type	vmx_enter_asm, @function
vmx_enter_asm:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdi
	mov	$HOST_RSP, %eax
	vmwrite	%rsp, %rax
	test	%esi, %esi
	mov	0(%rdi), %rax
	mov	8(%rdi), %rcx
	mov	16(%rdi), %rdx
	mov	24(%rdi), %rbx
	mov	32(%rdi), %rbp
	mov	40(%rdi), %rsi
	mov	56(%rdi), %r8
	mov	64(%rdi), %r9
	mov	72(%rdi), %r10
	mov	80(%rdi), %r11
	mov	88(%rdi), %r12
	mov	96(%rdi), %r13
	mov	104(%rdi), %r14
	mov	112(%rdi), %r15
	mov	48(%rdi), %rdi
	jnz	vmx_resume_ip
vmx_launch_ip:
	vmlaunch
vmx_launch_next:
	jmp	failed
vmx_resume_ip:
	vmresume
vmx_resume_next:
	jmp	failed
	.balign	16
vmx_host_ip:
	push	%rdi
	mov	8(%rsp), %rdi
	mov	%rax, 0(%rdi)
	mov	%rcx, 8(%rdi)
	mov	%rdx, 16(%rdi)
	mov	%rbx, 24(%rdi)
	mov	%rbp, 32(%rdi)
	mov	%rsi, 40(%rdi)
	pop	48(%rdi)
	mov	%r8, 56(%rdi)
	mov	%r9, 64(%rdi)
	mov	%r10, 72(%rdi)
	mov	%r11, 80(%rdi)
	mov	%r12, 88(%rdi)
	mov	%r13, 96(%rdi)
	mov	%r14, 104(%rdi)
	mov	%r15, 112(%rdi)
	xor	%eax, %eax
leave:	pop	%rdi
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
failed:	pushfq
	pop	%rax
	and	$0x41, %eax
	jmp	leave
	.size	vmx_enter_asm, . - vmx_enter_asm

	.section .note.GNU-stack, "", @progbits
