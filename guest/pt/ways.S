/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ways.h. */

	.text
	.globl	run_shape, shape_base, shape_limit, shape_out, run_cond, cond_base, cond_left
	.globl	cond_back, cond_limit, run_call, call_after, call_base, call_returned, call_limit
	.globl	call_out, run_jump, jump_base, jump_limit, jump_out, run_fall, fall_after
	.globl	fall_base, fall_limit, run_into, into_base, into_head, into_limit, run_fault
	.globl	fault_base, fault_at, fault_resume, fault_limit, run_two, two_base, two_limit
	.globl	two_inner, two_inner_limit

/* Table 33-2; ZF is set. */
run_shape:
	cmp	%eax, %eax
	jmp	shape_base
shape_base:
	jnz	1f
	add	$1, %eax
1:	jmp	shape_out
shape_limit:
	nop
shape_out:
	ret
/* Enter and leave by taken conditional branches. */
run_cond:
	cmp	%eax, %eax
	jz	cond_base
	ud2
cond_base:
	nop
	jnz	2f
	jz	2f
cond_left:
	ud2
cond_back:
	nop
cond_limit:
	jz	3f
	ud2
2:	jz	cond_back
	ud2
3:	ret
/* Enter and leave by direct calls and by their returns. */
run_call:
	call	call_base
call_after:
	ret
call_base:
	nop
	call	call_out
call_returned:
	nop
call_limit:
	ret
call_out:
	nop
	ret
/* Enter and leave by indirect jumps. */
run_jump:
	lea	jump_base(%rip), %rax
	jmp	*%rax
jump_base:
	lea	jump_out(%rip), %rax
jump_limit:
	jmp	*%rax
jump_out:
	ret
/* Leave through the end without a branch. */
run_fall:
	call	fall_base
fall_after:
	ret
fall_base:
	nop
fall_limit:
	nop
	nop
	ret
/* Enter the range without a branch. */
run_into:
	mov	$3, %ecx
into_base:
	nop
into_head:
	dec	%ecx
into_limit:
	jnz	into_head
	ret
/* Leave by an exception, return by IRET. */
run_fault:
	jmp	fault_base
	ud2
fault_base:
	nop
fault_at:
	ud2
fault_resume:
	nop
fault_limit:
	ret
/* Branch from one range directly to another. */
run_two:
	cmp	%eax, %eax
	jmp	two_base
	ud2
two_base:
	jz	two_inner
two_limit:
	ud2
	nop
two_inner:
	lea	4f(%rip), %rax
two_inner_limit:
	jmp	*%rax
4:	ret

	.section .note.GNU-stack, "", @progbits
