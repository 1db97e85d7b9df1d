/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Convert a decoder's BLOCKs to INSNs, or its INSNs to BLOCKs. */
#ifndef VMM_JUDGE_UNITS_H
#define VMM_JUDGE_UNITS_H

#include "decode/code.h"
#include "decode/disasm.h"
#include "decode/item.h"

struct judge_units {
	/* Decodes the next item. Returns 0 or -errno. */
	int (*next)(void *context, struct decode_item *item);
	void *context;
	/* The BLOCK under construction, or a BLOCK with `insns` instructions left. 0 means none. */
	struct decode_item pending;
	struct decode_item held; /* the item that ended the construction of a BLOCK */
	bool holding;
};

/* Get the next item, with one BLOCK for consecutive INSNs. Returns 0 or -errno. */
int judge_units_block(struct judge_units *u, struct decode_item *item);

/*
 * Get the next item, with INSNs for a BLOCK, from the current code. next() may replace *code.
 * Returns 0 or -errno.
 */
int judge_units_insn(struct judge_units *u, struct decode_code_store *const *code,
		     struct decode_disasm *d, struct decode_item *item);

#endif /* VMM_JUDGE_UNITS_H */
