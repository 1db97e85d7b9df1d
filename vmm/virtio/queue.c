// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes chains of descriptors from split virtqueues, and returns them. */
#include "virtio/queue.h"

#define DESC_NEXT     1u
#define DESC_WRITE    2u
#define DESC_INDIRECT 4u
#define DESC_KNOWN    (DESC_NEXT | DESC_WRITE)
#define NO_INTERRUPT  1u

struct desc {
	uint64_t gpa;
	uint32_t bytes;
	uint16_t flags, next;
};

/* Both rings begin so. */
struct ring_head {
	uint16_t flags, index;
};

struct used {
	uint32_t head, bytes;
};

static bool write_ram(const struct virtio_memory *m, uint64_t gpa, const void *from, size_t bytes)
{
	if (!x86_mem_write(m->mem, gpa, from, bytes))
		return false;
	if (m->wrote && bytes)
		m->wrote(m->opaque, gpa, bytes);
	return true;
}

/* The driver's index for interrupts is behind the ring of available chains. */
static bool read_used_event(const struct virtio_queue *q, const struct virtio_memory *m,
			    uint16_t *index)
{
	const uint64_t ring = sizeof(struct ring_head) + q->size * sizeof(uint16_t);

	return x86_mem_read(m->mem, q->avail + ring, index, sizeof(*index));
}

/* The device's index for notifications is behind the ring of used chains. */
static bool write_avail_event(const struct virtio_queue *q, const struct virtio_memory *m)
{
	const uint64_t ring = sizeof(struct ring_head) + q->size * sizeof(struct used);

	return write_ram(m, q->used + ring, &q->taken, sizeof(q->taken));
}

/* Returns true if an index that goes from @from to @to passes @event. Indices have 16 bits. */
static bool passes(uint16_t event, uint16_t from, uint16_t to)
{
	return (uint16_t)(to - event - 1) < (uint16_t)(to - from);
}

/* Add a descriptor to a chain. Returns false if the descriptor breaks the rules. */
static bool add(const struct virtio_queue *q, struct virtio_chain *chain, const struct desc *d)
{
	if (d->flags & ~DESC_KNOWN || chain->count == q->size)
		return false;
	if (!(d->flags & DESC_WRITE)) {
		/* Pieces for reading precede those for writing. */
		if (chain->out != chain->count)
			return false;
		chain->out++;
		chain->out_bytes += d->bytes;
	} else {
		chain->in_bytes += d->bytes;
	}
	chain->piece[chain->count].gpa = d->gpa;
	chain->piece[chain->count++].bytes = d->bytes;
	return true;
}

/*
 * Add the descriptors of an indirect table. The whole table is copied first. Its chain begins with
 * descriptor 0 and has no further tables. The flag of writing has no meaning in @d.
 */
static bool follow_table(const struct virtio_queue *q, const struct virtio_memory *m,
			 struct virtio_chain *chain, const struct desc *d)
{
	const uint32_t count = d->bytes / sizeof(*d);
	struct desc table[VIRTIO_QUEUE_MAX];
	uint16_t at = 0;

	if (!(q->rules & VIRTIO_RULE_INDIRECT) || d->flags & ~(DESC_INDIRECT | DESC_WRITE) ||
	    d->bytes % sizeof(*d) || count > q->size ||
	    !x86_mem_read(m->mem, d->gpa, table, d->bytes))
		return false;
	do {
		if (at >= count || !add(q, chain, &table[at]))
			return false;
		d = &table[at];
		at = d->next;
	} while (d->flags & DESC_NEXT);
	return true;
}

static bool follow(const struct virtio_queue *q, const struct virtio_memory *m,
		   struct virtio_chain *chain)
{
	uint16_t at = chain->head;
	struct desc d;

	for (;;) {
		if (at >= q->size || !x86_mem_read(m->mem, q->desc + at * sizeof(d), &d, sizeof(d)))
			return false;
		if (d.flags & DESC_INDIRECT)
			return follow_table(q, m, chain, &d);
		if (!add(q, chain, &d))
			return false;
		if (!(d.flags & DESC_NEXT))
			return true;
		at = d.next;
	}
}

enum virtio_taken virtio_queue_peek(const struct virtio_queue *q, const struct virtio_memory *m,
				    struct virtio_chain *chain)
{
	struct ring_head head;
	uint64_t at;

	if (!q->ready)
		return VIRTIO_NONE;
	if (!x86_mem_read(m->mem, q->avail, &head, sizeof(head)) ||
	    (uint16_t)(head.index - q->taken) > q->size)
		return VIRTIO_BROKEN;
	if (head.index == q->taken)
		return VIRTIO_NONE;
	chain->out = chain->count = 0;
	chain->out_bytes = chain->in_bytes = 0;
	at = q->avail + sizeof(head) + q->taken % q->size * sizeof(chain->head);
	if (!x86_mem_read(m->mem, at, &chain->head, sizeof(chain->head)) || !follow(q, m, chain))
		return VIRTIO_BROKEN;
	return VIRTIO_CHAIN;
}

enum virtio_taken virtio_queue_take(struct virtio_queue *q, const struct virtio_memory *m,
				    struct virtio_chain *chain)
{
	const enum virtio_taken taken = virtio_queue_peek(q, m, chain);

	if (taken != VIRTIO_CHAIN)
		return taken;
	q->taken++;
	if (q->rules & VIRTIO_RULE_EVENT && !write_avail_event(q, m))
		return VIRTIO_BROKEN;
	return VIRTIO_CHAIN;
}

bool virtio_chain_read(const struct virtio_chain *chain, const struct virtio_memory *m, void *to,
		       size_t room)
{
	uint8_t *at = to;
	unsigned int i;

	for (i = 0; i < chain->out && room; i++) {
		const size_t n = chain->piece[i].bytes < room ? chain->piece[i].bytes : room;

		if (!x86_mem_read(m->mem, chain->piece[i].gpa, at, n))
			return false;
		at += n;
		room -= n;
	}
	return true;
}

bool virtio_chain_write(const struct virtio_chain *chain, const struct virtio_memory *m,
			const void *from, size_t bytes)
{
	const uint8_t *at = from;
	unsigned int i;

	for (i = chain->out; i < chain->count && bytes; i++) {
		const size_t n = chain->piece[i].bytes < bytes ? chain->piece[i].bytes : bytes;

		if (!write_ram(m, chain->piece[i].gpa, at, n))
			return false;
		at += n;
		bytes -= n;
	}
	return true;
}

bool virtio_queue_give(struct virtio_queue *q, const struct virtio_memory *m,
		       const struct virtio_chain *chain, uint32_t bytes, bool *interrupt)
{
	const struct used used = {chain->head, bytes};
	const uint16_t was = q->given, index = (uint16_t)(was + 1);
	struct ring_head head;
	uint16_t event;
	uint64_t at = q->used + sizeof(head) + was % q->size * sizeof(used);

	if (!write_ram(m, at, &used, sizeof(used)) ||
	    !write_ram(m, q->used + offsetof(struct ring_head, index), &index, sizeof(index)))
		return false;
	/* With event indices the flag has no meaning. */
	if (q->rules & VIRTIO_RULE_EVENT ? !read_used_event(q, m, &event)
					 : !x86_mem_read(m->mem, q->avail, &head, sizeof(head)))
		return false;
	q->given = index;
	if (q->rules & VIRTIO_RULE_EVENT ? passes(event, was, index) : !(head.flags & NO_INTERRUPT))
		*interrupt = true;
	return true;
}
