/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow in a trace as a guest reads it, for either trace system: elements with whole IPs, and
 * branch outcomes one at a time.
 */
#ifndef GUEST_LIB_FLOW_H
#define GUEST_LIB_FLOW_H

#include "vpt/base.h"

struct guest_flow {
	unsigned int kind; /* kind of packet of the system */
	uint64_t value;	   /* IP, GUEST_FLOW_NO_IP; for an outcome: taken; for other kinds as
	               	    * documented there */
};

#define GUEST_FLOW_NO_IP (~(uint64_t)0)
/* In an expectation: any value. */
#define GUEST_FLOW_ANY (~(uint64_t)0 - 1)

/* Keeps at most `max` elements; `count` includes all. */
struct guest_flow_list {
	struct guest_flow *flow;
	size_t count, max;
};

void guest_flow_add(struct guest_flow_list *list, unsigned int kind, uint64_t value);

/* Compare two flows. Prints one report line, and any difference, with kinds named by `name`. */
bool guest_flow_same(const struct guest_flow_list *got, const struct guest_flow *want, size_t count,
		     const char *(*name)(unsigned int kind), const char *what);

#endif /* GUEST_LIB_FLOW_H */
