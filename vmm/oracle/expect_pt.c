// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes Intel PT's enables (33.2.5, 33.2.6). */
#include "oracle/expect_system.h"

/* Bits of CTL (33.2.8.2), independent of the library's. */
#define CTL_OS		(1ull << 2)
#define CTL_USER	(1ull << 3)
#define CTL_CR3FILTER	(1ull << 7)
#define CTL_BRANCHEN	(1ull << 13)
#define CTL_ADDR_CFG(n) (32 + 4 * (n))

#define RANGE_FILTER 1
#define RANGE_STOP   2

static bool in_range(const struct trace_session *s, unsigned int cfg, uint64_t ip)
{
	unsigned int n;

	/* Both ends belong to a range (33.2.5.3). */
	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if ((s->ctl >> CTL_ADDR_CFG(n) & 15) == cfg && ip >= s->addr[2 * n] &&
		    ip <= s->addr[2 * n + 1])
			return true;
	}
	return false;
}

static bool has_range(const struct trace_session *s, unsigned int cfg)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if ((s->ctl >> CTL_ADDR_CFG(n) & 15) == cfg)
			return true;
	}
	return false;
}

/*
 * Compute ContextEn (33.2.6.3). CR3 is compared by bits 63:12, or 63:5 with PAE paging (33.2.5.2).
 */
static bool in_context(const struct oracle_expect *e, const struct oracle_point *p)
{
	const struct trace_session *s = e->regs;
	unsigned int low = p->pae ? 5 : 12;

	if (!(s->ctl & (p->cpl ? CTL_USER : CTL_OS)))
		return false;
	return !(s->ctl & CTL_CR3FILTER) || e->hw_cr3 >> low == s->cr3_match >> low;
}

static void begin(struct oracle_expect *e)
{
	e->ranges = has_range(e->regs, RANGE_FILTER) || has_range(e->regs, RANGE_STOP);
	e->filter = false;
}

/*
 * FilterEn changes only with a taken branch or event, or when ContextEn rises (33.2.5.3, 33.2.6.5).
 * TraceStop applies to these, and also to MOV CR3 and to the WRMSR that sets TraceEn (33.4.2.9). It
 * applies only in context.
 */
static bool reach(struct oracle_expect *e, const struct oracle_point *p, bool *stop)
{
	bool context = in_context(e, p);
	bool rises = context && !e->context;
	bool arrived = e->first || e->after_event || p->arrived;

	/* Only a branch or MOV CR3 can have caused the stop. */
	arrived = arrived || (p->stopped && !e->after_cr3);

	*stop = false;
	if (context && (arrived || rises || e->after_cr3))
		*stop = in_range(e->regs, RANGE_STOP, p->ip);
	if (context && (arrived || rises))
		e->filter =
			!has_range(e->regs, RANGE_FILTER) || in_range(e->regs, RANGE_FILTER, p->ip);
	e->context = context;
	return context && e->filter && !*stop && (e->regs->ctl & CTL_BRANCHEN);
}

const struct oracle_expect_system oracle_expect_pt = {
	.off = ORACLE_STEP_ASYNC_OFF,
	.begin = begin,
	.come_to = reach,
};
