// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets of Atom's RTIT as text, for dumps. */
#include "vpt/atom_packet.h"

#include "text.h"

/* Names end here, payloads begin; the longest name has eleven letters. */
#define NAME_WIDTH 12

const char *vpt_atom_pkt_name(enum vpt_atom_pkt_kind kind)
{
	static const char *const names[] = {
#define VPT_ATOM_PKT(kind, text, size, cycles, tag, section, meaning) text,
#include "../spec/rtit.def"
	};

	return (unsigned int)kind < VPT_ATOM_PKT_COUNT ? names[kind] : "?";
}

static void put_payload(struct vpt_line *line, const struct vpt_atom_packet *p)
{
	switch (p->kind) {
	case VPT_ATOM_PKT_TNT:
		vpt_line_outcomes(line, p->value, p->bits);
		break;
	case VPT_ATOM_PKT_PIP:
		vpt_line_hex(line, "", p->value);
		vpt_line_flag(line, p->flag, " PG");
		break;
	case VPT_ATOM_PKT_MTC:
		vpt_line_text(line, "range ");
		vpt_line_digits(line, p->aux, 10, 1);
		vpt_line_hex(line, ": ", p->value);
		break;
	case VPT_ATOM_PKT_STS:
		vpt_line_hex(line, "", p->value);
		vpt_line_text(line, " acbr ");
		vpt_line_digits(line, p->aux & 0xffu, 10, 1);
		vpt_line_text(line, " ecbr ");
		vpt_line_digits(line, p->aux >> 8, 10, 1);
		break;
	default:
		break;
	}
	if (vpt_atom_pkt_has_lip(p->kind)) {
		vpt_line_digits(line, p->cnt, 10, 1);
		vpt_line_flag(line, p->zext, "z");
		vpt_line_hex(line, ": ", p->value);
	}
}

size_t vpt_atom_packet_format(char *text, size_t size, const struct vpt_atom_packet *packet)
{
	struct vpt_line line = {text, size, 0};
	size_t name_end = vpt_line_name(&line, vpt_atom_pkt_name(packet->kind), NAME_WIDTH);

	put_payload(&line, packet);
	if (packet->has_cycles) {
		vpt_line_text(&line, " cyc ");
		vpt_line_digits(&line, packet->cycles, 10, 1);
	}
	return vpt_line_end(&line, name_end, NAME_WIDTH);
}
