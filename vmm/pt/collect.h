/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read what the processor's own PT has written to a guest's buffer (33.2.7.1, 33.2.7.2), from the
 * previous position to the one in the registers.
 *
 * No register counts how often output has wrapped. So a copy of the bytes ahead is kept. If they
 * have changed where nothing can have been written yet, all of the buffer is new, and its previous
 * content is lost.
 */
#ifndef VMM_PT_COLLECT_H
#define VMM_PT_COLLECT_H

#include "vpt/rtit.h"
#include "x86/mem.h"

struct tracer_collect_region {
	uint64_t gpa, bytes;
	uint64_t table; /* ToPA: where its entry is */
	uint32_t index;
	bool stop, interrupt;
};

/* Where a byte goes. */
struct tracer_collect_place {
	uint64_t table;
	uint32_t index;
	uint64_t offset;
};

/* Bits of tracer_collect.state. */
enum tracer_collect_state {
	TRACER_COLLECT_TOPA = 1 << 0,
	TRACER_COLLECT_AROUND = 1 << 1, /* the first region comes after the last */
	TRACER_COLLECT_FULL = 1 << 2,	/* a region with STOP set is full */
};

struct tracer_collect {
	const struct x86_mem *mem;
	uint32_t state;			  /* enum tracer_collect_state */
	struct tracer_collect_place next; /* byte to be read */
	/* The regions from there on, in the order of output, once around. */
	struct tracer_collect_region *region;
	size_t regions, room;
	uint64_t bytes;
	uint8_t *ahead; /* the copy */
};

struct tracer_collect_sink {
	void (*bytes)(void *opaque, uint64_t gpa, const uint8_t *bytes, uint64_t len);
	void (*lost)(void *opaque);	 /* bytes before the next ones */
	void (*interrupt)(void *opaque); /* a region with INT set was filled */
	void *opaque;
};

/* A trace begins. Nothing is kept of another. */
void tracer_collect_start(struct tracer_collect *c, const struct x86_mem *mem,
			  const struct vpt_rtit *rtit);
/* Give what there is since the last call. */
void tracer_collect_read(struct tracer_collect *c, const struct vpt_rtit *rtit,
			 const struct tracer_collect_sink *sink);
/* Is this page part of the buffer? */
bool tracer_collect_has(const struct tracer_collect *c, uint64_t gpa);
void tracer_collect_end(struct tracer_collect *c);

#endif /* VMM_PT_COLLECT_H */
