/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print items one by one, as lines of text or of JSON. */
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
	bool lines; /* print source file and line */
	bool marks; /* begin each line with a mark, see listing_join.h */
	bool hold;  /* hold the next source line back, see decode_listing_line() */
	const struct decode_pace *pace; /* the time of each item, or NULL to print no time */
	unsigned int vcpu;
	struct debug_symbols *symbols;
	struct decode_disasm *disasm;
	const struct trace_space *space; /* the space that was printed last */
	const struct debug_line *last;	 /* the line table row that was printed last */
	struct decode_listing_cache *cache;
	char text[DECODE_LISTING_TEXT]; /* the text of an instruction if there is no cache */
};

/* Free the allocations of a listing. Initialise a listing with zeros. */
void decode_listing_fini(struct decode_listing *l);

/* Returns true if an item is printed. */
bool decode_listing_shows(const struct decode_item *item);
/* Print an item. Returns false if the item is not printed. */
bool decode_listing_item(struct decode_listing *l, const struct decode_item *item);

/*
 * Print a source line, if it differs from the last one. A caller that does not know the last one sets
 * @hold. The listing then writes its buffer out, clears @hold and sets @last where it would print the
 * first source line. A segment clears @hold, because after it the line is printed in any case.
 */
void decode_listing_line(struct decode_listing *l, const struct debug_line *line);

/*
 * Follow an item that is not printed because it comes before a part. Then print where the part
 * begins: the vCPU, its clock and the space. JSON needs no such lines.
 */
void decode_listing_skip(struct decode_listing *l, const struct decode_item *item);
void decode_listing_begin(struct decode_listing *l, uint64_t clock);

/*
 * Print an instruction as text: address, symbol, disassembly, without a newline. The instruction
 * need not come from the decoder.
 */
void decode_listing_insn(struct decode_listing *l, uint64_t ip, unsigned int mode,
			 const uint8_t *bytes, size_t len);

#endif /* VMM_DECODE_LISTING_H */
