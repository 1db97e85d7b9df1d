// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets of the Atom trace unit for each event, and their order (2.2, 4.3). */
#include "atom_gen.h"

/* [ATOM-CALL-NLIP] */
static void note_call(struct vpt_atom *a, uint64_t next)
{
	if (VPT_ATOM_GET(CTL, CMPRS_RET, a->regs.ctl) && !vpti_atom_overflow(a))
		a->regs.last_call_nlip =
			VPT_ATOM_MASK(LAST_CALL_NLIP, VALID) | vpti_atom_lip(a, next);
}

/* [ATOM-RET] */
static void ret(struct vpt_atom *a, uint64_t to)
{
	const uint64_t nlip = VPT_ATOM_MASK(LAST_CALL_NLIP, VALID) | vpti_atom_lip(a, to);

	if (VPT_ATOM_GET(CTL, CMPRS_RET, a->regs.ctl) && a->regs.last_call_nlip == nlip)
		vpti_atom_outcome(a, true);
	else
		vpti_atom_put_lip(a, VPT_ATOM_PKT_TIP, vpti_atom_lip(a, to));
}

/* Send the packet of a near branch that begins with PacketEn set. [ATOM-WHEN-BRANCH] */
static void near_inside(struct vpt_atom *a, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_COND:
		vpti_atom_outcome(a, event->flags & VPT_EVF_TAKEN);
		break;
	case VPT_EV_CALL:
		note_call(a, event->next);
		break; /* [ATOM-DIRECT] */
	case VPT_EV_CALL_INDIRECT:
		/* First, since the PSB that TIP may make due clears LAST_CALL_NLIP. */
		note_call(a, event->next);
		vpti_atom_put_lip(a, VPT_ATOM_PKT_TIP, vpti_atom_lip(a, event->to));
		break;
	case VPT_EV_JMP_INDIRECT: /* [ATOM-INDIRECT] */
		vpti_atom_put_lip(a, VPT_ATOM_PKT_TIP, vpti_atom_lip(a, event->to));
		break;
	case VPT_EV_RET:
		ret(a, event->to);
		break;
	default:
		break;
	}
}

/* Apply the IP filters to the instruction at `to`. `next` follows the previous instruction. */
static VPT_NOINLINE void apply_filters(struct vpt_atom *a, enum vpti_atom_way way, uint64_t next,
				       uint64_t to)
{
	const struct vpti_atom_before before = vpti_atom_stands(a);
	const uint64_t lip = vpti_atom_lip(a, to);
	const bool stop = vpti_atom_reach(a, way, lip);

	vpti_atom_cross(a, &before, stop, vpti_atom_lip(a, next), lip);
}

/* [ATOM-NEAR-LEAVES ATOM-ENTERS] */
static void near_branch(struct vpt_atom *a, const struct vpt_event *event)
{
	const bool walks = event->kind == VPT_EV_COND && !(event->flags & VPT_EVF_TAKEN);

	if (a->packet_en)
		near_inside(a, event);
	if (vpt_unlikely(a->each_insn))
		apply_filters(a, walks ? VPTI_ATOM_WALK : VPTI_ATOM_ARRIVE, event->next, event->to);
}

/* [ATOM-FAR ATOM-FAR-LEAVES] FUP.FAR has the LIP `far`, FUP.PGD has `left`. */
static void transfer(struct vpt_atom *a, uint64_t far, uint64_t left, uint64_t to)
{
	const struct vpti_atom_before before = vpti_atom_stands(a);
	struct vpt_context ctx;
	uint64_t lip;
	bool stop;

	a->ops->context(a->opaque, &ctx);
	vpti_atom_enter(a, &ctx);
	lip = vpti_atom_lip(a, to);
	stop = vpti_atom_reach(a, VPTI_ATOM_ARRIVE, lip);
	if (!before.packet_en) {
		vpti_atom_cross(a, &before, stop, left, lip);
		return;
	}
	if (a->packet_en)
		vpti_atom_put_lip(a, VPT_ATOM_PKT_FAR, far);
	else
		vpti_atom_put_lip(a, VPT_ATOM_PKT_PGD, left);
	if (a->context_en)
		vpti_atom_put_lip(a, VPT_ATOM_PKT_TIP, lip);
	if (stop)
		vpti_atom_trace_stop(a);
}

void vpti_atom_transfer(struct vpt_atom *a, uint64_t from, uint64_t to)
{
	const uint64_t lip = vpti_atom_lip(a, from);

	transfer(a, lip, lip, to);
}

/* [ATOM-FAR-IP ATOM-E1] With too many prefixes FUP.FAR points into the instruction. */
static void far_insn(struct vpt_atom *a, const struct vpt_event *event)
{
	uint64_t far = event->next;

	if (vpti_atom_erratum(a, VPT_ATOM_E1) && event->flags & VPT_EVF_PREFIXES)
		far = event->from + (event->next - event->from) / 2;
	transfer(a, vpti_atom_lip(a, far), vpti_atom_lip(a, event->next), event->to);
}

