/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of expect.c that depend on the trace system: a second implementation of its enables,
 * filters and TraceStop, without the library. There is one file for each system.
 */
#ifndef VMM_ORACLE_EXPECT_SYSTEM_H
#define VMM_ORACLE_EXPECT_SYSTEM_H

#include "oracle/expect.h"

/* A point of execution: an instruction that begins, or is to begin. */
struct oracle_point {
	uint64_t ip;
	unsigned int cpl;
	bool pae;
	bool arrived; /* reached otherwise than by falling through, as far as the records show */
	bool stopped; /* stopped by a TraceStop, even if the records do not show how */
};

struct oracle_expect_system {
	/*
	 * Ends of a trace other than an instruction that leads out of it. ASYNC_OFF: an event, or a
	 * write that clears TriggerEn, at its IP. DISABLED: packets do not distinguish that end
	 * from an instruction, and a WRMSR that clears TriggerEn is one.
	 */
	enum oracle_step_kind off;
	/*
	 * Returns true if packets are being lost as a session starts or ends. A TraceStop may be
	 * held meanwhile, and the session continues. NULL if the system has no such state.
	 */
	bool (*is_lossy)(const struct trace_session *s);
	/* Start a session with the registers e->regs. Sets e->ranges, e->walks and e->filter. */
	void (*begin)(struct oracle_expect *e);
	/*
	 * Update e->context and e->filter for a point of execution. Returns PacketEn, and in *stop
	 * whether a TraceStop is hit.
	 */
	bool (*come_to)(struct oracle_expect *e, const struct oracle_point *p, bool *stop);
};

extern const struct oracle_expect_system oracle_expect_pt, oracle_expect_atom;

#endif /* VMM_ORACLE_EXPECT_SYSTEM_H */
