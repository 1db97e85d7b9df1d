/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items one by one, as lines of text or of JSON. */
#ifndef VMM_DECODE_LISTING_H
#define VMM_DECODE_LISTING_H

#include <stdio.h>

#include "decode/disasm.h"
#include "decode/flow.h"
#include "decode/pace.h"
#include "debug/symbol.h"

#define DECODE_LISTING_TEXT 207

struct decode_listing {
	FILE *out;
	bool json;
	bool lines;			/* with source file and line */
	const struct decode_pace *pace; /* with the time of each item, NULL: without */
	unsigned int vcpu;
	struct debug_symbols *symbols;
	struct decode_disasm *disasm;
	const struct trace_space *space; /* of what was shown last; used while that is shown */
	const struct debug_line *last;	 /* line table row that was shown last */
	struct decode_listing_cache *cache;
	char text
		[DECODE_LISTING_TEXT]; /* of an instruction; used if there is no memory for a cache */
};

/* Free the allocations of a listing. A listing begins as zeros, without an initialiser. */
void decode_listing_fini(struct decode_listing *l);

/* Show an item, if it is one to show: false if it is not. */
bool decode_listing_item(struct decode_listing *l, const struct decode_item *item);

/*
 * An instruction as text: address, symbol, disassembly. No newline. Also for
 * instructions that were not decoded but are known by their bytes.
 */
void decode_listing_insn(struct decode_listing *l, uint64_t ip, unsigned int mode,
			 const uint8_t *bytes, size_t len);

#endif /* VMM_DECODE_LISTING_H */
