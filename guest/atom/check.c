// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the checks of a guest's own RTIT trace. */
#include "check.h"

#include "lib/guest.h"
#include "lib/mem.h"

size_t guest_atom_walk(const struct guest_atom_bytes *bytes,
		       void (*fn)(void *opaque, const struct vpt_atom_packet *packet), void *opaque,
		       enum vpt_status *end)
{
	struct vpt_atom_packet packet;
	size_t at;

	*end = VPT_OK;
	for (at = 0; at < bytes->len; at += packet.size) {
		*end = vpt_atom_packet_read(bytes->buf + at, bytes->len - at, bytes->cycle_acc,
					    &packet);
		if (*end != VPT_OK)
			break;
		fn(opaque, &packet);
	}
	return at;
}

struct scanner {
	struct guest_atom_scan *scan;
	bool cycle_acc, any;
};

static void scan_one(void *opaque, const struct vpt_atom_packet *packet)
{
	struct scanner *s = opaque;
	struct guest_atom_scan *scan = s->scan;
	bool counted = s->cycle_acc && vpt_atom_pkt_has_cycles(packet->kind, packet->bits);

	scan->count[packet->kind]++;
	scan->bad_cycles += packet->has_cycles != counted;
	if (packet->has_cycles)
		scan->cycles += packet->cycles;
	if (packet->kind == VPT_ATOM_PKT_TNT)
		scan->tnt_bits += packet->bits;
	if (packet->kind == VPT_ATOM_PKT_MTC || packet->kind == VPT_ATOM_PKT_STS)
		return;
	if (!s->any)
		scan->first = packet->kind;
	scan->last = packet->kind;
	s->any = true;
}

void guest_atom_scan(struct guest_atom_scan *scan, const struct guest_atom_bytes *bytes)
{
	struct scanner s = {.scan = scan, .cycle_acc = bytes->cycle_acc};

	memset(scan, 0, sizeof(*scan));
	scan->parsed = guest_atom_walk(bytes, scan_one, &s, &scan->end);
}

struct flow_reader {
	struct guest_flow_list list;
	uint32_t last;
	bool valid;
};

static uint64_t expand(struct flow_reader *r, const struct vpt_atom_packet *packet)
{
	uint64_t lip;

	if (vpt_atom_lip_expand(packet, r->last, r->valid, &lip) != VPT_OK)
		return GUEST_FLOW_NO_IP;
	r->last = (uint32_t)(lip >> 16);
	r->valid = true;
	return vpt_atom_canonical(lip);
}

static void flow_one(void *opaque, const struct vpt_atom_packet *packet)
{
	struct flow_reader *r = opaque;
	unsigned int bit;

	if (packet->kind == VPT_ATOM_PKT_TNT)
		for (bit = packet->bits; bit-- > 0;)
			guest_flow_add(&r->list, packet->kind, packet->value >> bit & 1);
	else if (vpt_atom_pkt_has_lip(packet->kind))
		guest_flow_add(&r->list, packet->kind, expand(r, packet));
	else if (packet->kind == VPT_ATOM_PKT_PIP)
		guest_flow_add(&r->list, packet->kind,
			       packet->value | (uint64_t)packet->flag << 40);
	else if (packet->kind != VPT_ATOM_PKT_MTC)
		guest_flow_add(&r->list, packet->kind, 0);
}

size_t guest_atom_flow_read(const struct guest_atom_bytes *bytes, struct guest_flow *flow,
			    size_t max)
{
	struct flow_reader r = {.list = {.flow = flow, .max = max}};
	enum vpt_status end;

	guest_atom_walk(bytes, flow_one, &r, &end);
	if (end != VPT_OK)
		guest_flow_add(&r.list, VPT_ATOM_PKT_COUNT, 0);
	return r.list.count;
}

static const char *name_of(unsigned int kind)
{
	return vpt_atom_pkt_name((enum vpt_atom_pkt_kind)kind);
}

bool guest_atom_flow_report(const struct guest_atom_bytes *bytes, const struct guest_flow *want,
			    size_t count, const char *what)
{
	struct guest_flow got[ATOM_FLOW_MAX];
	struct guest_flow_list list = {.flow = got, .max = ARRAY_SIZE(got)};

	list.count = guest_atom_flow_read(bytes, got, list.max);
	return guest_flow_same(&list, want, count, name_of, what);
}

bool guest_atom_tail_report(const struct guest_atom_bytes *bytes, const struct guest_flow *want,
			    size_t count, const char *what)
{
	struct guest_flow got[ATOM_FLOW_MAX];
	struct guest_flow_list list = {.flow = got, .max = ARRAY_SIZE(got)};
	size_t i;

	list.count = guest_atom_flow_read(bytes, got, list.max);
	for (i = list.count < list.max ? list.count : 0; i-- > 0;)
		if (got[i].kind == want->kind && got[i].value == want->value) {
			list.flow += i;
			list.count -= i;
			list.max -= i;
			break;
		}
	return guest_flow_same(&list, want, count, name_of, what);
}
