/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses of RET other than returns (retpoline.c). */
	.text

/* Indirect branch to R11, like a compiler's -mindirect-branch=thunk. */
	.type	retpoline_r11, @function
retpoline_r11:
	call	2f
1:	pause
	lfence
	jmp	1b
2:	mov	%r11, (%rsp)
	ret
	.size	retpoline_r11, . - retpoline_r11

/* uint64_t retpoline_call(uint64_t (*fn)(uint64_t), uint64_t arg) */
	.globl	retpoline_call
	.type	retpoline_call, @function
retpoline_call:
	mov	%rdi, %r11
	mov	%rsi, %rdi
	sub	$8, %rsp
	call	retpoline_r11
	add	$8, %rsp
	ret
	.size	retpoline_call, . - retpoline_call

/* Fills a return predictor with 32 calls that never return. */
	.globl	stuff_returns
	.type	stuff_returns, @function
stuff_returns:
	.rept	32
	call	1f
	int3
1:
	.endr
	add	$(32 * 8), %rsp
	ret
	.size	stuff_returns, . - stuff_returns

/*
 * uint64_t chain(uint64_t n): push n addresses at once, and reach each of them by a RET without a
 * CALL. Returns the number of these returns.
 */
	.globl	chain
	.type	chain, @function
chain:
	xor	%eax, %eax
	mov	%rdi, %rcx
	lea	2f(%rip), %rdx
	lea	3f(%rip), %rsi
	push	%rsi
1:	push	%rdx
	loop	1b
	ret
2:	inc	%rax
	ret
3:	ret
	.size	chain, . - chain

/*
 * uint64_t replaced(uint64_t n): recurse n levels deep. Each level changes its return address, and
 * returns to a few bytes after its CALL.
 */
	.globl	replaced
	.type	replaced, @function
replaced:
	test	%rdi, %rdi
	jz	2f
	dec	%rdi
	call	replaced
	ud2
1:	inc	%rax
	addq	$2, (%rsp)
	ret
2:	xor	%eax, %eax
	addq	$2, (%rsp)
	ret
	.size	replaced, . - replaced

/* uint64_t replaced_entry(uint64_t n) */
	.globl	replaced_entry
	.type	replaced_entry, @function
replaced_entry:
	call	replaced
	ud2
	ret
	.size	replaced_entry, . - replaced_entry

	.section .note.GNU-stack, "", @progbits
