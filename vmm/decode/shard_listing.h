/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listing of a shard: its items as lines with marks (listing_join.h), compressed. */
#ifndef VMM_DECODE_SHARD_LISTING_H
#define VMM_DECODE_SHARD_LISTING_H

#include "decode/item.h"
#include "decode/text_chunks.h"
#include "debug/symbol.h"

/* The form of a listing. */
struct decode_listing_how {
	bool json;
	bool lines;  /* with source lines, which the symbols have read */
	bool spaces; /* with the address space, by CR3 */
};

struct decode_shard_listing;

/* Start a listing of @vcpu, which is appended to @to. Returns NULL if there is no memory. */
struct decode_shard_listing *decode_shard_listing_begin(const struct decode_listing_how *how,
							unsigned int vcpu,
							struct debug_symbols *symbols,
							struct decode_text *to);
/* List an item. */
void decode_shard_listing_item(struct decode_shard_listing *l, const struct decode_item *item);
/* End and free a listing, which may be NULL. Returns 0 or -ENOMEM. */
int decode_shard_listing_end(struct decode_shard_listing *l);

#endif /* VMM_DECODE_SHARD_LISTING_H */
