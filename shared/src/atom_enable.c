// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The enables of the Atom trace unit (2.1, 2.4, 3.3.5). Nothing here sends a packet. */
#include "atom_gen.h"

static bool trace_en(const struct vpt_atom *a)
{
	return VPT_ATOM_GET(CTL, TRACE_EN, a->regs.ctl);
}

/* Returns true if an IP alone can change FilterEn or cause TraceStop. [ATOM-FILTER-ID] */
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

/* [ATOM-PCC-WHEN ATOM-CYC-COUNTS] LESS_PKTS adds cases in which CNTP counts. */
bool vpti_atom_counts(const struct vpt_atom *a)
{
	return a->trigger_en && a->context_en &&
	       (a->filter_en || VPT_ATOM_GET(CTL, LESS_PKTS, a->regs.ctl));
}

/* Returns true if each event needs the time. */
static bool needs_time(const struct vpt_atom *a)
{
	const uint32_t clocks =
		(uint32_t)(VPT_ATOM_MASK(CTL, CYCLE_ACC) | VPT_ATOM_MASK(CTL, MTC_EN));

	return a->trigger_en && (a->regs.ctl & clocks || a->options.buffer_bytes || a->time.asleep);
}

void vpti_atom_update(struct vpt_atom *a)
{
	const uint32_t live =
		(uint32_t)(VPT_ATOM_MASK(STATUS, FILTER_EN) | VPT_ATOM_MASK(STATUS, CONTEXT_EN) |
			   VPT_ATOM_MASK(STATUS, TRIGGER_EN));

	if (vpti_atom_counts(a) != a->time.counting)
		vpti_atom_set_counting(a, !a->time.counting);
	/* [ATOM-PACKETEN] */
	a->packet_en = a->trigger_en && a->context_en && a->filter_en;
	a->watches = trace_en(a);
	/* [ATOM-OVF-CLEAR] An overflow ends at the next instruction of any kind. */
	a->each_insn = a->watches && a->context_en &&
		       (ip_matters(a) || (a->trigger_en && vpti_atom_overflow(a)));
	a->slow = needs_time(a);
	a->fast = a->packet_en && !a->each_insn && !a->slow && !vpti_atom_overflow(a);
	a->gate.state = (a->watches ? VPT_GATE_ARMED : 0) |
			(a->trigger_en ? VPT_GATE_TRIGGER_EN : 0) |
			(a->packet_en ? VPT_GATE_PACKET_EN : 0) |
			(a->each_insn ? VPT_GATE_EACH_INSN : 0) | VPT_GATE_MAY_LOSE;
	a->regs.status &= ~live;
	a->regs.status |= (uint32_t)a->filter_en << VPT_ATOM_STATUS_FILTER_EN_SHIFT |
			  (uint32_t)a->context_en << VPT_ATOM_STATUS_CONTEXT_EN_SHIFT |
			  (uint32_t)a->trigger_en << VPT_ATOM_STATUS_TRIGGER_EN_SHIFT;
}

/* [ATOM-CONTEXT-CPL ATOM-CONTEXT-CR3 ATOM-CONTEXT-SMM ATOM-CONTEXT-ROOT] A core that waits for
 * SIPI executes nothing. */
bool vpti_atom_in_context(const struct vpt_atom *a, const struct vpt_context *ctx)
{
	const uint32_t ctl = a->regs.ctl;

	if (a->in_smm || a->in_root || ctx->wait_for_sipi)
		return false;
	if (!(ctx->cpl ? VPT_ATOM_GET(CTL, USER, ctl) : VPT_ATOM_GET(CTL, OS, ctl)))
		return false;
	return !VPT_ATOM_GET(CTL, CR3_EN, ctl) ||
	       !((ctx->cr3 ^ a->regs.cr3_match) & VPT_MASK64(35, 5));
}

void vpti_atom_enter(struct vpt_atom *a, const struct vpt_context *ctx)
{
	const bool wide = ctx->cs_l && ctx->lma;

	a->ip_base = wide ? 0 : ctx->cs_base;
	a->ip_mask = wide ? VPT_MASK64(47, 0) : VPT_MASK64(31, 0);
	a->context_en = vpti_atom_in_context(a, ctx);
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

/* Returns true if `lip` is a bound of a range that `id` selects. `first` is 0 for the bases in
 * LIP0 and LIP1, and VPT_ATOM_RANGES for the limits in LIP2 and LIP3. */
static bool is_bound(const struct vpt_atom *a, uint64_t id, unsigned int first, uint64_t lip)
{
	unsigned int n;

	for (n = 0; n < VPT_ATOM_RANGES; n++)
		if (uses(id, n) && lip == a->regs.lip[first + n])
			return true;
	return false;
}

/* [ATOM-FILTER-ID ATOM-FILTER-BRANCH ATOM-FILTER-WALK] */
static bool filter_at(const struct vpt_atom *a, enum vpti_atom_way way, uint64_t lip)
{
	const uint64_t id = VPT_ATOM_GET(EVENTS, FILTER, a->regs.events);

	if (id == VPT_ATOM_ID_NEVER || id == VPT_ATOM_ID_ALWAYS)
		return id == VPT_ATOM_ID_ALWAYS;
	if (way == VPTI_ATOM_ARRIVE)
		return is_inside(a, id, lip);
	if (is_bound(a, id, 0, lip))
		return true;
	return a->filter_en && !is_bound(a, id, VPT_ATOM_RANGES, lip);
}

/* [ATOM-STOP-WHEN] */
static bool stops_at(const struct vpt_atom *a, enum vpti_atom_way way, uint64_t lip)
{
	const uint64_t id = VPT_ATOM_GET(EVENTS, STOP, a->regs.events);

	if (!a->trigger_en)
		return false;
	if (id == VPT_ATOM_ID_ALWAYS)
		return true;
	return way == VPTI_ATOM_ARRIVE ? is_inside(a, id, lip) : is_bound(a, id, 0, lip);
}

/* [ATOM-FILTER-FROZEN ATOM-OVF-ENABLES] The enables change during an overflow too. */
bool vpti_atom_reach(struct vpt_atom *a, enum vpti_atom_way way, uint64_t lip)
{
	bool stop = false;

	if (a->context_en && trace_en(a)) {
		a->filter_en = filter_at(a, way, lip);
		stop = stops_at(a, way, lip);
	}
	vpti_atom_update(a);
	return stop;
}
