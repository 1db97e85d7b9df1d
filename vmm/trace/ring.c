// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the blocks of the end of a trace in memory. */
#include "trace/ring_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"

static struct trace_ring_generation *newer_generation(struct trace_ring *ring)
{
	const size_t cuts = ring->vcpus * sizeof(struct trace_cut);
	struct trace_ring_generation *g = calloc(1, sizeof(*g) + cuts);

	if (!g)
		return NULL;
	if (ring->newest)
		ring->newest->newer = g;
	else
		ring->oldest = g;
	ring->newest = g;
	return g;
}

static struct trace_ring_content **bucket_of(struct trace_ring *ring, uint32_t crc)
{
	return &ring->bucket[crc % TRACE_RING_BUCKETS];
}

/* Find a page by its bytes, or add it. Returns NULL if there is no memory. */
static struct trace_ring_content *find_content(struct trace_ring *ring, const void *bytes)
{
	const uint32_t crc = trace_crc32c(0, bytes, TRACE_CODE_BYTES);
	struct trace_ring_content **bucket = bucket_of(ring, crc), *c;

	for (c = *bucket; c; c = c->next)
		if (c->crc == crc && !memcmp(c->bytes, bytes, TRACE_CODE_BYTES))
			return c;
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct trace_ring_content){.next = *bucket, .crc = crc};
	memcpy(c->bytes, bytes, TRACE_CODE_BYTES);
	*bucket = c;
	ring->code += TRACE_CODE_BYTES;
	ring->newest->code += TRACE_CODE_BYTES;
	return c;
}

static void drop_content(struct trace_ring *ring, struct trace_ring_content *c)
{
	struct trace_ring_content **at = bucket_of(ring, c->crc);

	if (--c->uses)
		return;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	free(c);
	ring->code -= TRACE_CODE_BYTES;
}

static void drop_blocks(struct trace_ring *ring, struct trace_ring_list *list)
{
	struct trace_ring_block *b;

	while ((b = list->first)) {
		list->first = b->next;
		if (b->content)
			drop_content(ring, b->content);
		free(b);
	}
}

static void drop_oldest(struct trace_ring *ring)
{
	struct trace_ring_generation *g = ring->oldest;

	drop_blocks(ring, &g->state);
	drop_blocks(ring, &g->blocks);
	ring->bytes -= g->bytes;
	ring->dropped += g->trace;
	ring->oldest = g->newer;
	if (!ring->oldest)
		ring->newest = NULL;
	free(g);
}

static void add(struct trace_ring_list *list, struct trace_ring_block *b)
{
	if (list->last)
		list->last->next = b;
	else
		list->first = b;
	list->last = b;
}

/* Returns true if the present generation has its share. */
static bool is_full(const struct trace_ring *ring)
{
	return ring->newest->bytes >= ring->config.bytes / TRACE_RING_GENERATIONS ||
	       ring->newest->code >= TRACE_RING_CODE / TRACE_RING_GENERATIONS;
}

/* Add a block. A page's bytes are in its content. Returns 0 or -ENOMEM. */
static int add_block(struct trace_ring *ring, const struct trace_ring_block *head, const void *a,
		     size_t a_len, const void *b, size_t b_len)
{
	struct trace_ring_generation *g = ring->newest;
	const bool is_state = ring->state && head->type != TRACE_BLOCK_TRACE;
	struct trace_ring_block *block = malloc(sizeof(*block) + a_len + b_len);

	if (!block)
		return -ENOMEM;
	*block = *head;
	block->len = (uint32_t)(a_len + b_len);
	memcpy(block->bytes, a, a_len);
	if (b_len)
		memcpy(block->bytes + a_len, b, b_len);
	add(is_state ? &g->state : &g->blocks, block);
	if (block->content)
		block->content->uses++;
	if (block->type == TRACE_BLOCK_TRACE)
		g->trace += b_len;
	/* Otherwise the beginning of a small generation could fill it. */
	if (ring->begins)
		return 0;
	g->bytes += sizeof(*block) + block->len;
	ring->bytes += sizeof(*block) + block->len;
	return 0;
}

