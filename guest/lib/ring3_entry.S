/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries to ring 3 and the exits from it (ring3.h). */

#define USER_CS		0x2b
#define USER_DS		0x23
#define SYS_RETURN	0	/* RAX at SYSCALL: the function of ring3_call() has returned */
#define SYS_HANDLER	1

	.text
/* uint64_t ring3_call(uint64_t (*fn)(uint64_t), uint64_t arg) */
	.globl	ring3_call
	.type	ring3_call, @function
ring3_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, kernel_rsp(%rip)
	mov	%rdi, %rax
	mov	%rsi, %rdi
	push	$USER_DS
	push	ring3_user_stack(%rip)
	push	$2
	push	$USER_CS
	lea	user_entry(%rip), %rcx
	push	%rcx
	iretq
	.size	ring3_call, . - ring3_call

	.globl	ring3_syscall_entry
	.type	ring3_syscall_entry, @function
ring3_syscall_entry:
	mov	%rsp, user_rsp(%rip)
	mov	kernel_rsp(%rip), %rsp
	test	%eax, %eax
	jz	1f
	push	%rcx
	push	%r11
	call	*ring3_syscall_handler(%rip)
	pop	%r11
	pop	%rcx
	mov	user_rsp(%rip), %rsp
	sysretq
1:	mov	%rdi, %rax
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	ring3_syscall_entry, . - ring3_syscall_entry

	.section .user.text, "ax", @progbits
	.type	user_entry, @function
user_entry:
	call	*%rax
	mov	%rax, %rdi
	mov	$SYS_RETURN, %eax
	syscall
	.size	user_entry, . - user_entry

/* uint64_t user_syscall(uint64_t a, uint64_t b) */
	.globl	user_syscall
	.type	user_syscall, @function
user_syscall:
	mov	$SYS_HANDLER, %eax
	syscall
	ret
	.size	user_syscall, . - user_syscall

	.section .bss
	.balign	8
	.globl	ring3_user_stack, ring3_syscall_handler
ring3_user_stack:
	.skip	8
ring3_syscall_handler:
	.skip	8
kernel_rsp:
	.skip	8
user_rsp:
	.skip	8

	.section .note.GNU-stack, "", @progbits
