/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a guest stopped: the content of a STOP block, in memory. */
#ifndef VMM_TRACE_POST_MORTEM_H
#define VMM_TRACE_POST_MORTEM_H

#include <stddef.h>

#include "trace/format.h"

/* A copy: no pointers into the file, and counts that are within bounds. */
struct trace_post_mortem {
	struct trace_guest_stop stop;
	struct trace_guest_fault fault[TRACE_STOP_FAULTS]; /* stop.faults of them */
	/* Return addresses on the guest's stack, the innermost first: stop.calls of them. */
	uint64_t call[TRACE_STOP_CALLS];
	unsigned int vcpu; /* that stopped the guest */
};

/* "exit", "triple fault" and so on; "?" for a kind that this version does not know. */
const char *trace_stop_text(uint32_t kind);

/*
 * Take the payload of a STOP block, which is not trusted. NULL, or what is wrong with the
 * payload; *pm is then unchanged.
 */
const char *trace_post_mortem_take(struct trace_post_mortem *pm, const void *payload, size_t len);

#endif /* VMM_TRACE_POST_MORTEM_H */
