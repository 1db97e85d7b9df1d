/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address spaces and the areas of code that the packets of a trace name. */
#ifndef VMM_PT_SEEN_H
#define VMM_PT_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "vpt/packet.h"

#define TRACER_SEEN_CR3S   64
#define TRACER_SEEN_AREAS  256
#define TRACER_SEEN_PLACES 64
/* The size of an area is that of a large page. */
#define TRACER_SEEN_SHIFT 21

struct tracer_seen {
	struct vpt_parser parser;
	enum tracer_seen_state { TRACER_SEEN_LOST, TRACER_SEEN_SYNCED } state; /* of the parser */
	uint8_t rest[2 * VPT_PKT_MAX]; /* the bytes of an incomplete packet */
	size_t rests;
	uint64_t ip; /* the last IP */
	/* The CR3s of PIPs since the caller last set @spaces to 0. Others than the first are left out. */
	uint64_t cr3[TRACER_SEEN_CR3S];
	size_t spaces;
	uint64_t space; /* the CR3 of the last PIP, or 0 */
	/* Pages of ring 3 with an IP since the caller last set @places to 0. Others are left out. */
	struct tracer_seen_place {
		uint64_t cr3, vaddr;
	} place[TRACER_SEEN_PLACES];
	size_t places;
	/* The areas with an IP, and the one that was found last. With too many, all are near. */
	uint64_t area[TRACER_SEEN_AREAS];
	size_t areas, last;
};

/* Parse the next bytes of the trace. */
void tracer_seen_feed(struct tracer_seen *seen, const uint8_t *bytes, size_t len);
/* Report that the next bytes do not follow the last ones. Parsing continues at a PSB. */
void tracer_seen_lost(struct tracer_seen *seen);
/* Returns true if there was an IP in the area of this address. */
bool tracer_seen_near(const struct tracer_seen *seen, uint64_t vaddr);

#endif /* VMM_PT_SEEN_H */
