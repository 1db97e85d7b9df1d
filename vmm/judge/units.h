/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decoder's units need not be the wanted ones: BLOCKs from INSNs and the other way round. */
#ifndef VMM_JUDGE_UNITS_H
#define VMM_JUDGE_UNITS_H

#include "decode/code.h"
#include "decode/disasm.h"
#include "decode/item.h"

struct judge_units {
	/* The next item as it is decoded. 0 or -errno. */
	int (*next)(void *context, struct decode_item *item);
	void *context;
	/* A BLOCK that is being made, or one that has `insns` instructions left. 0: none. */
	struct decode_item pending;
	struct decode_item held; /* what ended the making of a BLOCK */
	bool holding;
};

/* The next item, with a BLOCK for INSNs in a row. 0 or -errno. */
int judge_units_block(struct judge_units *u, struct decode_item *item);

/*
 * Get the next item, with INSNs for a BLOCK, from the code as it is. next() may replace *code.
 * Returns 0 or -errno.
 */
int judge_units_insn(struct judge_units *u, struct decode_code_store *const *code,
		     struct decode_disasm *d, struct decode_item *item);

#endif /* VMM_JUDGE_UNITS_H */
