/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions for the decoder of RTIT: read and taken apart once, and kept by address, address
 * space and code size until code changes.
 */
#ifndef VMM_DECODE_ATOM_CODE_H
#define VMM_DECODE_ATOM_CODE_H

#include "disasm.h"

struct vpt_atom_insn {
	uint64_t ip;
	uint64_t space;
	uint64_t next;	 /* IP behind it */
	uint64_t target; /* DIRECT, COND: where it leads */
	uint32_t change; /* it is as of this one */
	uint8_t mode, class, goes;
	uint8_t size; /* 0: nothing is kept here */
	uint8_t raw[15];
};

enum vpt_atom_code_result { VPT_ATOM_CODE_OK, VPT_ATOM_CODE_NONE, VPT_ATOM_CODE_INVALID };

#define VPT_ATOM_CODE_KEPT 16384

struct vpt_atom_code {
	/* Copy up to `len` bytes of code at `ip`, as many as there are. */
	size_t (*fetch)(void *context, uint64_t ip, uint8_t *bytes, size_t len);
	void *context;
	struct vpt_disasm *disasm;
	uint64_t space;
	uint32_t change;
	uint8_t mode; /* 16, 32, 64 */
	struct vpt_atom_insn kept[VPT_ATOM_CODE_KEPT];
};

/* What runs from now on is of this space. `mode`: 16, 32, 64. */
void vpt_atom_code_select(struct vpt_atom_code *c, uint64_t space, unsigned int mode);

/* Some bytes are not as they were. */
void vpt_atom_code_changed(struct vpt_atom_code *c);

/* The instruction that is not kept. */
enum vpt_atom_code_result vpt_atom_code_read(struct vpt_atom_code *c, uint64_t ip,
					     const struct vpt_atom_insn **insn);

/* The instruction at `ip`, valid until the next call. */
static inline enum vpt_atom_code_result vpt_atom_code_at(struct vpt_atom_code *c, uint64_t ip,
							 const struct vpt_atom_insn **insn)
{
	const struct vpt_atom_insn *k = &c->kept[(ip ^ ip >> 14) % VPT_ATOM_CODE_KEPT];

	if (k->ip != ip || k->space != c->space || k->change != c->change || k->mode != c->mode ||
	    !k->size)
		return vpt_atom_code_read(c, ip, insn);
	*insn = k;
	return VPT_ATOM_CODE_OK;
}

#endif /* VMM_DECODE_ATOM_CODE_H */
