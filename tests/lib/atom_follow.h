/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compare vpt's decoder of RTIT with itself. `vpt decode` uses each outcome immediately. Decoding
 * with gathered outcomes, as libvptdecode does, must report the same instructions and events in the
 * same order. Decoding packets in pieces must do so too. Decoding with tracelets must report the
 * same events at the same counters.
 */
#ifndef TESTS_LIB_ATOM_FOLLOW_H
#define TESTS_LIB_ATOM_FOLLOW_H

#include "trace/reader.h"

struct atom_followed {
	bool differs; /* and stdout shows where */
	uint64_t insns, events, errors;
};

/*
 * Compare the ways of decoding vCPU 0 of a trace of RTIT. @list: print all items that decoding with
 * gathered outcomes reports.
 */
void atom_follow(struct trace_reader *reader, bool list, struct atom_followed *followed);

#endif /* TESTS_LIB_ATOM_FOLLOW_H */
