/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of the listings of two flows, by their lengths and sums. */
#ifndef TESTS_LIB_SAME_LISTINGS_H
#define TESTS_LIB_SAME_LISTINGS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/shards.h"

struct listed {
	uint64_t sum, len; /* FNV-1a, 64 bits, of the text */
	uint64_t left;
	struct decode_summary of;
	bool slow; /* sleep before the first byte is taken, so that threads get ahead */
};

static inline ssize_t listed_write(void *context, const char *text, size_t len)
{
	struct listed *to = context;
	size_t i;

	if (to->slow && !to->len)
		usleep(20000);
	to->len += len;
	for (i = 0; i < len; i++)
		to->sum = (to->sum ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return (ssize_t)len;
}

/* List up to @to->left items of a flow in the form of @form. Returns false if an error occurs. */
static inline bool list_flow(struct decode_flow *flow, unsigned int vcpu,
			     const struct decode_listing *form, struct listed *to)
{
	struct decode_listing l = *form;
	struct decode_shards_listing of = {.listing = &l, .left = to->left};
	bool ok;

	l.disasm = decode_disasm_new(l.symbols);
	l.out = fopencookie(to, "w", (cookie_io_functions_t){.write = listed_write});
	ok = l.disasm && l.out && !decode_shards_list(flow, vcpu, &of);
	ok = l.out && !fclose(l.out) && ok;
	decode_listing_fini(&l);
	decode_disasm_free(l.disasm);
	to->left = of.left;
	to->of = of.sum;
	return ok;
}

/* Returns true if both flows give the same listing. The text of @b is taken slowly. */
static inline bool same_listings(struct decode_flow *a, struct decode_flow *b, unsigned int vcpu,
				 const struct decode_listing *form, uint64_t limit)
{
	struct listed x = {.left = limit}, y = {.left = limit, .slow = true};

	return list_flow(a, vcpu, form, &x) && list_flow(b, vcpu, form, &y) && x.len == y.len &&
	       x.sum == y.sum && x.left == y.left && x.of.errors == y.of.errors &&
	       x.of.insns == y.of.insns && !strcmp(x.of.first_error, y.of.first_error);
}

/* Returns true if the threads of a flow kept to the memory that texts may have, @how->text of a shard. */
static inline bool listing_was_bounded(const struct decode_flow *flow,
				       const struct decode_shards_how *how)
{
	struct decode_shards_done done;

	/* Chunks are rounded up by a byte, and two shards may exceed the memory of the threads. */
	return !decode_shards_done(flow, &done) ||
	       done.text <= (how->text + 512) * (how->jobs + 5) / 2;
}

#endif /* TESTS_LIB_SAME_LISTINGS_H */
