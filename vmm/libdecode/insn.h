/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Describe one x86 instruction as far as the flow decoder needs it. */
#ifndef VMM_LIBDECODE_INSN_H
#define VMM_LIBDECODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEC_INSN_MAX 15

enum dec_insn_kind {
	DEC_INSN_PLAIN = 0,
	DEC_INSN_COND,	   /* Jcc, JrCXZ, LOOPcc */
	DEC_INSN_JUMP,	   /* direct near JMP, JMPABS */
	DEC_INSN_CALL,	   /* direct near CALL */
	DEC_INSN_JUMP_IND, /* near JMP through a register or memory */
	DEC_INSN_CALL_IND,
	DEC_INSN_RET, /* near RET */
	DEC_INSN_FAR_JUMP,
	DEC_INSN_FAR_CALL,   /* far CALL, SYSCALL, SYSENTER, VMCALL */
	DEC_INSN_FAR_RETURN, /* far RET, IRET, SYSRET, SYSEXIT, UIRET, ERETU, ERETS */
	DEC_INSN_SOFT_INT,   /* INT n, INT3, INT1 */
	DEC_INSN_INTO,	     /* an interrupt if OF is set; otherwise falls through */
	DEC_INSN_VM_ENTRY,   /* VMLAUNCH, VMRESUME */
	DEC_INSN_CR3,	     /* MOV to CR3 */
	DEC_INSN_CR0,	     /* MOV to CR0 */
	DEC_INSN_PTWRITE,
	DEC_INSN_WRMSR, /* WRMSR, and XSAVES, which also clears TraceEn [XSAVE-SAVE-ORDER] */
	DEC_INSN_VMPTRLD,
};

struct dec_insn {
	uint8_t len;
	uint8_t kind;  /* enum dec_insn_kind */
	bool target16; /* the target of a direct branch has 16 bits */
	bool absolute; /* @disp is the target */
	int64_t disp;  /* COND, JUMP, CALL: the displacement from the end of the instruction */
};

struct dec_x86;

/* Returns NULL if there is no memory. */
struct dec_x86 *dec_x86_new(void);
void dec_x86_free(struct dec_x86 *x86);

/*
 * Decode the instruction at @bytes for @mode (16, 32, 64). Returns 1 and sets *insn, 0 if no
 * instruction starts like this, or -1 if more than @len bytes are needed.
 */
int dec_x86_read(struct dec_x86 *x86, unsigned int mode, const uint8_t *bytes, size_t len,
		 struct dec_insn *insn);
/* Returns the vector of the INT n, INT3, INT1 or INTO at @bytes, or -1 if there is none. */
int dec_x86_int_vector(unsigned int mode, const uint8_t *bytes, size_t len);

#endif /* VMM_LIBDECODE_INSN_H */
