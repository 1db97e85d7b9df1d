/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ToPA tables (33.2.7.2, table 33-3). */
#ifndef GUEST_PT_TOPA_H
#define GUEST_PT_TOPA_H

#include "vpt/base.h"

enum guest_topa_flags {
	GUEST_TOPA_END = 1 << 0,
	GUEST_TOPA_INT = 1 << 2,
	GUEST_TOPA_STOP = 1 << 4,
};

#define GUEST_TOPA_SIZE_SHIFT 6
#define GUEST_TOPA_REGION_MIN 4096ull
#define GUEST_TOPA_ADDR	      VPT_MASK64(51, 12)

/* An output region; `bytes` is a power of two from 4 KiB to 128 MiB. */
static inline uint64_t guest_topa_region(const void *base, uint64_t bytes, unsigned int flags)
{
	uint64_t size = (uint64_t)__builtin_ctzll(bytes / GUEST_TOPA_REGION_MIN);

	return (uintptr_t)base | size << GUEST_TOPA_SIZE_SHIFT | flags;
}

/* Return the entry that links to a table. */
static inline uint64_t guest_topa_end(const uint64_t *table)
{
	return (uintptr_t)table | GUEST_TOPA_END;
}

static inline uint64_t guest_topa_bytes(uint64_t entry)
{
	return GUEST_TOPA_REGION_MIN << (entry >> GUEST_TOPA_SIZE_SHIFT & 0xf);
}

/* A place in a chain of tables. */
struct guest_topa_pos {
	const uint64_t *table;
	uint64_t index;
	uint64_t offset;
};

/* Convert OUTPUT_BASE and OUTPUT_MASK_PTRS to a position. */
struct guest_topa_pos guest_topa_pos(uint64_t base, uint64_t mask_ptrs);

/*
 * Copy the bytes between two positions, in output order, to `dst` (NULL: only count). Returns the
 * number of bytes, at most `max`. Whole laps are not counted.
 */
uint64_t guest_topa_copy(struct guest_topa_pos from, struct guest_topa_pos to, uint8_t *dst,
			 uint64_t max);

#endif /* GUEST_PT_TOPA_H */
