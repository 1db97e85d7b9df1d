// SPDX-License-Identifier: GPL-2.0-or-later
#include "atom_stream.h"

#include <string.h>

#include "trace/atom_session.h"

void vpt_atom_stream_enter(struct vpt_atom_stream *s, size_t session)
{
	bool last = session + 1 >= s->nperiods;

	s->session = session;
	s->limit = last ? s->len : s->periods[session + 1].start->offset - s->offset;
	vpt_atom_session_get(s->periods[session].start, &s->regs);
	s->last = (uint32_t)VPT_ATOM_GET(LAST_LIP, LIP, s->regs.last_lip);
	s->last_known = VPT_ATOM_GET(LAST_LIP, VALID, s->regs.last_lip);
}

static void end(struct vpt_atom_stream *s, struct vpt_atom_said *said)
{
	bool closed = s->session < s->nperiods && s->periods[s->session].end;

	said->what = closed ? VPT_ATOM_SAYS_ENDS : VPT_ATOM_SAYS_OUT;
}

/* [ATOM-LIP-LAST] What is sent next leans on this one, whatever the kind. */
static void take_lip(struct vpt_atom_stream *s, struct vpt_atom_said *said)
{
	uint64_t lip;

	said->has_lip = false;
	if (!vpt_atom_pkt_has_lip(said->packet.kind))
		return;
	said->has_lip = vpt_atom_lip_expand(&said->packet, s->last, s->last_known, &lip) == VPT_OK;
	s->last_known = said->has_lip;
	if (!said->has_lip)
		return;
	s->last = (uint32_t)(lip >> 16);
	said->lip = vpt_atom_canonical(lip);
}

void vpt_atom_stream_read(struct vpt_atom_stream *s, struct vpt_atom_said *said)
{
	bool cycle_acc = VPT_ATOM_GET(CTL, CYCLE_ACC, s->regs.ctl);
	enum vpt_status status;

	said->at = s->at;
	if (s->at >= s->limit) {
		end(s, said);
		return;
	}
	status = vpt_atom_packet_read(s->bytes + s->at, s->limit - s->at, cycle_acc, &said->packet);
	if (status == VPT_OK) {
		said->what = VPT_ATOM_SAYS_PACKET;
		s->at += said->packet.size;
		take_lip(s, said);
	} else if (status == VPT_E_EOS && s->cut && s->limit == s->len) {
		said->what = VPT_ATOM_SAYS_OUT;
	} else {
		said->what = VPT_ATOM_SAYS_BAD;
	}
}

void vpt_atom_stream_skip(struct vpt_atom_stream *s)
{
	s->last_known = false;
	if (s->at >= s->limit)
		return;
	s->at++;
	s->at += vpt_atom_packet_find_psb(s->bytes + s->at, s->limit - s->at);
}

bool vpt_atomd_is_flow(enum vpt_atom_pkt_kind kind)
{
	switch (kind) {
	case VPT_ATOM_PKT_TNT:
	case VPT_ATOM_PKT_PGE:
	case VPT_ATOM_PKT_PGD:
	case VPT_ATOM_PKT_BUF_OVF:
	case VPT_ATOM_PKT_TIP:
	case VPT_ATOM_PKT_FAR:
	case VPT_ATOM_PKT_TRACE_STOP:
		return true;
	default:
		return false;
	}
}

void vpt_atom_stream_flow(struct vpt_atom_stream *s, struct vpt_atom_said *said)
{
	do {
		vpt_atom_stream_read(s, said);
	} while (said->what == VPT_ATOM_SAYS_PACKET && !vpt_atomd_is_flow(said->packet.kind));
}

unsigned int vpt_atomd_outcomes(uint32_t tnt_buff)
{
	unsigned int n = 0;

	while (n < VPT_ATOM_TNT_MAX && tnt_buff >> (n + 1))
		n++;
	return n;
}

static bool in_range(const struct vpt_atom_regs *regs, unsigned int range, uint64_t lip)
{
	return lip >= regs->lip[range] && lip < regs->lip[range + VPT_ATOM_RANGES];
}

/* The ranges that an event ID stands for, a bit each. */
static unsigned int ranges_of(uint64_t id)
{
	return id == VPT_ATOM_ID_EITHER ? 3 : id <= VPT_ATOM_ID_RANGE1 ? 1u << id : 0;
}

static bool in_ranges(const struct vpt_atom_regs *regs, uint64_t id, uint64_t ip)
{
	uint64_t lip = ip & VPT_MASK64(47, 0);
	unsigned int ranges = ranges_of(id);

	if (id == VPT_ATOM_ID_ALWAYS)
		return true;
	return (ranges & 1 && in_range(regs, 0, lip)) || (ranges & 2 && in_range(regs, 1, lip));
}

bool vpt_atomd_in_filter(const struct vpt_atom_regs *regs, uint64_t ip)
{
	return in_ranges(regs, VPT_ATOM_GET(EVENTS, FILTER, regs->events), ip);
}

/* Is it one of two addresses that belong to RANGE0 and RANGE1? */
static bool is_edge(uint64_t id, const uint64_t *of, uint64_t ip)
{
	unsigned int ranges = ranges_of(id);
	uint64_t lip = ip & VPT_MASK64(47, 0);

	return (ranges & 1 && lip == of[0]) || (ranges & 2 && lip == of[1]);
}

bool vpt_atomd_ends_filter(const struct vpt_atom_regs *regs, uint64_t ip)
{
	return is_edge(VPT_ATOM_GET(EVENTS, FILTER, regs->events), &regs->lip[2], ip);
}

bool vpt_atomd_stops_at(const struct vpt_atom_regs *regs, uint64_t ip, bool branch)
{
	uint64_t id = VPT_ATOM_GET(EVENTS, STOP, regs->events);

	return branch ? in_ranges(regs, id, ip) : is_edge(id, &regs->lip[0], ip);
}
