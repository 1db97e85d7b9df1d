/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stop of a guest: the content of a STOP block, in memory. */
#ifndef VMM_TRACE_POST_MORTEM_H
#define VMM_TRACE_POST_MORTEM_H

#include <stddef.h>

#include "trace/format.h"

/* A copy without pointers into the file, whose counts are within bounds. */
struct trace_post_mortem {
	struct trace_guest_stop stop;
	struct trace_guest_fault fault[TRACE_STOP_FAULTS]; /* the first stop.faults entries are
	                                                    * valid */
	/*
	 * Return addresses on the guest's stack, the innermost first. The first stop.calls are
	 * valid.
	 */
	uint64_t call[TRACE_STOP_CALLS];
	unsigned int vcpu; /* the vCPU that stopped the guest */
};

/* Return "exit", "triple fault" and so on; "?" for an unknown kind. */
const char *trace_stop_text(uint32_t kind);

/*
 * Take the payload of a STOP block, which is not trusted. Returns NULL, or the error in the
 * payload; *pm is then unchanged.
 */
const char *trace_post_mortem_take(struct trace_post_mortem *pm, const void *payload, size_t len);

#endif /* VMM_TRACE_POST_MORTEM_H */
