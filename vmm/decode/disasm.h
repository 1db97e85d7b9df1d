/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as text (Intel syntax), with names for addresses. */
#ifndef VMM_DECODE_DISASM_H
#define VMM_DECODE_DISASM_H

#include "item.h"
#include "symbol.h"

struct vpt_disasm;

/* NULL: memory. `symbols` may be NULL, else it outlives the disassembler. */
struct vpt_disasm *vpt_disasm_new(const struct vpt_symbols *symbols);
void vpt_disasm_free(struct vpt_disasm *d);

/*
 * The instruction at `ip` in `mode` (16, 32, 64). `text` receives it, or
 * "(bad)". Returns its length, 0 if it is not valid.
 */
unsigned int vpt_disasm_format(struct vpt_disasm *d, uint64_t ip, unsigned int mode,
			       const uint8_t *bytes, size_t len, char *text, size_t size);

/* What an instruction is, as the decoder would classify it, and its length. */
enum vpt_insn_class vpt_disasm_class(struct vpt_disasm *d, unsigned int mode, const uint8_t *bytes,
				     size_t len, unsigned int *insn_len);

/* Where execution goes from an instruction that retires. */
enum vpt_goes {
	VPT_GOES_ON = 0,   /* to the next one */
	VPT_GOES_COND,	   /* there, or by the displacement */
	VPT_GOES_DIRECT,   /* by the displacement */
	VPT_GOES_INDIRECT, /* near JMP or CALL through a register or memory */
	VPT_GOES_RETURN,   /* near RET */
	VPT_GOES_FAR,
	VPT_GOES_SOFT_INT, /* INT n, INT3, INT1 */
	VPT_GOES_INTO,	   /* INTO: by an interrupt, or on */
	VPT_GOES_CR3,	   /* on; MOV to CR3 */
	VPT_GOES_CR0,	   /* on; MOV to CR0 */
	VPT_GOES_WRMSR,	   /* on */
};

struct vpt_insn_look {
	uint8_t class; /* enum vpt_insn_class */
	uint8_t goes;  /* enum vpt_goes */
	uint8_t size;
	int64_t displacement; /* from the end of it */
};

/* All of that. 1: it is valid; 0: it is not; -1: there are too few bytes of it. */
int vpt_disasm_look(struct vpt_disasm *d, unsigned int mode, const uint8_t *bytes, size_t len,
		    struct vpt_insn_look *look);

#endif /* VMM_DECODE_DISASM_H */
