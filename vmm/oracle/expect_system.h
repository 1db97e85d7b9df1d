/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of expect.c that depend on the trace system: its enables, filters and TraceStop, stated
 * once more and without the library. There is one file for each system.
 */
#ifndef VMM_ORACLE_EXPECT_SYSTEM_H
#define VMM_ORACLE_EXPECT_SYSTEM_H

#include "oracle/expect.h"

/* Where execution stands: at an instruction that begins, or is to begin. */
struct oracle_point {
	uint64_t ip;
	unsigned int cpl;
	bool pae;
	bool arrived; /* not by falling through, as far as the records say */
	bool stopped; /* by a TraceStop, whether they say how or not */
};

struct oracle_expect_system {
	/*
	 * Ends of a trace other than an instruction that leads out of it. ASYNC_OFF: an event, or a
	 * write that clears TriggerEn, at its IP. DISABLED: packets do not distinguish that end
	 * from an instruction, and a WRMSR that clears TriggerEn is one.
	 */
	enum oracle_step_kind off;
	/*
	 * Are packets being lost as a session starts or ends? Where there is such a thing a
	 * TraceStop may be held meanwhile, and the session goes on; NULL: there is not.
	 */
	bool (*is_lossy)(const struct trace_session *s);
	/* A session starts: e->regs are its registers. Sets e->ranges, e->walks and e->filter. */
	void (*begin)(struct oracle_expect *e);
	/*
	 * Execution has come to a point: move e->context and e->filter. Returns PacketEn, and in
	 * *stop whether a TraceStop is hit.
	 */
	bool (*come_to)(struct oracle_expect *e, const struct oracle_point *p, bool *stop);
};

extern const struct oracle_expect_system oracle_expect_pt, oracle_expect_atom;

#endif /* VMM_ORACLE_EXPECT_SYSTEM_H */
