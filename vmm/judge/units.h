/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decoder's units need not be the wanted ones: BLOCKs from INSNs and the other way round. */
#ifndef VMM_JUDGE_UNITS_H
#define VMM_JUDGE_UNITS_H

#include "decode/code.h"
#include "decode/disasm.h"
#include "decode/item.h"

struct vpt_units {
	/* The next item as it is decoded. 0 or -errno. */
	int (*next)(void *context, struct vpt_item *item);
	void *context;
	/* A BLOCK that is being made, or one that has `insns` instructions left. 0: none. */
	struct vpt_item pending;
	struct vpt_item held; /* what ended the making of a BLOCK */
	bool holding;
};

/* The next item, with a BLOCK for INSNs in a row. 0 or -errno. */
int vpt_units_block(struct vpt_units *u, struct vpt_item *item);

/*
 * Get the next item, with INSNs for a BLOCK, from the code as it is. next() may replace *code.
 * Returns 0 or -errno.
 */
int vpt_units_insn(struct vpt_units *u, struct vpt_code_store *const *code, struct vpt_disasm *d,
		   struct vpt_item *item);

#endif /* VMM_JUDGE_UNITS_H */
