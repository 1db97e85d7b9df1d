/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of expect.c that depend on the trace system: its enables, filters and TraceStop, stated
 * once more and without the library. There is one file for each system.
 */
#ifndef VMM_ORACLE_EXPECT_SYSTEM_H
#define VMM_ORACLE_EXPECT_SYSTEM_H

#include "expect.h"

/* Where execution stands: at an instruction that begins, or is to begin. */
struct vpt_point {
	uint64_t ip;
	unsigned int cpl;
	bool pae;
	bool arrived; /* not by falling through, as far as the records say */
	bool stopped; /* by a TraceStop, whether they say how or not */
};

struct vpt_expect_system {
	/*
	 * Ends of a trace other than an instruction that leads out of it. ASYNC_OFF: an event, or a
	 * write that clears TriggerEn, at its IP. DISABLED: packets do not distinguish that end
	 * from an instruction, and a WRMSR that clears TriggerEn is one.
	 */
	enum vpt_step_kind off;
	/*
	 * Are packets being lost as a session starts or ends? Where there is such a thing a
	 * TraceStop may be held meanwhile, and the session goes on; NULL: there is not.
	 */
	bool (*is_lossy)(const struct vpt_session *s);
	/* A session starts: e->regs are its registers. Sets e->ranges, e->walks and e->filter. */
	void (*begin)(struct vpt_expect *e);
	/*
	 * Execution has come to a point: move e->context and e->filter. Returns PacketEn, and in
	 * *stop whether a TraceStop is hit.
	 */
	bool (*come_to)(struct vpt_expect *e, const struct vpt_point *p, bool *stop);
};

extern const struct vpt_expect_system vpt_expect_pt, vpt_expect_rtit;

#endif /* VMM_ORACLE_EXPECT_SYSTEM_H */
