// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Handle errata that only later packets reveal: BDM70, APL12 and SKD010.
 *
 * Packets in between wait until a packet shows whether the last FUP conforms to the manual.
 */
#include "libdecode/pt_inside.h"

/* BDM70: returns true if a TIP.PGE that reveals the erratum may still follow this packet. */
static bool keeps_bdm70(const struct dec_pt *pt, enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_MODE_EXEC || kind == VPT_PKT_VMCS ||
	       (kind == VPT_PKT_PIP && !(pt->waits & W_PIP));
}

/* SKD010: returns true if the TIP of an event that sent this FUP may still follow. */
static bool keeps_doubt(const struct dec_pt *pt, enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGD || kind == VPT_PKT_CFE ||
	       kind == VPT_PKT_EVD || (kind != VPT_PKT_TIP_PGE && keeps_bdm70(pt, kind));
}

/*
 * APL12: returns true if a TIP.PGE that reveals the erratum may still follow this packet. Until the
 * TIP.PGE the processor runs code outside of the filter.
 */
static bool keeps_apl12(const struct dec_pt *pt, enum vpt_pkt_kind kind)
{
	switch (kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
	case VPT_PKT_OVF:
	case VPT_PKT_PTW:
		return false;
	case VPT_PKT_MODE_TSX:
		return pt->waits & W_PSB;
	default:
		return true;
	}
}

static bool keeps_errata(const struct dec_pt *pt, enum vpt_pkt_kind kind)
{
	if (pt->waits & W_BDM70)
		return keeps_bdm70(pt, kind);
	return pt->waits & W_APL12 ? keeps_apl12(pt, kind) : keeps_doubt(pt, kind);
}

/* Bind the packets that waited for a TIP, because the last FUP conforms to the manual. */
static enum vptd_status use_waiting(struct dec_pt *pt)
{
	uint32_t waits = pt->waits;
	enum vptd_status status = VPTD_OK;

	pt->waits &= ~(uint32_t)(W_PIP | W_VMCS);
	if (waits & W_VMCS)
		status = dec_pt_vmcs(pt, pt->new_vmcs);
	if (!status && waits & W_PIP)
		status = dec_pt_pip(pt, pt->pip_cr3, pt->pip_nr);
	return status;
}

enum vptd_status dec_pt_close_errata(struct dec_pt *pt, enum vpt_pkt_kind kind)
{
	if (keeps_errata(pt, kind))
		return VPTD_OK;
	pt->waits &= ~(uint32_t)W_ERRATA;
	return pt->waits & W_PSB ? VPTD_OK : use_waiting(pt);
}

/*
 * The FUP of an overflow precedes all events, so an event's FUP shows only that tracing has not
 * resumed. SKD010: the overflow's FUP was dropped. A TSX or PTWRITE event has a FUP only if tracing
 * has resumed.
 */
bool dec_pt_shows_where(const struct dec_pt *pt)
{
	enum vptd_event_kind kind = (enum vptd_event_kind)pt->alone.at[pt->alone.n - 1].kind;

	return dec_pt_has(pt, DEC_SKD010) && (kind == VPTD_EVENT_TSX || kind == VPTD_EVENT_PTWRITE);
}

/* A TIP follows the FUP of an abort, and the MODE.TSX of the abort is reported with that TIP. */
static bool take_abort(struct dec_pt *pt)
{
	const struct vptd_event *last = pt->alone.at + pt->alone.n - 1;

	if (!(pt->waits & W_ALONE) || last->kind != VPTD_EVENT_TSX || !(last->value & 2))
		return false;
	pt->alone.n--;
	return true;
}

/*
 * SKD010: if the overflow's FUP is missing, the first FUP is that of an event, to which a TIP or
 * TIP.PGD belongs. This is certain if outcomes preceded the FUP.
 */
enum vptd_status dec_pt_resume_at_fup(struct dec_pt *pt, uint64_t ip)
{
	bool late = pt->waits & W_LATE, event = pt->waits & W_ALONE, abort = take_abort(pt);
	enum vptd_status status = dec_pt_resume(pt, ip);

	if (!dec_pt_has(pt, DEC_SKD010) || !pt->enabled || (event && !abort))
		return status;
	pt->fup = ip;
	pt->waits |= abort ? W_FUP | W_ABORT : late ? W_FUP : W_DOUBT;
	return status;
}

/*
 * Returns true if execution can reach the sender of this TIP or TIP.PGD from the position without
 * an event. Only far transfers change the mode or leave the context. A PIP can also be that of a
 * MOV to CR3.
 */
static bool reaches_sender(const struct dec_pt *pt, bool disables, uint64_t ip, bool suppressed)
{
	bool far =
		pt->waits & (W_MODE | W_BOUND) || (disables && suppressed && !pt->config.nranges);
	struct dec_flow probe = dec_flow_probe(pt->flow);
	enum vptd_status status;
	struct dec_block *by;

	if (pt->waits & W_PIP || !disables)
		status = dec_flow_seek(&probe, DEC_END_BIT(CR3) | DEC_LEADS_AWAY, &by);
	else
		status = dec_pt_seek_sender(pt, &probe, ip, suppressed);
	if (status)
		return false;
	if (probe.cur->end == DEC_END_FAR || probe.cur->end == DEC_END_CR3)
		return true;
	return !far && !(pt->waits & W_PIP) && (disables || probe.cur->end != DEC_END_COND);
}

enum vptd_status dec_pt_end_doubt(struct dec_pt *pt, bool disables, uint64_t ip, bool suppressed)
{
	pt->waits &= ~(uint32_t)W_DOUBT;
	if (!reaches_sender(pt, disables, ip, suppressed)) {
		pt->waits |= W_FUP;
		return VPTD_OK;
	}
	return use_waiting(pt);
}
