// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses to data that a debugger watches. Their pages stay out of the first-level TLB, so that
 * each access to them takes the slow path (mmu.c). The guest does not observe this: the second-level
 * TLB is as before.
 */
#include "soft/access.h"
#include "soft/system.h"
#include "soft/tlb.h"

uint32_t soft_data_watched(const struct soft *c, uint64_t va, uint64_t len)
{
	const uint64_t last = va + (len - 1);
	uint32_t access = 0;
	unsigned int i;

	for (i = 0; i < c->data_watches; i++) {
		const struct engine_data_watch *w = &c->data[i];

		if (w->lin + (w->len - 1) >= va && w->lin <= last)
			access |= w->access;
	}
	return access;
}

/* The instruction gets a block of its own, so that run() ends right after it. */
void soft_data_check(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len, bool write)
{
	const uint32_t hit = engine_data_find(c->data, c->data_watches, va, len,
					      write ? ENGINE_DATA_WRITE : ENGINE_DATA_READ);

	if (!hit)
		return;
	soft_isolate(c, u);
	c->base.data_hit = hit;
	c->base.state |= ENGINE_ATTENTION;
	soft_note_attention(c);
}

void soft_watch_data(struct engine_vcpu *ev, const struct engine_data_watch *watches, size_t count)
{
	struct soft *c = soft(ev);

	if (count > ENGINE_DATA_WATCHES)
		count = ENGINE_DATA_WATCHES;
	if (count)
		memcpy(c->data, watches, count * sizeof(*watches));
	c->data_watches = (unsigned int)count;
	c->base.data_hit = 0;
	soft_flush_first(c);
}
