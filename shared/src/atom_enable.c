// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The enables of Atom's RTIT (2.1, 2.4, 3.3.5), and what an operation that moves them sends. */
#include "atom_gen.h"

static bool trace_en(const struct vpt_atom *a)
{
	return VPT_ATOM_GET(CTL, TRACE_EN, a->regs.ctl);
}

/* Can FilterEn move without a branch, or TraceStop come, out of nothing but IPs? [ATOM-FILTER-ID] */
static bool ip_matters(const struct vpt_atom *a)
{
	switch (VPT_ATOM_GET(EVENTS, FILTER, a->regs.events)) {
	case VPT_ATOM_ID_NEVER:
		if (a->filter_en)
			return true;
		break;
	case VPT_ATOM_ID_ALWAYS:
		if (!a->filter_en)
			return true;
		break;
	default:
		return true;
	}
	return VPT_ATOM_GET(EVENTS, STOP, a->regs.events) <= VPT_ATOM_ID_EITHER;
}

/* [ATOM-PCC-WHEN ATOM-CYC-COUNTS] CNTP counts in more cases with LESS_PKTS, not in fewer. */
bool vpt_atom_counts(const struct vpt_atom *a)
{
	return a->trigger_en && a->context_en &&
	       (a->filter_en || VPT_ATOM_GET(CTL, LESS_PKTS, a->regs.ctl));
}

/* Whether time is asked for at each event. */
static bool needs_time(const struct vpt_atom *a)
{
	const uint32_t clocks =
		(uint32_t)(VPT_ATOM_MASK(CTL, CYCLE_ACC) | VPT_ATOM_MASK(CTL, MTC_EN));

	return a->trigger_en && (a->regs.ctl & clocks || a->options.buffer_bytes || a->time.asleep);
}

void vpt_atom_update(struct vpt_atom *a)
{
	const uint32_t live =
		(uint32_t)(VPT_ATOM_MASK(STATUS, FILTER_EN) | VPT_ATOM_MASK(STATUS, CONTEXT_EN) |
			   VPT_ATOM_MASK(STATUS, TRIGGER_EN));

	if (vpt_atom_counts(a) != a->time.counting)
		vpt_atom_set_counting(a, !a->time.counting);
	/* [ATOM-PACKETEN] */
	a->packet_en = a->trigger_en && a->context_en && a->filter_en;
	a->watches = trace_en(a);
	/* [ATOM-OVF-CLEAR] An overflow is over at the next instruction, whatever that does. */
	a->each_insn = a->watches && a->context_en &&
		       (ip_matters(a) || (a->trigger_en && vpt_atom_overflow(a)));
	a->slow = needs_time(a);
	a->fast = a->packet_en && !a->each_insn && !a->slow && !vpt_atom_overflow(a);
	a->regs.status &= ~live;
	a->regs.status |= (uint32_t)a->filter_en << VPT_ATOM_STATUS_FILTER_EN_SHIFT |
			  (uint32_t)a->context_en << VPT_ATOM_STATUS_CONTEXT_EN_SHIFT |
			  (uint32_t)a->trigger_en << VPT_ATOM_STATUS_TRIGGER_EN_SHIFT;
}

/* [ATOM-CONTEXT-CPL ATOM-CONTEXT-CR3 ATOM-CONTEXT-SMM ATOM-CONTEXT-ROOT] What waits for SIPI
 * executes nothing. */
bool vpt_atom_in_context(const struct vpt_atom *a, const struct vpt_context *ctx)
{
	const uint32_t ctl = a->regs.ctl;

	if (a->in_smm || a->in_root || ctx->wait_for_sipi)
		return false;
	if (!(ctx->cpl ? VPT_ATOM_GET(CTL, USER, ctl) : VPT_ATOM_GET(CTL, OS, ctl)))
		return false;
	return !VPT_ATOM_GET(CTL, CR3_EN, ctl) ||
	       !((ctx->cr3 ^ a->regs.cr3_match) & VPT_MASK64(35, 5));
}

void vpt_atom_enter(struct vpt_atom *a, const struct vpt_context *ctx)
{
	const bool wide = ctx->cs_l && ctx->lma;

	a->ip_base = wide ? 0 : ctx->cs_base;
	a->ip_mask = wide ? VPT_MASK64(47, 0) : VPT_MASK64(31, 0);
	a->context_en = vpt_atom_in_context(a, ctx);
}

