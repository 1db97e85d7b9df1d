// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a ring to a .vpt file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ring_state.h"
#include "trace/writer_state.h"
#include "vpt/packet.h"

/* The ids of PAGE blocks are consecutive within a generation. */
struct ids {
	uint64_t first; /* the id of the first PAGE block; 0: there is none yet */
	uint64_t *to;	/* the ids in the file */
	size_t n, room;
};

static int put_page(struct ids *ids, const struct trace_ring_block *b, struct trace_writer *to)
{
	const struct trace_page_content *page = (const void *)b->bytes;
	int err = 0;

	if (!b->content->id)
		err = trace_writer_page(to, b->content->bytes, &b->content->id);
	if (err)
		return err;
	if (ids->n == ids->room) {
		const size_t room = ids->room ? 2 * ids->room : 256;
		void *more = realloc(ids->to, room * sizeof(*ids->to));

		if (!more)
			return -ENOMEM;
		ids->to = more;
		ids->room = room;
	}
	ids->first = ids->first ? ids->first : page->id;
	ids->to[ids->n++] = b->content->id;
	return 0;
}

static int put_maps(const struct ids *ids, const struct trace_ring_block *b,
		    struct trace_writer *to)
{
	const size_t n = b->len / sizeof(struct trace_page_map);
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		struct trace_page_map map;

		memcpy(&map, b->bytes + i * sizeof(map), sizeof(map));
		if (!ids->first || map.content < ids->first || map.content - ids->first >= ids->n)
			return -EINVAL;
		map.content = ids->to[map.content - ids->first];
		err = trace_writer_map(to, b->vcpu, &map, 1);
	}
	return err;
}

/* Write bytes of trace that the file does not have, such as those before the first PSB. */
static int put_trace(const struct trace_ring_block *b, struct trace_writer *to)
{
	const uint64_t have = to->stream[b->vcpu].bytes;
	struct trace_chunk chunk;
	uint64_t skip = 0, len = b->len - sizeof(chunk);

	memcpy(&chunk, b->bytes, sizeof(chunk));
	if (chunk.offset < have)
		skip = have - chunk.offset < len ? have - chunk.offset : len;
	return trace_writer_trace(to, b->vcpu, chunk.gpa, b->bytes + sizeof(chunk) + skip,
				  (size_t)(len - skip));
}

/* A mark and a task get the place that the stream has by now, which is theirs. */
static int put_mark(const struct trace_ring_block *b, struct trace_writer *to)
{
	struct trace_user_mark mark;

	memcpy(&mark, b->bytes, sizeof(mark));
	return trace_writer_mark(to, b->vcpu, &mark, (const char *)b->bytes + sizeof(mark));
}

static int put_task(const struct trace_ring_block *b, struct trace_writer *to)
{
	struct trace_task task;

	memcpy(&task, b->bytes, sizeof(task));
	return trace_writer_task(to, b->vcpu, &task);
}

static int put_block(struct ids *ids, const struct trace_ring_block *b, struct trace_writer *to)
{
	struct trace_session session;
	struct trace_cr3_switch sw;

	switch (b->type) {
	case TRACE_BLOCK_PAGE:
		return put_page(ids, b, to);
	case TRACE_BLOCK_MAP:
		return put_maps(ids, b, to);
	case TRACE_BLOCK_TRACE:
		return put_trace(b, to);
	case TRACE_BLOCK_SESSION:
		memcpy(&session, b->bytes, sizeof(session));
		return trace_writer_session(to, b->vcpu, &session);
	case TRACE_BLOCK_CR3:
		memcpy(&sw, b->bytes, sizeof(sw));
		return trace_writer_cr3(to, b->vcpu, &sw);
	case TRACE_BLOCK_MARK:
		return put_mark(b, to);
	case TRACE_BLOCK_TASK:
		return put_task(b, to);
	default:
		return trace_writer_block(to, (enum trace_block_type)b->type, b->vcpu, b->bytes,
					  b->len, NULL, 0);
	}
}

static int put_list(const struct trace_ring_list *list, struct trace_writer *to)
{
	const struct trace_ring_block *b;
	struct ids ids = {0};
	int err = 0;

	for (b = list->first; b && !err; b = b->next)
		err = put_block(&ids, b, to);
	free(ids.to);
	return err;
}

static const struct trace_ring_block *first_of(const struct trace_ring_list *list,
					       enum trace_block_type type, unsigned int vcpu)
{
	const struct trace_ring_block *b = list->first;

	while (b && (b->type != type || b->vcpu != vcpu))
		b = b->next;
	return b;
}

/* Return the number of bytes before the PSB with which the trace of an open session begins. */
static uint64_t before_psb(const struct trace_ring_generation *g, unsigned int vcpu)
{
	const struct trace_ring_block *b = first_of(&g->blocks, TRACE_BLOCK_TRACE, vcpu);
	const size_t head = sizeof(struct trace_chunk);
	size_t psb;

	if (!b || !first_of(&g->state, TRACE_BLOCK_SESSION, vcpu))
		return 0;
	psb = vpt_packet_find_psb(b->bytes + head, b->len - head);
	return psb < b->len - head ? psb : 0;
}

int trace_ring_write_start(struct trace_ring *ring, struct trace_writer *to)
{
	const struct trace_ring_generation *g = ring->oldest;
	unsigned int i;
	int err = 0;

	/* Nothing was dropped before the first generation of all. */
	for (i = 0; i < ring->vcpus && !err && g->cut[i].why; i++) {
		struct trace_cut cut = g->cut[i];

		cut.offset += before_psb(g, i);
		err = trace_writer_cut(to, i, &cut);
	}
	return err ? err : put_list(&g->state, to);
}

int trace_ring_write(const struct trace_ring_generation *g, struct trace_writer *to)
{
	return put_list(&g->blocks, to);
}
