// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds ToPA tables and reads their output. */
#include "topa.h"

#include "lib/mem.h"
#include "vpt/msr.h"

struct guest_topa_pos guest_topa_pos(uint64_t base, uint64_t mask_ptrs)
{
	struct guest_topa_pos pos = {
		.table = (const uint64_t *)(uintptr_t)base,
		.index = (uint32_t)mask_ptrs >> VPT_MASK_PTRS_TABLE_SHIFT,
		.offset = mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT,
	};

	return pos;
}

/* Return the current entry, behind any END that links to it. */
static uint64_t entry_at(struct guest_topa_pos *pos)
{
	uint64_t entry = pos->table[pos->index];

	if (entry & GUEST_TOPA_END) {
		pos->table = (const uint64_t *)(uintptr_t)(entry & GUEST_TOPA_ADDR);
		pos->index = 0;
		entry = pos->table[0];
	}
	return entry;
}

uint64_t guest_topa_copy(struct guest_topa_pos from, struct guest_topa_pos to, uint8_t *dst,
			 uint64_t max)
{
	uint64_t done = 0;

	entry_at(&to);
	while (done < max) {
		uint64_t entry = entry_at(&from);
		bool last = from.table == to.table && from.index == to.index &&
			    from.offset <= to.offset;
		uint64_t end = last ? to.offset : guest_topa_bytes(entry);
		uint64_t bytes = end > from.offset ? end - from.offset : 0;

		if (bytes > max - done)
			bytes = max - done;
		if (dst && bytes)
			memcpy(dst + done,
			       (const uint8_t *)(uintptr_t)(entry & GUEST_TOPA_ADDR) + from.offset,
			       bytes);
		done += bytes;
		if (last)
			break;
		from.index++;
		from.offset = 0;
	}
	return done;
}
