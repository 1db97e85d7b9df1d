/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read the bytes that the processor's own PT has written to a guest's buffer (33.2.7.1, 33.2.7.2).
 * The bytes are between the previous position and the position in the registers.
 *
 * No register counts how often output has wrapped. So a copy of the bytes ahead is kept. If they
 * have changed where nothing can have been written yet, the whole buffer is new, and its previous
 * content is lost.
 */
#ifndef VMM_PT_COLLECT_H
#define VMM_PT_COLLECT_H

#include "vpt/rtit.h"
#include "x86/mem.h"

struct tracer_collect_region {
	uint64_t gpa, bytes;
	uint64_t table; /* ToPA: the table of its entry */
	uint32_t index;
	bool stop, interrupt;
};

/* The position of an output byte. */
struct tracer_collect_place {
	uint64_t table;
	uint32_t index;
	uint64_t offset;
};

/* Bits of tracer_collect.state. */
enum tracer_collect_state {
	TRACER_COLLECT_TOPA = 1 << 0,
	TRACER_COLLECT_AROUND = 1 << 1, /* the first region follows the last region */
	TRACER_COLLECT_FULL = 1 << 2,	/* a region with STOP set is full */
};

struct tracer_collect {
	const struct x86_mem *mem;
	uint32_t state;			  /* enum tracer_collect_state */
	struct tracer_collect_place next; /* the next byte to read */
	/* The regions from `next` on, in the order of output, up to the first wrap. */
	struct tracer_collect_region *region;
	size_t regions, room;
	uint64_t bytes;
	uint8_t *ahead; /* the copy of the regions' bytes */
};

struct tracer_collect_sink {
	void (*bytes)(void *opaque, uint64_t gpa, const uint8_t *bytes, uint64_t len);
	void (*lost)(void *opaque);	 /* reports that bytes before the next ones are lost */
	void (*interrupt)(void *opaque); /* reports that a region with INT set was filled */
	void *opaque;
};

/* Start a trace. Nothing of a previous trace is kept. */
void tracer_collect_start(struct tracer_collect *c, const struct x86_mem *mem,
			  const struct vpt_rtit *rtit);
/* Pass the bytes since the last call to @sink. */
void tracer_collect_read(struct tracer_collect *c, const struct vpt_rtit *rtit,
			 const struct tracer_collect_sink *sink);
/* Returns true if this page is part of the buffer. */
bool tracer_collect_has(const struct tracer_collect *c, uint64_t gpa);
void tracer_collect_end(struct tracer_collect *c);

#endif /* VMM_PT_COLLECT_H */
