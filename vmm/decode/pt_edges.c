// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode many short traces into maps of edges, and keep the decoded code between them. */
#include "decode/pt_edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/pt_edges_inside.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define PAGE_MASK 0xfffull
/* About 64 MiB of pages, and 256 MiB of blocks. */
#define MOST_PAGES  16384u
#define MOST_BLOCKS 1000000u

static bool is_direct(const struct dec_block *block)
{
	return block->end == DEC_END_COND || block->end == DEC_END_JUMP ||
	       block->end == DEC_END_CALL;
}

struct decode_edges *decode_edges_new(const struct decode_edges_config *config)
{
	const struct dec_pt_config pt = {
		.no_retc = config->ctl & VPT_CTL_MASK(DIS_RETC),
		.no_os = !(config->ctl & VPT_CTL_MASK(OS)),
		.cr3_filter = config->ctl & VPT_CTL_MASK(CR3_FILTER),
		.cr3_match = config->cr3_match,
	};
	struct decode_edges *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->config = *config;
	d->trace = 1;
	d->code = dec_code_new();
	if (!d->code) {
		decode_edges_free(d);
		return NULL;
	}
	dec_code_separate(d->code);
	dec_flow_init(&d->flow, d->code, &decode_edges_flow_ops, d);
	d->flow.edges = &d->targets;
	dec_pt_init(&d->pt, &d->flow, &pt, &decode_edges_pt_ops, d);
	return d;
}

void decode_edges_free(struct decode_edges *d)
{
	if (!d)
		return;
	dec_edges_free(&d->targets);
	dec_code_free(d->code);
	free(d->bytes.at);
	free(d->changes.at);
	free(d->seen.at);
	free(d->ran.at);
	free(d);
}

bool decode_edges_is_full(const struct decode_edges *d)
{
	return d->pages > MOST_PAGES || dec_code_count(d->code) > MOST_BLOCKS;
}

int decode_edges_page(struct decode_edges *d, uint64_t insns, uint64_t cr3, uint64_t vaddr,
		      uint64_t gpa, const uint8_t *bytes)
{
	struct decode_edges_change *c;

	if (!trace_vec_room(&d->changes))
		return -ENOMEM;
	c = &d->changes.at[d->changes.n++];
	d->pages++;
	c->insns = insns;
	c->cr3 = cr3;
	c->vaddr = vaddr;
	c->gpa = gpa;
	memcpy(c->bytes, bytes, sizeof(c->bytes));
	return 0;
}

int decode_edges_bytes(struct decode_edges *d, const void *bytes, size_t len)
{
	while (d->bytes.room - d->bytes.n < len) {
		uint8_t *more = trace_vec_grow(d->bytes.at, &d->bytes.room, 1);

		if (!more)
			return -ENOMEM;
		d->bytes.at = more;
	}
	memcpy(d->bytes.at + d->bytes.n, bytes, len);
	d->bytes.n += len;
	return 0;
}

static void count(uint8_t *byte, uint64_t n)
{
	*byte = n < 255u - *byte ? (uint8_t)(*byte + n) : 255;
}

/* Move the counts of the blocks that ran to the map. */
static void take_blocks(struct decode_edges *d, uint8_t *map)
{
	size_t i;
	int way;

	for (i = 0; i < d->ran.n; i++) {
		struct dec_block *block = dec_code_at(d->code, d->ran.at[i]);
		const struct decode_edges_seen *seen = &d->seen.at[d->ran.at[i]];

		for (way = 0; way < DEC_LINKS; way++) {
			if (block->hits[way] && is_direct(block))
				count(&map[seen->index[way]], block->hits[way]);
			block->hits[way] = 0;
		}
	}
	d->ran.n = 0;
}

static void take_targets(struct decode_edges *d, uint8_t *map)
{
	size_t i;

	for (i = 0; d->targets.used && i <= d->targets.mask; i++) {
		const struct dec_edge *e = &d->targets.slots[i];

		if (e->count)
			count(&map[decode_edges_index(dec_code_at(d->code, e->from)->last, e->to)],
			      e->count);
	}
	if (d->targets.used)
		dec_edges_clear(&d->targets);
}

int decode_edges_end(struct decode_edges *d, uint8_t *map, struct decode_edges_sum *sum)
{
	d->sum = (struct decode_edges_sum){.bytes = d->bytes.n};
	d->no_memory = false;
	dec_flow_stop(&d->flow);
	d->flow.insns = 0;
	d->flow.mode = 64;
	d->next = 0;
	decode_edges_follow(d);
	if (dec_code_select(d->code, d->config.cr3 & ~PAGE_MASK))
		d->no_memory = true;
	dec_pt_push(&d->pt, d->bytes.at, d->bytes.n);
	dec_pt_finish(&d->pt);
	d->sum.insns = d->flow.insns;
	take_blocks(d, map);
	take_targets(d, map);
	/* The next trace begins with the code at the end of this one. */
	d->flow.insns = UINT64_MAX;
	decode_edges_follow(d);
	d->changes.n = 0;
	d->bytes.n = 0;
	d->trace++;
	*sum = d->sum;
	return d->no_memory || d->targets.lost || d->pt.no_memory ? -ENOMEM : 0;
}
