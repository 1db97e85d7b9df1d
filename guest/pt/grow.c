// SPDX-License-Identifier: GPL-2.0-or-later
/* Extends ToPA output while the guest runs. */
#include "grow.h"

#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "vpt/msr.h"

#define REGION	 GUEST_TOPA_REGION_MIN
#define ROOM	 24u /* entries of a table, including END */
#define RING_MIN 6u

static void plan(struct grow *g, uint64_t *table, unsigned int slot)
{
	uint8_t *region = page_alloc(REGION);

	table[slot] = guest_topa_region(region, REGION, GUEST_TOPA_INT);
	g->plan[g->planned].region = region;
	g->plan[g->planned].table = table;
	g->plan[g->planned++].slot = slot;
}

/* Add a new table with one region. */
static void new_table(struct grow *g)
{
	g->table = page_alloc(PAGE_SIZE);
	plan(g, g->table, 0);
	g->end = 1;
	g->ring = false;
	g->table[1] = guest_topa_end(g->table);
}

static bool output_in_table(const struct grow *g)
{
	return g->plan[g->at].table == g->table;
}

static bool add_to_ring(struct grow *g)
{
	unsigned int cursor = g->plan[g->at].slot;
	uint64_t *table = g->table;

	/* Count up to the region in use. */
	if (g->slot == cursor)
		return false;
	if (g->slot && g->slot < cursor && rng_chance(g->rng, 25)) {
		unsigned int slot = g->slot;

		new_table(g);
		table[slot] = guest_topa_end(g->table);
		g->tables++;
		return true;
	}
	plan(g, table, g->slot);
	g->slot = (g->slot + 1) % g->end;
	return true;
}

static bool add(struct grow *g)
{
	uint64_t *table = g->table;
	unsigned int end = g->end;

	if (g->ring)
		return add_to_ring(g);
	if (end >= RING_MIN && output_in_table(g) && g->plan[g->at].slot &&
	    rng_chance(g->rng, 60)) {
		g->ring = true;
		g->slot = 0;
		g->rings++;
		return add_to_ring(g);
	}
	if (end + 1 < ROOM && rng_chance(g->rng, 92)) {
		plan(g, table, end);
		g->end = end + 1;
		table[g->end] = guest_topa_end(table);
		g->added++;
		return true;
	}
	new_table(g);
	table[end] = guest_topa_end(g->table);
	g->tables++;
	return true;
}

static void make_room(struct grow *g)
{
	while (g->planned - g->at < GROW_AHEAD && g->planned < GROW_REGIONS && add(g))
		;
}

void grow_init(struct grow *g, struct rng *rng)
{
	memset(g, 0, sizeof(*g));
	g->rng = rng;
	new_table(g);
	make_room(g);
}

unsigned int grow_handle(struct grow *g, uint64_t base, uint64_t mask_ptrs)
{
	unsigned int slot = (uint32_t)mask_ptrs >> VPT_MASK_PTRS_TABLE_SHIFT, from = g->at;

	while (g->at < g->planned &&
	       ((uintptr_t)g->plan[g->at].table != base || g->plan[g->at].slot != slot))
		g->at++;
	if (g->at == g->planned) {
		g->lost = true;
		g->at = from;
		return 0;
	}
	make_room(g);
	return g->at - from;
}

uint64_t grow_log(struct grow *g, uint64_t base, uint64_t mask_ptrs, uint8_t *to, uint64_t max)
{
	uint64_t offset = mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT, done = 0;
	unsigned int i;

	grow_handle(g, base, mask_ptrs);
	for (i = 0; i <= g->at; i++) {
		uint64_t bytes = i < g->at ? REGION : offset;

		if (bytes > max - done)
			bytes = max - done;
		memcpy(to + done, g->plan[i].region, bytes);
		done += bytes;
	}
	return done;
}
