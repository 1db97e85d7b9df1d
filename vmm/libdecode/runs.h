/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Count how often blocks ran, by their ids. */
#ifndef VMM_LIBDECODE_RUNS_H
#define VMM_LIBDECODE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero when empty. */
struct dec_runs {
	uint64_t *at;
	size_t room;
	bool lost; /* a run was not counted, because there was no memory */
};

/* Make room for a block. Returns false, and sets `lost`, if there is no memory. */
bool dec_runs_grow(struct dec_runs *runs, uint32_t id);

/* Add @count to a block. Sets `lost` if there is no memory. */
static inline void dec_runs_add(struct dec_runs *runs, uint32_t id, uint64_t count)
{
	if (id < runs->room || dec_runs_grow(runs, id))
		runs->at[id] += count;
}

static inline uint64_t dec_runs_of(const struct dec_runs *runs, uint32_t id)
{
	return id < runs->room ? runs->at[id] : 0;
}

void dec_runs_free(struct dec_runs *runs);

#endif /* VMM_LIBDECODE_RUNS_H */
