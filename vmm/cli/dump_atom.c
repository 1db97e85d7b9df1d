// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets of Atom's RTIT for vpt dump. */
#include <inttypes.h>

#include "cli/atom_regs.h"
#include "cli/dump.h"
#include "trace/atom_session.h"

VPT_STATIC_ASSERT((int)VPT_ATOM_PKT_COUNT <= (int)CLI_DUMP_KINDS, "they have room");

/*
 * [ATOM-LIP-LAG] The processor may clear its last LIP later than it sends a PSB. Packets behind the
 * PSB may then still be compressed against the old LIP, so keep it.
 */
static void track_lip(struct cli_dump_stream *s, struct cli_dump_item *item)
{
	uint64_t lip;

	item->has_ip = true;
	item->ip_known = !vpt_atom_lip_expand(&item->atom, (uint32_t)(s->last_ip >> 16),
					      s->last_ip_known, &lip);
	if (!item->ip_known)
		return;
	item->ip = vpt_atom_canonical(lip);
	s->last_ip = lip;
	s->last_ip_known = true;
}

static enum vpt_status read_packet(struct cli_dump_stream *s, const uint8_t *buf, size_t len,
				   struct cli_dump_item *item)
{
	const enum vpt_status status = vpt_atom_packet_read(buf, len, s->cycle_acc, &item->atom);

	if (status)
		return status;
	item->kind = item->atom.kind;
	item->size = item->atom.size;
	if (vpt_atom_pkt_has_lip(item->atom.kind))
		track_lip(s, item);
	return VPT_OK;
}

/* Decode bytes outside sessions with the state of the bytes before them. */
static void begin(struct cli_dump_stream *s, const struct trace_session *start)
{
	struct vpt_atom_regs regs;

	if (!start)
		return;
	trace_atom_session_get(start, &regs);
	s->cycle_acc = VPT_ATOM_GET(CTL, CYCLE_ACC, regs.ctl);
	s->last_ip = VPT_ATOM_GET(LAST_LIP, LIP, regs.last_lip) << 16;
	s->last_ip_known = VPT_ATOM_GET(LAST_LIP, VALID, regs.last_lip);
}

static void lost(struct cli_dump_stream *s)
{
	s->last_ip_known = false;
}

static size_t text(char *text, size_t size, const struct cli_dump_item *item)
{
	return vpt_atom_packet_format(text, size, &item->atom);
}

static const char *name(unsigned int kind)
{
	return vpt_atom_pkt_name((enum vpt_atom_pkt_kind)kind);
}

static void json_value(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ",\"%s\":\"0x%" PRIx64 "\"", name, value);
}

static void json(FILE *out, const struct cli_dump_item *item)
{
	const struct vpt_atom_packet *p = &item->atom;

	fprintf(out, ",\"packet\":\"%s\",\"size\":%u", vpt_atom_pkt_name(p->kind), p->size);
	switch (p->kind) {
	case VPT_ATOM_PKT_TNT:
		cli_dump_json_outcomes(out, p->value, p->bits);
		break;
	case VPT_ATOM_PKT_PIP:
		json_value(out, "cr3", p->value);
		fprintf(out, ",\"pg\":%s", p->flag ? "true" : "false");
		break;
	case VPT_ATOM_PKT_MTC:
		fprintf(out, ",\"range\":%u", p->aux);
		json_value(out, "tsc", p->value);
		break;
	case VPT_ATOM_PKT_STS:
		json_value(out, "tsc", p->value);
		fprintf(out, ",\"acbr\":%u,\"ecbr\":%u", p->aux & 0xffu, p->aux >> 8);
		break;
	default:
		break;
	}
	if (vpt_atom_pkt_has_lip(p->kind)) {
		fprintf(out, ",\"cnt\":%u,\"zext\":%s", p->cnt, p->zext ? "true" : "false");
		json_value(out, "payload", p->value);
	}
	if (p->has_cycles)
		fprintf(out, ",\"cycles\":%" PRIu32, p->cycles);
}

static void registers(FILE *out, const struct trace_period *period, bool at_end)
{
	if (at_end)
		cli_atom_regs_text(out, "#   ", period->end, period->start);
	else
		cli_atom_regs_text(out, "#   ", period->start, NULL);
}

const struct cli_dump_system cli_dump_atom = {
	.kinds = VPT_ATOM_PKT_COUNT,
	.columns = 42,
	.name = name,
	.read = read_packet,
	.find_psb = vpt_atom_packet_find_psb,
	.begin = begin,
	.lost = lost,
	.text = text,
	.json = json,
	.registers = registers,
	.json_registers = cli_atom_regs_json,
};
