// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the enables of Atom's RTIT ("RTIT Programming Reference" v1.05, 2.1, 2.4, 3.3.5,
 * 4.2.11).
 */
#include "oracle/expect_system.h"

/* Bits of RTIT_CTL (table 4) and RTIT_STATUS (3.3.3), independent of the library's. */
#define CTL_OS		(1u << 2)
#define CTL_USER	(1u << 3)
#define CTL_CR3EN	(1u << 7)
#define STATUS_FILTER	(1u << 0)
#define STATUS_OVERFLOW (1u << 3)

/* A LIP has 48 bits (table 8). Bits 35:5 of CR3 are compared (table 10). */
#define LIP_MASK 0xffffffffffffull
#define CR3_MASK 0xfffffffe0ull

/* Event IDs (table 7); other values match nothing. */
enum { RANGE0, RANGE1, EITHER, NEVER = 6, ALWAYS = 7 };

/* The position of LIP0 to LIP3 and EVENTS in a SESSION block: trace/atom_session.h. */
static unsigned int filter_id(const struct trace_session *s)
{
	return s->addr[4] & 7;
}

static unsigned int stop_id(const struct trace_session *s)
{
	return s->addr[4] >> 3 & 7;
}

static bool uses(unsigned int id, unsigned int range)
{
	return id == range || id == EITHER;
}

/* The position of a LIP relative to a range. The limit is outside (2.4.3). */
enum place { NOWHERE, AT_LIMIT, INSIDE, AT_BASE };

static enum place place_of(const struct trace_session *s, unsigned int range, uint64_t lip)
{
	uint64_t base = s->addr[range] & LIP_MASK, limit = s->addr[range + 2] & LIP_MASK;

	if (lip == base)
		return AT_BASE;
	if (lip == limit)
		return AT_LIMIT;
	return lip > base && lip < limit ? INSIDE : NOWHERE;
}

/*
 * Returns true if the LIP is inside the ranges of an ID when a branch leads there (3.3.5). An empty
 * range has no inside.
 */
static bool is_inside(const struct trace_session *s, unsigned int id, uint64_t lip)
{
	unsigned int n;

	for (n = RANGE0; n <= RANGE1; n++) {
		if (uses(id, n) && place_of(s, n, lip) >= INSIDE &&
		    (s->addr[n] & LIP_MASK) < (s->addr[n + 2] & LIP_MASK))
			return true;
	}
	return false;
}

/* Sequential execution enters at the base of a range, and leaves it at the limit. */
static bool walks_onto(const struct trace_session *s, unsigned int id, uint64_t lip,
		       enum place place)
{
	return (uses(id, RANGE0) && place_of(s, RANGE0, lip) == place) ||
	       (uses(id, RANGE1) && place_of(s, RANGE1, lip) == place);
}

/* See 2.1.2. The records and spaces show VMX root operation. */
static bool in_context(const struct oracle_expect *e, const struct oracle_point *p)
{
	const struct trace_session *s = e->regs;

	if (e->root || !(s->ctl & (p->cpl ? CTL_USER : CTL_OS)))
		return false;
	return !(s->ctl & CTL_CR3EN) || (e->hw_cr3 & CR3_MASK) == (s->cr3_match & CR3_MASK);
}

/*
 * Returns true if the WRMSR between two sessions wrote FilterEn, which then holds. If STATUS was
 * written with the same FilterEn, the WRMSR is an ordinary instruction.
 */
static bool wrote_filter(const struct trace_period *before, const struct trace_session *now)
{
	return before->end && ((before->end->status ^ now->status) & STATUS_FILTER);
}

static bool is_lossy(const struct trace_session *s)
{
	return s->status & STATUS_OVERFLOW;
}

/* FilterEn is frozen out of context (2.1.3). It starts with the value in the registers (3.3.3). */
static void begin(struct oracle_expect *e)
{
	e->walks = filter_id(e->regs) <= EITHER || stop_id(e->regs) <= EITHER;
	e->ranges = e->walks || filter_id(e->regs) < NEVER;
	e->filter = e->regs->status & STATUS_FILTER;
	e->stands = e->changed && wrote_filter(&e->periods[e->session - 1], e->regs);
}

static void move_filter(struct oracle_expect *e, bool arrived, uint64_t lip)
{
	unsigned int id = filter_id(e->regs);

	if (id >= NEVER)
		e->filter = id == ALWAYS;
	else if (arrived)
		e->filter = is_inside(e->regs, id, lip);
	else if (walks_onto(e->regs, id, lip, AT_BASE))
		e->filter = true;
	else if (walks_onto(e->regs, id, lip, AT_LIMIT))
		e->filter = false;
}

/*
 * Returns true if a TraceStop is hit. TraceStop uses the ranges of FilterEn, with another ID
 * (4.2.11).
 */
static bool stops(const struct oracle_expect *e, bool arrived, uint64_t lip)
{
	unsigned int id = stop_id(e->regs);

	if (id == ALWAYS)
		return true;
	return arrived ? is_inside(e->regs, id, lip) : walks_onto(e->regs, id, lip, AT_BASE);
}

/* The WRMSR that starts a session is not a branch, even if a host's trace starts there. */
static bool reach(struct oracle_expect *e, const struct oracle_point *p, bool *stop)
{
	bool arrived = e->after_event || (p->arrived && !e->first);
	uint64_t lip = p->ip & LIP_MASK;

	/* If sequential execution did not enter the range that stopped the trace, a branch did. */
	arrived = arrived || (p->stopped && !stops(e, false, lip));
	*stop = false;
	e->context = in_context(e, p);
	e->stands = e->stands && e->first;
	if (e->context && !e->stands)
		move_filter(e, arrived, lip);
	if (e->context)
		*stop = stops(e, arrived, lip);
	return e->context && e->filter;
}

const struct oracle_expect_system oracle_expect_atom = {
	.off = ORACLE_STEP_DISABLED,
	.is_lossy = is_lossy,
	.begin = begin,
	.come_to = reach,
};
