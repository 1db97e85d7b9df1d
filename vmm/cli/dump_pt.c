// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets of Intel PT for vpt dump. */
#include <inttypes.h>
#include <string.h>

#include "cli/dump.h"
#include "vpt/block.h"

/* Compute the packet's IP, if it has one, and update the last IP. */
static void track_ip(struct cli_dump_stream *s, struct cli_dump_item *item)
{
	const struct vpt_packet *p = &item->pt;

	switch (p->kind) {
	case VPT_PKT_PSB:
		/* PSB resets the last IP (33.4.2.2). */
		s->last_ip = 0;
		s->last_ip_known = true;
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		if (p->ip_bytes == VPT_IP_SEXT_48 || p->ip_bytes == VPT_IP_FULL)
			s->last_ip_known = true;
		item->has_ip =
			vpt_ip_expand(s->last_ip, p->ip_bytes, p->value, &s->last_ip) == VPT_OK;
		item->ip_known = s->last_ip_known;
		item->ip = s->last_ip;
		break;
	default:
		break;
	}
}

static enum vpt_status read_packet(struct cli_dump_stream *s, const uint8_t *buf, size_t len,
				   struct cli_dump_item *item)
{
	const enum vpt_status status = vpt_packet_read(&s->parser, buf, len, &item->pt);

	if (status)
		return status;
	item->kind = item->pt.kind;
	item->size = item->pt.size;
	track_ip(s, item);
	if (item->kind == VPT_PKT_BBP)
		s->block = (uint8_t)item->pt.value;
	if (item->kind == VPT_PKT_BIP) /* table 33-47 */
		item->note = vpt_bip_name(s->block, item->pt.aux);
	return VPT_OK;
}

static void begin(struct cli_dump_stream *s, const struct trace_session *start)
{
	(void)start;
	memset(&s->parser, 0, sizeof(s->parser));
}

static void lost(struct cli_dump_stream *s)
{
	memset(&s->parser, 0, sizeof(s->parser));
	s->last_ip_known = false;
}

static size_t text(char *text, size_t size, const struct cli_dump_item *item)
{
	return vpt_packet_format(text, size, &item->pt);
}

/* Long and short TNT share a name in the manual; vpt dump distinguishes them. */
static const char *name(unsigned int kind)
{
	return kind == VPT_PKT_TNT_64 ? "TNT (long)" : vpt_pkt_name((enum vpt_pkt_kind)kind);
}

/*
 * The JSON keys of the fields of struct vpt_packet, as the manual's tables name them. NULL stands for
 * a field that does not count. TNT and IP packets have code of their own.
 */
struct field_names {
	const char *value;
	const char *aux;
	const char *flag;
	const char *bits;
};

static const struct field_names field_names[VPT_PKT_COUNT] = {
#define NAME(at, bits, shift, label, name) name
#define VPT_PKT(kind, text, size, tag, section, meaning)
#define VPT_PKT_EXT(kind, text, size, opcode, value, aux, flag, tag, section, meaning) \
	[VPT_PKT_##kind] = {NAME value, NAME aux, NAME flag, NULL},
#include "../../shared/spec/packets.def"
	[VPT_PKT_MODE_EXEC] = {"mode", NULL, NULL, NULL},
	[VPT_PKT_MODE_TSX] = {"mode", NULL, NULL, NULL},
	[VPT_PKT_TSC] = {"tsc", NULL, NULL, NULL},
	[VPT_PKT_MTC] = {"ctc", NULL, NULL, NULL},
	[VPT_PKT_CYC] = {"cycles", NULL, NULL, NULL},
	[VPT_PKT_MNT] = {"payload", NULL, NULL, NULL},
	[VPT_PKT_PTW] = {"payload", NULL, "fup", "bits"},
	[VPT_PKT_BIP] = {"payload", "id", NULL, "bits"},
	[VPT_PKT_TRIG] = {NULL, NULL, "fup", NULL},
};

static bool is_ip(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD ||
	       kind == VPT_PKT_FUP;
}

static void json_trig(FILE *out, const struct vpt_packet *p)
{
	fprintf(out, ",\"triggers\":%u,\"mult\":%s", p->aux & 0xff,
		p->aux & VPT_TRIG_MULT ? "true" : "false");
	if (p->bits)
		fprintf(out, ",\"icnt\":%u", (unsigned int)p->value);
}

/* Values are strings, because a JSON number does not hold 64 bits everywhere. */
static void json(FILE *out, const struct cli_dump_item *item)
{
	const struct vpt_packet *p = &item->pt;
	const struct field_names *names = &field_names[p->kind];

	fprintf(out, ",\"packet\":\"%s\",\"size\":%u", vpt_pkt_name(p->kind), p->size);
	if (p->kind == VPT_PKT_TNT_8 || p->kind == VPT_PKT_TNT_64)
		cli_dump_json_outcomes(out, p->value, p->bits);
	if (is_ip(p->kind)) {
		fprintf(out, ",\"ip_bytes\":%u", p->ip_bytes);
		if (p->ip_bytes)
			fprintf(out, ",\"payload\":\"0x%" PRIx64 "\"", p->value);
	}
	if (p->kind == VPT_PKT_TRIG)
		json_trig(out, p);
	if (names->value)
		fprintf(out, ",\"%s\":\"0x%" PRIx64 "\"", names->value, p->value);
	if (names->aux)
		fprintf(out, ",\"%s\":%u", names->aux, p->aux);
	if (names->flag)
		fprintf(out, ",\"%s\":%s", names->flag, p->flag ? "true" : "false");
	if (names->bits)
		fprintf(out, ",\"%s\":%u", names->bits, p->bits);
}

const struct cli_dump_system cli_dump_pt = {
	.kinds = VPT_PKT_COUNT,
	.columns = 32,
	.name = name,
	.read = read_packet,
	.find_psb = vpt_packet_find_psb,
	.begin = begin,
	.lost = lost,
	.text = text,
	.json = json,
};
