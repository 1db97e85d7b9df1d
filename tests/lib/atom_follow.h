/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hold vpt's decoder of RTIT against itself. vpt decode uses outcomes as they come. Where they are
 * gathered, as the library libvptdecode has it, there are the same instructions and events in the
 * same order; with the packets in pieces as well; and with tracelets the same events at the same
 * counters.
 */
#ifndef TESTS_LIB_ATOM_FOLLOW_H
#define TESTS_LIB_ATOM_FOLLOW_H

#include "trace/reader.h"

struct atom_followed {
	bool differs; /* and stdout shows where */
	uint64_t insns, events, errors;
};

/* Compare vCPU 0 of a trace of RTIT. @list: show all that gathered outcomes make. */
void atom_follow(struct trace_reader *reader, bool list, struct atom_followed *followed);

#endif /* TESTS_LIB_ATOM_FOLLOW_H */