/* [ATOM-FILTER-ID] */
static bool uses(uint64_t id, unsigned int range)
{
	return id == range || id == VPT_ATOM_ID_EITHER;
}

/* [ATOM-FILTER-LIMIT ATOM-RESERVED-ID] */
static bool is_inside(const struct vpt_atom *a, uint64_t id, uint64_t lip)
{
	unsigned int n;

	for (n = 0; n < VPT_ATOM_RANGES; n++)
		if (uses(id, n) && lip >= a->regs.lip[n] && lip < a->regs.lip[n + VPT_ATOM_RANGES])
			return true;
	return false;
}

/* Does `lip` equal a LIPn of a range that the ID stands for; `first`: which of LIP0, LIP2? */
static bool is_bound(const struct vpt_atom *a, uint64_t id, unsigned int first, uint64_t lip)
{
	unsigned int n;

	for (n = 0; n < VPT_ATOM_RANGES; n++)
		if (uses(id, n) && lip == a->regs.lip[first + n])
			return true;
	return false;
}

/* [ATOM-FILTER-ID ATOM-FILTER-BRANCH ATOM-FILTER-WALK] */
static bool filter_at(const struct vpt_atom *a, enum vpt_atom_way way, uint64_t lip)
{
	const uint64_t id = VPT_ATOM_GET(EVENTS, FILTER, a->regs.events);

	if (id == VPT_ATOM_ID_NEVER || id == VPT_ATOM_ID_ALWAYS)
		return id == VPT_ATOM_ID_ALWAYS;
	if (way == VPT_ATOM_ARRIVE)
		return is_inside(a, id, lip);
	if (is_bound(a, id, 0, lip))
		return true;
	return a->filter_en && !is_bound(a, id, VPT_ATOM_RANGES, lip);
}

/* [ATOM-STOP-WHEN] */
static bool stops_at(const struct vpt_atom *a, enum vpt_atom_way way, uint64_t lip)
{
	const uint64_t id = VPT_ATOM_GET(EVENTS, STOP, a->regs.events);

	if (!a->trigger_en)
		return false;
	if (id == VPT_ATOM_ID_ALWAYS)
		return true;
	return way == VPT_ATOM_ARRIVE ? is_inside(a, id, lip) : is_bound(a, id, 0, lip);
}

/* [ATOM-FILTER-FROZEN ATOM-OVF-ENABLES] An overflow freezes nothing. */
bool vpt_atom_reach(struct vpt_atom *a, enum vpt_atom_way way, uint64_t lip)
{
	bool stop = false;

	if (a->context_en && trace_en(a)) {
		a->filter_en = filter_at(a, way, lip);
		stop = stops_at(a, way, lip);
	}
	vpt_atom_update(a);
	return stop;
}

/* [ATOM-E2] PacketEn is clear before and after. */
static bool sends_extra_pgd(const struct vpt_atom *a, const struct vpt_atom_before *before,
			    bool stop)
{
	const bool rose =
		(a->context_en && !before->context_en) || (a->trigger_en && !before->trigger_en);

	return vpt_atom_erratum(a, VPT_ATOM_E2) && a->trigger_en && rose &&
	       (stop || (before->filter_en && !a->filter_en));
}

/* [ATOM-PGE-IP ATOM-PGD-IP ATOM-WHEN-PGE ATOM-WHEN-PGD ATOM-STOP] */
void vpt_atom_cross(struct vpt_atom *a, const struct vpt_atom_before *before, bool stop,
		    uint64_t left, uint64_t to)
{
	if (before->packet_en) {
		if (!a->packet_en && a->trigger_en)
			vpt_atom_put_lip(a, VPT_ATOM_PKT_PGD, left);
	} else if (a->packet_en && !stop) {
		vpt_atom_put_lip(a, VPT_ATOM_PKT_PGE, to);
	} else if (sends_extra_pgd(a, before, stop)) {
		vpt_atom_put_lip(a, VPT_ATOM_PKT_PGD, left);
	}
	if (stop)
		vpt_atom_trace_stop(a);
}