static void put_pip(struct vpt_atom *a, const struct vpt_context *ctx)
{
	struct vpt_atom_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_PIP;
	packet.value = ctx->cr3 & VPT_MASK64(39, 0);
	packet.flag = ctx->paging;
	vpti_atom_put(a, &packet);
}

/* MOV to CR3, and to CR0. [ATOM-PIP ATOM-CR3-ORDER ATOM-STS-CR3] */
static void paging(struct vpt_atom *a, const struct vpt_event *event)
{
	const struct vpti_atom_before before = vpti_atom_stands(a);
	const uint64_t lip = vpti_atom_lip(a, event->to);
	struct vpt_context ctx;
	bool stop, pip;

	a->ops->context(a->opaque, &ctx);
	vpti_atom_enter(a, &ctx);
	stop = vpti_atom_reach(a, VPTI_ATOM_WALK, lip);
	pip = a->trigger_en && a->context_en && !VPT_ATOM_GET(CTL, CR3_EN, a->regs.ctl);
	if (pip || (before.packet_en && !a->packet_en))
		vpti_atom_put_tnt(a);
	if (pip)
		put_pip(a, &ctx);
	if (event->kind == VPT_EV_CR3 && VPT_ATOM_GET(CTL, STS_ON_CR3, a->regs.ctl))
		vpti_atom_sts(a);
	vpti_atom_cross(a, &before, stop, lip, lip);
}

/* The engine lost events, so the enables may be out of date. */
static void lost(struct vpt_atom *a, const struct vpt_event *event)
{
	if (a->trigger_en)
		vpti_atom_set_overflow(a, true);
	vpti_atom_transfer(a, event->to, event->to);
}

/* Trace an instruction that sends nothing by itself. */
static void plain(struct vpt_atom *a, const struct vpt_event *event)
{
	if (a->each_insn)
		apply_filters(a, VPTI_ATOM_WALK, event->to, event->to);
}

static VPT_COLD void dispatch_other(struct vpt_atom *a, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_CBR:
		if (!a->slow && a->trigger_en && event->flags & VPT_EVF_STOPPED)
			vpti_atom_time_stop(a);
		vpti_atom_sts(a);
		break;
	case VPT_EV_SLEEP:
		if (!(event->flags & VPT_EVF_HW))
			plain(a, event);
		vpti_atom_sleep(a, event->cstate);
		break;
	case VPT_EV_SHUTDOWN:
		vpti_atom_sleep(a, 0);
		break;
	case VPT_EV_WAKE:
		vpti_atom_wake(a);
		break;
	case VPT_EV_INIT: /* [ATOM-INIT ATOM-PIP-NOT] */
	case VPT_EV_SIPI:
		vpti_atom_transfer(a, event->from, event->to);
		break;
	case VPT_EV_OVERFLOW:
		lost(a, event);
		break;
	default:
		plain(a, event);
		break;
	}
}

static VPT_ALWAYS_INLINE void dispatch(struct vpt_atom *a, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_COND:
	case VPT_EV_JMP:
	case VPT_EV_CALL:
	case VPT_EV_JMP_INDIRECT:
	case VPT_EV_CALL_INDIRECT:
	case VPT_EV_RET:
		near_branch(a, event);
		break;
	case VPT_EV_FAR:
	case VPT_EV_SOFT_INT:
		far_insn(a, event);
		break;
	case VPT_EV_ASYNC:
		vpti_atom_transfer(a, event->from, event->to);
		break;
	case VPT_EV_CR3:
	case VPT_EV_PAGING:
		paging(a, event);
		break;
	case VPT_EV_INSN:
		plain(a, event);
		break;
	default:
		dispatch_other(a, event);
		break;
	}
}

/* Returns true for events that a sleeping core reports. */
static bool belongs_to_sleep(enum vpt_event_kind kind)
{
	return kind == VPT_EV_SLEEP || kind == VPT_EV_SHUTDOWN || kind == VPT_EV_WAKE ||
	       kind == VPT_EV_CBR;
}

static void begin(struct vpt_atom *a, const struct vpt_event *event)
{
	if (event->kind == VPT_EV_CBR && event->flags & VPT_EVF_STOPPED)
		vpti_atom_time_stop(a);
	/* Another event wakes the core, for example INIT after a shutdown. */
	if (a->time.asleep && !belongs_to_sleep((enum vpt_event_kind)event->kind))
		vpti_atom_wake(a);
	else
		vpti_atom_now(a);
}

static VPT_NOINLINE void slow_event(struct vpt_atom *a, const struct vpt_event *event)
{
	if (a->slow)
		begin(a, event);
	dispatch(a, event);
	if (!a->time.asleep)
		vpti_atom_finish(a, event->to);
}

void vpt_atom_event(struct vpt_atom *a, const struct vpt_event *event)
{
	if (!a->watches)
		return;
	if (vpt_unlikely(a->slow || vpti_atom_overflow(a)))
		slow_event(a, event);
	else
		dispatch(a, event);
}

void vpt_atom_tick(struct vpt_atom *a, uint64_t ip)
{
	if (!a->trigger_en)
		return;
	if (a->slow)
		vpti_atom_now(a);
	if (!a->time.asleep)
		vpti_atom_finish(a, ip);
}
