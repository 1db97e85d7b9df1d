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

static void put_payload(struct vpti_line *line, const struct vpt_atom_packet *p)
{
	switch (p->kind) {
	case VPT_ATOM_PKT_TNT:
		vpti_line_outcomes(line, p->value, p->bits);
		break;
	case VPT_ATOM_PKT_PIP:
		vpti_line_hex(line, "", p->value);
		vpti_line_flag(line, p->flag, " PG");
		break;
	case VPT_ATOM_PKT_MTC:
		vpti_line_text(line, "range ");
		vpti_line_digits(line, p->aux, 10, 1);
		vpti_line_hex(line, ": ", p->value);
		break;
	case VPT_ATOM_PKT_STS:
		vpti_line_hex(line, "", p->value);
		vpti_line_text(line, " acbr ");
		vpti_line_digits(line, p->aux & 0xffu, 10, 1);
		vpti_line_text(line, " ecbr ");
		vpti_line_digits(line, p->aux >> 8, 10, 1);
		break;
	default:
		break;
	}
	if (vpt_atom_pkt_has_lip(p->kind)) {
		vpti_line_digits(line, p->cnt, 10, 1);
		vpti_line_flag(line, p->zext, "z");
		vpti_line_hex(line, ": ", p->value);
	}
}

size_t vpt_atom_packet_format(char *text, size_t size, const struct vpt_atom_packet *packet)
{
	struct vpti_line line = {text, size, 0};
	size_t name_end = vpti_line_name(&line, vpt_atom_pkt_name(packet->kind), NAME_WIDTH);

	put_payload(&line, packet);
	if (packet->has_cycles) {
		vpti_line_text(&line, " cyc ");
		vpti_line_digits(&line, packet->cycles, 10, 1);
	}
	return vpti_line_end(&line, name_end, NAME_WIDTH);
}
