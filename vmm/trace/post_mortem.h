/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a guest stopped: the content of a STOP block, in memory. */
#ifndef VMM_TRACE_POST_MORTEM_H
#define VMM_TRACE_POST_MORTEM_H

#include <stddef.h>

#include "format.h"

/* A copy: no pointers into the file, and counts that are within bounds. */
struct vpt_post_mortem {
	struct vpt_guest_stop stop;
	struct vpt_guest_fault fault[VPT_STOP_FAULTS]; /* stop.faults of them */
	/* Return addresses on the guest's stack, the innermost first: stop.calls of them. */
	uint64_t call[VPT_STOP_CALLS];
	unsigned int vcpu; /* that stopped the guest */
};

/* "exit", "triple fault" and so on; "?" for a kind that this version does not know. */
const char *vpt_stop_text(uint32_t kind);

/*
 * Take the payload of a STOP block, which is not trusted. NULL, or what is wrong with the
 * payload; *pm is then unchanged.
 */
const char *vpt_post_mortem_take(struct vpt_post_mortem *pm, const void *payload, size_t len);

#endif /* VMM_TRACE_POST_MORTEM_H */
