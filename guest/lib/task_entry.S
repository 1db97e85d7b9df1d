/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks' entry to the kernel and their side of it (task.h). */

#define USER_CS		0x2b
#define USER_DS		0x23
#define VEC_SYSCALL	0xf0

	.text
/* Build the frame of an interrupt, so that there is only one way to leave and enter a task. */
	.globl	task_syscall_entry
	.type	task_syscall_entry, @function
task_syscall_entry:
	mov	%rsp, user_rsp(%rip)
	mov	task_kernel_stack(%rip), %rsp
	push	$USER_DS
	push	user_rsp(%rip)
	push	%r11
	push	$USER_CS
	push	%rcx
	push	$0
	push	$VEC_SYSCALL
	jmp	trap_common
	.size	task_syscall_entry, . - task_syscall_entry

	.section .user.text, "ax", @progbits
	.globl	task_start
	.type	task_start, @function
task_start:
	call	*%rax
	mov	%rax, %rdi
	xor	%eax, %eax
	syscall
	ud2
	.size	task_start, . - task_start

/* uint64_t task_syscall(uint64_t number, uint64_t arg) */
	.globl	task_syscall
	.type	task_syscall, @function
task_syscall:
	mov	%rdi, %rax
	mov	%rsi, %rdi
	syscall
	ret
	.size	task_syscall, . - task_syscall

/* uint64_t task_int(uint64_t number, uint64_t arg) */
	.globl	task_int
	.type	task_int, @function
task_int:
	mov	%rdi, %rax
	mov	%rsi, %rdi
	int	$0x81
	ret
	.size	task_int, . - task_int

	.section .bss
	.balign	8
	.globl	task_kernel_stack
task_kernel_stack:
	.skip	8
user_rsp:
	.skip	8

	.section .note.GNU-stack, "", @progbits
