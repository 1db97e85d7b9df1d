/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hold vmm/libdecode's front end for RTIT, which gathers outcomes here, against the flow of vpt
 * decode, where it does not: the same instructions and events in the same order. With tracelets, and
 * with the packets in pieces, it makes the same events at the same counters.
 */
#ifndef TESTS_LIB_RTIT_FOLLOW_H
#define TESTS_LIB_RTIT_FOLLOW_H

#include "trace/reader.h"

struct rtit_followed {
	bool differs; /* and stdout shows where */
	uint64_t insns, events, errors;
};

/* Compare vCPU 0 of a trace of RTIT. @list: show all that both make. */
void rtit_follow(struct vpt_reader *reader, bool list, struct rtit_followed *followed);

#endif /* TESTS_LIB_RTIT_FOLLOW_H */
