// SPDX-License-Identifier: GPL-2.0-or-later
/* Walk over a guest's buffer to read the bytes that the processor's own PT wrote. */
#include "pt/collect.h"

#include <stdlib.h>
#include <string.h>

#define TOPA_END	 (1ull << 0)
#define TOPA_INT	 (1ull << 2)
#define TOPA_STOP	 (1ull << 4)
#define TOPA_SIZE(entry) (4096ull << ((entry) >> 6 & 15))
#define TOPA_ADDRESS	 0x000ffffffffff000ull

/* The limits of the walks, because the guest is hostile. */
#define MAX_REGIONS 65536u
#define MAX_ENDS    64u

static uint64_t topa_entry(const struct tracer_collect *c, const struct tracer_collect_place *p)
{
	uint64_t entry = 0;

	(void)x86_mem_read(c->mem, p->table + 8ull * p->index, &entry, sizeof(entry));
	return entry;
}

/*
 * Advance to a region's entry by following END entries. Returns false if the tables have no region.
 */
static bool finish(const struct tracer_collect *c, struct tracer_collect_place *p)
{
	unsigned int ends;

	for (ends = 0; c->state & TRACER_COLLECT_TOPA && ends < MAX_ENDS; ends++) {
		uint64_t entry = topa_entry(c, p);

		if (!(entry & TOPA_END))
			return true;
		*p = (struct tracer_collect_place){.table = entry & TOPA_ADDRESS};
	}
	return !(c->state & TRACER_COLLECT_TOPA);
}

static struct tracer_collect_place place_of(const struct vpt_rtit *rtit)
{
	struct tracer_collect_place p = {.offset = rtit->output_mask_ptrs >> 32};

	if (!VPT_CTL_GET(rtit->ctl, TOPA))
		return p;
	p.table = rtit->output_base;
	p.index = (uint32_t)rtit->output_mask_ptrs >> VPT_MASK_PTRS_TABLE_SHIFT;
	return p;
}

static bool add(struct tracer_collect *c, const struct tracer_collect_region *region)
{
	if (c->regions == MAX_REGIONS || region->bytes > 2 * c->mem->bytes - c->bytes ||
	    !x86_mem_at(c->mem, region->gpa, region->bytes))
		return false;
	if (c->regions == c->room) {
		size_t room = c->room ? 2 * c->room : 16;
		void *more = realloc(c->region, room * sizeof(*c->region));

		if (!more)
			return false;
		c->region = more;
		c->room = room;
	}
	c->region[c->regions++] = *region;
	c->bytes += region->bytes;
	return true;
}

/*
 * List the regions from c->next on. The list ends where c->next is reached again, where the output
 * stops, or where the tables are invalid.
 */
static void list_tables(struct tracer_collect *c)
{
	struct tracer_collect_place p = c->next;

	for (;;) {
		uint64_t entry = topa_entry(c, &p);
		const struct tracer_collect_region region = {
			.gpa = entry & TOPA_ADDRESS & ~(TOPA_SIZE(entry) - 1),
			.bytes = TOPA_SIZE(entry),
			.table = p.table,
			.index = p.index,
			.stop = entry & TOPA_STOP,
			.interrupt = entry & TOPA_INT,
		};

		if (!add(c, &region) || region.stop)
			return;
		p.index++;
		p.offset = 0;
		if (!finish(c, &p))
			return;
		if (p.table == c->next.table && p.index == c->next.index) {
			c->state |= TRACER_COLLECT_AROUND;
			return;
		}
	}
}

static void list_regions(struct tracer_collect *c, const struct vpt_rtit *rtit)
{
	uint64_t mask = (uint32_t)rtit->output_mask_ptrs | VPT_MASK_PTRS_LOW;

	c->regions = 0;
	c->bytes = 0;
	c->state &= ~TRACER_COLLECT_AROUND;
	if (c->state & TRACER_COLLECT_TOPA) {
		if (finish(c, &c->next))
			list_tables(c);
		return;
	}
	if (add(c, &(struct tracer_collect_region){.gpa = rtit->output_base & ~mask,
						   .bytes = mask + 1}))
		c->state |= TRACER_COLLECT_AROUND;
}

static void copy_ahead(struct tracer_collect *c)
{
	uint64_t at = 0;
	size_t i;

	free(c->ahead);
	c->ahead = c->bytes ? malloc(c->bytes) : NULL;
	for (i = 0; c->ahead && i < c->regions; i++) {
		(void)x86_mem_read(c->mem, c->region[i].gpa, c->ahead + at, c->region[i].bytes);
		at += c->region[i].bytes;
	}
}

