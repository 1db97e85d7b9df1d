/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items one by one, as lines of text or of JSON. */
#ifndef VMM_DECODE_LISTING_H
#define VMM_DECODE_LISTING_H

#include <stdio.h>

#include "disasm.h"
#include "flow.h"
#include "pace.h"
#include "debug/symbol.h"

#define VPT_LISTING_TEXT 207

struct vpt_listing {
	FILE *out;
	bool json;
	bool lines;		     /* with source file and line */
	const struct vpt_pace *pace; /* with the time of each item, NULL: without */
	unsigned int vcpu;
	struct vpt_symbols *symbols;
	struct vpt_disasm *disasm;
	const struct vpt_space *space; /* of what was shown last; used while that is shown */
	const struct vpt_line *last;   /* line table row that was shown last */
	struct vpt_listing_cache *cache;
	char text[VPT_LISTING_TEXT]; /* of an instruction; used if there is no memory for a cache */
};

/* What is zero needs no initialising, but this at the end. */
void vpt_listing_fini(struct vpt_listing *l);

/* Show an item, if it is one to show: false if it is not. */
bool vpt_listing_item(struct vpt_listing *l, const struct vpt_item *item);

/*
 * An instruction as text: address, symbol, disassembly. No newline. Also for
 * instructions that were not decoded but are known by their bytes.
 */
void vpt_listing_insn(struct vpt_listing *l, uint64_t ip, unsigned int mode, const uint8_t *bytes,
		      size_t len);

#endif /* VMM_DECODE_LISTING_H */
