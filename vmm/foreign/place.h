/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of a stream at which something changes without a packet: the running process, or the code.
 * The side-band has the time of each change, and timing packets have the time of packets.
 */
#ifndef VMM_FOREIGN_PLACE_H
#define VMM_FOREIGN_PLACE_H

#include "foreign/foreign.h"
#include "foreign/joined.h"
#include "trace/pairs.h"

struct foreign_change {
	uint64_t time;
	size_t mm;     /* the address space from here on; FOREIGN_NONE: unchanged */
	size_t offset; /* set by foreign_place(); FOREIGN_NONE: behind the end */
};

struct foreign_changes {
	struct foreign_change *at;
	size_t n, room;
};

/* The packets from a PIP up to the next one. */
struct foreign_visit {
	size_t offset; /* offset of the PIP */
	uint64_t cr3;
	size_t mm; /* process with most packets whose target is in user space; FOREIGN_NONE: no
	            * such packet */
	uint32_t weight;
};

struct foreign_visits {
	struct foreign_visit *at;
	size_t n, room;
};

struct foreign_place {
	const struct foreign_trace *trace;
	const struct foreign_joined *joined;
	struct foreign_changes *changes; /* sorted by time */
	/*
	 * Output. @votes maps (CR3, address space) to the number of packets with a target in user
	 * space under both. @pips maps (CR3, NR) to 1 for each PIP.
	 */
	struct trace_pairs *votes, *pips;
	struct foreign_visits *visits; /* visits of PIPs with NR=0 */
};

/* Set the offset of each change. Returns 0 or -ENOMEM. */
int foreign_place(const struct foreign_place *p);

#endif /* VMM_FOREIGN_PLACE_H */