void tracer_collect_start(struct tracer_collect *c, const struct x86_mem *mem,
			  const struct vpt_rtit *rtit)
{
	c->mem = mem;
	c->state = VPT_CTL_GET(rtit->ctl, TOPA) ? TRACER_COLLECT_TOPA : 0;
	c->next = place_of(rtit);
	list_regions(c, rtit);
	copy_ahead(c);
}

/*
 * Return the position of a place in the buffer, in bytes from the start of the first region.
 * UINT64_MAX if the place is not in the buffer. After a STOP, the place is behind its region.
 */
static uint64_t find(const struct tracer_collect *c, const struct tracer_collect_place *p)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < c->regions; at += c->region[i++].bytes)
		if (c->region[i].table == p->table && c->region[i].index == p->index)
			return p->offset <= c->region[i].bytes ? at + p->offset : UINT64_MAX;
	return c->regions && c->region[c->regions - 1].stop ? c->bytes : UINT64_MAX;
}

/*
 * Find the part [*lo, *hi) of a region that is in [from, to). The region begins at @at. Returns
 * false if there is none.
 */
static bool find_part(const struct tracer_collect_region *r, uint64_t at, uint64_t from,
		      uint64_t to, uint64_t *lo, uint64_t *hi)
{
	*lo = from > at ? from - at : 0;
	*hi = to - at < r->bytes ? to - at : r->bytes;
	return *lo < *hi;
}

/* Returns true if any byte of [from, to) differs from the copy. */
static bool changed(const struct tracer_collect *c, uint64_t from, uint64_t to)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < c->regions && at < to; at += c->region[i++].bytes) {
		const struct tracer_collect_region *r = &c->region[i];
		uint64_t lo, hi;

		if (find_part(r, at, from, to, &lo, &hi) &&
		    memcmp(x86_mem_at(c->mem, r->gpa + lo, hi - lo), c->ahead + at + lo, hi - lo))
			return true;
	}
	return false;
}

static void give(const struct tracer_collect *c, uint64_t from, uint64_t to,
		 const struct tracer_collect_sink *sink)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < c->regions && at < to; at += c->region[i++].bytes) {
		const struct tracer_collect_region *r = &c->region[i];
		uint64_t lo, hi;

		if (!find_part(r, at, from, to, &lo, &hi))
			continue;
		sink->bytes(sink->opaque, r->gpa + lo, x86_mem_at(c->mem, r->gpa + lo, hi - lo),
			    hi - lo);
		if (hi == r->bytes && r->interrupt)
			sink->interrupt(sink->opaque);
	}
}

/* Returns true if the bytes that output cannot have reached yet are unchanged. */
static bool was_once(const struct tracer_collect *c, uint64_t from, uint64_t to)
{
	if (!(c->state & TRACER_COLLECT_AROUND) || !c->ahead)
		return true;
	if (from <= to)
		return !changed(c, to, c->bytes) && !changed(c, 0, from);
	return !changed(c, to, from);
}

static void give_new(const struct tracer_collect *c, uint64_t from, uint64_t to,
		     const struct tracer_collect_sink *sink)
{
	bool wraps = to < from;

	if (!was_once(c, from, to)) {
		sink->lost(sink->opaque);
		from = to;
		wraps = true;
	}
	give(c, from, wraps ? c->bytes : to, sink);
	if (wraps)
		give(c, 0, to, sink);
}

void tracer_collect_read(struct tracer_collect *c, const struct vpt_rtit *rtit,
			 const struct tracer_collect_sink *sink)
{
	struct tracer_collect_place to = place_of(rtit);
	uint64_t at;

	if (!finish(c, &to))
		return;
	at = find(c, &to);
	if (at == UINT64_MAX)
		sink->lost(sink->opaque);
	else
		give_new(c, c->next.offset, at, sink);
	if (at == c->bytes && c->regions && c->region[c->regions - 1].stop)
		c->state |= TRACER_COLLECT_FULL;
	c->next = to;
	list_regions(c, rtit);
	copy_ahead(c);
}

bool tracer_collect_has(const struct tracer_collect *c, uint64_t gpa)
{
	size_t i;

	for (i = 0; i < c->regions; i++)
		if (gpa >= c->region[i].gpa && gpa - c->region[i].gpa < c->region[i].bytes)
			return true;
	return false;
}

void tracer_collect_end(struct tracer_collect *c)
{
	free(c->ahead);
	free(c->region);
	memset(c, 0, sizeof(*c));
}