/* The sink of the writer. */
static int put(void *opaque, enum trace_block_type type, unsigned int vcpu, const void *head,
	       size_t head_len, const void *body, size_t body_len)
{
	struct trace_ring *ring = opaque;
	struct trace_ring_block block = {.type = (uint16_t)type, .vcpu = (uint16_t)vcpu};
	int err;

	if (!ring->newest || type == TRACE_BLOCK_INPUT || type == TRACE_BLOCK_ORACLE ||
	    type == TRACE_BLOCK_STRETCH || type == TRACE_BLOCK_RUN)
		return 0;
	if (type == TRACE_BLOCK_PAGE) {
		block.content = find_content(ring, body);
		body_len = 0;
		if (!block.content)
			return -ENOMEM;
	}
	/* A block with a single part has it in @body or in @head. */
	err = head_len ? add_block(ring, &block, head, head_len, body, body_len)
		       : add_block(ring, &block, body, body_len, NULL, 0);
	if (!err && !ring->asked && !ring->begins && is_full(ring)) {
		ring->asked = true;
		ring->config.full(ring->config.opaque);
	}
	return err;
}

int trace_ring_create(const struct trace_ring_config *config, struct trace_ring **ring)
{
	struct trace_ring *r = calloc(1, sizeof(*r));
	const struct trace_sink sink = {.put = put, .opaque = r};
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->config = *config;
	r->vcpus = config->info->vcpus;
	if (newer_generation(r))
		err = trace_writer_start_sink(&sink, config->info, &r->writer);
	if (err)
		trace_ring_destroy(r);
	else
		*ring = r;
	return err;
}

void trace_ring_destroy(struct trace_ring *ring)
{
	if (!ring)
		return;
	while (ring->oldest)
		drop_oldest(ring);
	if (ring->writer)
		trace_writer_drop(ring->writer);
	free(ring);
}

struct trace_writer *trace_ring_writer(struct trace_ring *ring)
{
	return ring->writer;
}

/* Returns true if the ring has what it must have also without its oldest generation. */
static bool has_spare(const struct trace_ring *ring)
{
	return ring->oldest != ring->newest &&
	       (ring->bytes - ring->oldest->bytes >= ring->config.bytes ||
		ring->code > TRACE_RING_CODE);
}

int trace_ring_turn(struct trace_ring *ring)
{
	struct trace_ring_generation *g;
	unsigned int i;

	ring->asked = false;
	if (!ring->newest)
		return 0;
	ring->begins = true;
	g = newer_generation(ring);
	if (!g)
		return -ENOMEM;
	for (i = 0; i < ring->vcpus; i++)
		g->cut[i] = (struct trace_cut){
			.offset = trace_writer_stream_bytes(ring->writer, i),
			.why = TRACE_CUT_RING,
		};
	while (has_spare(ring))
		drop_oldest(ring);
	return 0;
}

void trace_ring_place(struct trace_ring *ring, unsigned int vcpu, uint64_t insns)
{
	if (ring->newest)
		ring->newest->cut[vcpu].insns = insns;
}

void trace_ring_state(struct trace_ring *ring, bool on)
{
	ring->state = on;
}

void trace_ring_begun(struct trace_ring *ring)
{
	ring->begins = false;
}

int trace_ring_save(struct trace_ring *ring, struct trace_writer *to,
		    struct trace_ring_saved *saved)
{
	struct trace_ring_generation *g;
	int err = trace_writer_sync(ring->writer);

	*saved = (struct trace_ring_saved){.dropped = ring->dropped};
	if (!err && ring->oldest)
		err = trace_ring_write_start(ring, to);
	for (g = ring->oldest; g && !err; g = g->newer) {
		err = trace_ring_write(g, to);
		saved->kept += g->trace;
	}
	if (!err)
		err = trace_writer_sync(to);
	while (ring->oldest)
		drop_oldest(ring);
	return err;
}
