// SPDX-License-Identifier: GPL-2.0-or-later
/* List the items of a shard for its partial result. */
#include "decode/shard_listing.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/listing.h"

struct decode_shard_listing {
	struct decode_listing listing;
	struct decode_disasm *disasm;
	struct decode_text_writer *writer;
};

struct decode_shard_listing *decode_shard_listing_begin(const struct decode_listing_how *how,
							unsigned int vcpu,
							struct debug_symbols *symbols,
							struct decode_text *to)
{
	struct decode_shard_listing *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->listing = (struct decode_listing){
		.json = how->json,
		.lines = how->lines,
		.marks = true,
		.vcpu = vcpu,
		.symbols = symbols,
	};
	l->disasm = decode_disasm_new(symbols);
	l->listing.disasm = l->disasm;
	l->writer = decode_text_begin(to, &l->listing.out);
	if (l->disasm && l->writer)
		return l;
	(void)decode_shard_listing_end(l);
	return NULL;
}

void decode_shard_listing_item(struct decode_shard_listing *l, const struct decode_item *item)
{
	decode_listing_item(&l->listing, item);
}

int decode_shard_listing_end(struct decode_shard_listing *l)
{
	int err;

	if (!l)
		return 0;
	err = decode_text_end(l->writer);
	decode_listing_fini(&l->listing);
	decode_disasm_free(l->disasm);
	free(l);
	return err;
}
