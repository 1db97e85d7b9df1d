// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets, losses, sessions and sums, as text or as JSON. */
#include "dump.h"

#include <inttypes.h>

#include "vpt/block.h"
#include "vpt/output.h"

/* Bytes of a loss that are shown. */
#define LOST_SHOWN 8

static bool is_ip(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD ||
	       kind == VPT_PKT_FUP;
}

/* What a BIP is (table 33-47), NULL for other packets and where there is no telling. */
static const char *item_name(const struct vpt_dump *d, const struct vpt_packet *packet)
{
	return packet->kind == VPT_PKT_BIP ? vpt_bip_name(d->block, packet->aux) : NULL;
}

static void text_packet(const struct vpt_dump *d, uint64_t offset, const struct vpt_packet *packet,
			const uint64_t *ip)
{
	char text[128];

	vpt_packet_format(text, sizeof(text), packet);
	if (ip)
		fprintf(d->out, "%08" PRIx64 "  %-32s  %016" PRIx64 "\n", offset, text, *ip);
	else if (is_ip(packet->kind) && packet->ip_bytes)
		fprintf(d->out, "%08" PRIx64 "  %-32s  ?\n", offset, text);
	else if (item_name(d, packet))
		fprintf(d->out, "%08" PRIx64 "  %-32s  %s\n", offset, text, item_name(d, packet));
	else
		fprintf(d->out, "%08" PRIx64 "  %s\n", offset, text);
}

/*
 * The fields of struct vpt_packet that count for a kind, under the names they have
 * in the manual's tables; NULL where one doesn't. TNT and IP packets are apart.
 */
struct field_names {
	const char *value;
	const char *aux;
	const char *flag;
	const char *bits;
};

static const struct field_names field_names[VPT_PKT_COUNT] = {
	[VPT_PKT_PIP] = {"cr3", NULL, "nr", NULL},
	[VPT_PKT_MODE_EXEC] = {"mode", NULL, NULL, NULL},
	[VPT_PKT_MODE_TSX] = {"mode", NULL, NULL, NULL},
	[VPT_PKT_CBR] = {"ratio", NULL, NULL, NULL},
	[VPT_PKT_TSC] = {"tsc", NULL, NULL, NULL},
	[VPT_PKT_MTC] = {"ctc", NULL, NULL, NULL},
	[VPT_PKT_TMA] = {"ctc", "fast_counter", NULL, NULL},
	[VPT_PKT_CYC] = {"cycles", NULL, NULL, NULL},
	[VPT_PKT_VMCS] = {"vmcs", NULL, NULL, NULL},
	[VPT_PKT_MNT] = {"payload", NULL, NULL, NULL},
	[VPT_PKT_PTW] = {"payload", NULL, "fup", "bits"},
	[VPT_PKT_EXSTOP] = {NULL, NULL, "fup", NULL},
	[VPT_PKT_MWAIT] = {"hints", "ext", NULL, NULL},
	[VPT_PKT_PWRE] = {"cstate", NULL, "hw", NULL},
	[VPT_PKT_PWRX] = {"cstates", "wake", NULL, NULL},
	[VPT_PKT_BBP] = {"type", NULL, "four_byte_items", NULL},
	[VPT_PKT_BIP] = {"payload", "id", NULL, "bits"},
	[VPT_PKT_BEP] = {NULL, NULL, "fup", NULL},
	[VPT_PKT_CFE] = {"type", "vector", "fup", NULL},
	[VPT_PKT_EVD] = {"payload", "type", NULL, NULL},
};

static void json_place(const struct vpt_dump *d, uint64_t offset)
{
	fputs("{", d->out);
	if (d->vcpu != VPT_DUMP_RAW)
		fprintf(d->out, "\"vcpu\":%d,", d->vcpu);
	fprintf(d->out, "\"offset\":%" PRIu64, offset);
}

static void json_tnt(const struct vpt_dump *d, const struct vpt_packet *p)
{
	unsigned int i;

	fputs(",\"outcomes\":\"", d->out);
	for (i = p->bits; i-- > 0;)
		fputc(p->value >> i & 1 ? '1' : '0', d->out);
	fputs("\"", d->out);
}

static void json_ip(const struct vpt_dump *d, const struct vpt_packet *p, const uint64_t *ip)
{
	fprintf(d->out, ",\"ip_bytes\":%u", p->ip_bytes);
	if (p->ip_bytes)
		fprintf(d->out, ",\"payload\":\"0x%" PRIx64 "\"", p->value);
	if (ip)
		fprintf(d->out, ",\"ip\":\"0x%" PRIx64 "\"", *ip);
}

/* Values are strings: a JSON number doesn't hold 64 bits everywhere. */
static void json_packet(const struct vpt_dump *d, uint64_t offset, const struct vpt_packet *p,
			const uint64_t *ip)
{
	const struct field_names *names = &field_names[p->kind];

	json_place(d, offset);
	fprintf(d->out, ",\"packet\":\"%s\",\"size\":%u", vpt_pkt_name(p->kind), p->size);
	if (p->kind == VPT_PKT_TNT_8 || p->kind == VPT_PKT_TNT_64)
		json_tnt(d, p);
	if (is_ip(p->kind))
		json_ip(d, p, ip);
	if (names->value)
		fprintf(d->out, ",\"%s\":\"0x%" PRIx64 "\"", names->value, p->value);
	if (names->aux)
		fprintf(d->out, ",\"%s\":%u", names->aux, p->aux);
	if (names->flag)
		fprintf(d->out, ",\"%s\":%s", names->flag, p->flag ? "true" : "false");
	if (names->bits)
		fprintf(d->out, ",\"%s\":%u", names->bits, p->bits);
	if (item_name(d, p))
		fprintf(d->out, ",\"name\":\"%s\"", item_name(d, p));
	fputs("}\n", d->out);
}

/* Is this one to be shown or counted? Takes it off the limit. */
static bool wanted(struct vpt_dump *d, uint64_t offset)
{
	if (offset < d->offset || !d->limit)
		return false;
	d->limit--;
	return true;
}

void vpt_dump_packet(struct vpt_dump *d, uint64_t offset, const struct vpt_packet *packet,
		     const uint64_t *ip)
{
	if (packet->kind == VPT_PKT_BBP)
		d->block = (uint8_t)packet->value;
	if (!wanted(d, offset))
		return;
	d->packets[packet->kind]++;
	d->bytes[packet->kind] += packet->size;
	if (d->summary)
		return;
	if (d->json)
		json_packet(d, offset, packet, ip);
	else
		text_packet(d, offset, packet, ip);
}

void vpt_dump_lost(struct vpt_dump *d, uint64_t offset, enum vpt_dump_loss loss,
		   const uint8_t *bytes, uint64_t len)
{
	static const char *const text[] = {
		[VPT_DUMP_BAD] = "no packet begins like this",
		[VPT_DUMP_CUT] = "the last packet is cut",
		[VPT_DUMP_CUT_OK] = "the last packet is cut, as this end may do",
	};
	uint64_t i;

	if (offset + len <= d->offset)
		return;
	d->lost += len;
	d->bad += loss != VPT_DUMP_CUT_OK;
	if (d->summary)
		return;
	if (d->json) {
		json_place(d, offset);
		fprintf(d->out, ",\"lost\":%" PRIu64 ",\"why\":\"%s\"}\n", len, text[loss]);
		return;
	}
	fprintf(d->out, "%08" PRIx64 "  ** %s: ", offset, text[loss]);
	for (i = 0; i < len && i < LOST_SHOWN; i++)
		fprintf(d->out, "%02x ", bytes[i]);
	fprintf(d->out, "%s(%" PRIu64 " bytes lost)\n", len > LOST_SHOWN ? "... " : "", len);
}

static const char *session_end(const struct vpt_session *end)
{
	static const char *const text[] = {
		[VPT_END_NONE] = "not told",
		[VPT_END_DISABLED] = "TraceEn was cleared",
		[VPT_END_TRACE_STOP] = "TraceStop",
		[VPT_END_TOPA_STOP] = "ToPA STOP",
		[VPT_END_ERROR] = "error",
		[VPT_END_CLOSED] = "the trace was closed",
		[VPT_END_LOST] = "what follows is lost",
	};

	if (!end)
		return "the file ends before it does";
	if (end->end == VPT_END_ERROR && end->error < VPT_OUT_ERR_COUNT)
		return vpt_output_error_text((enum vpt_output_error)end->error);
	return end->end < sizeof(text) / sizeof(text[0]) ? text[end->end] : "unknown";
}

void vpt_dump_session(struct vpt_dump *d, size_t number, const struct vpt_period *period)
{
	const char *end = session_end(period->end);

	if (d->summary || !d->limit || (period->end && period->end->offset < d->offset))
		return;
	if (d->json) {
		json_place(d, period->start->offset);
		fprintf(d->out, ",\"session\":%zu,\"ctl\":\"0x%" PRIx64 "\"", number,
			period->start->ctl);
		if (period->end)
			fprintf(d->out, ",\"end_offset\":%" PRIu64, period->end->offset);
		fprintf(d->out, ",\"ended\":\"%s\"}\n", end);
		return;
	}
	fprintf(d->out, "# vcpu %d, session %zu: CTL 0x%" PRIx64 ", from %" PRIx64, d->vcpu, number,
		period->start->ctl, period->start->offset);
	if (period->end)
		fprintf(d->out, " to %" PRIx64, period->end->offset);
	fprintf(d->out, ": %s\n", end);
}

/* Long and short TNT share a name; here they are apart. */
static const char *sum_name(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TNT_64 ? "TNT (long)" : vpt_pkt_name(kind);
}

static void json_summary(const struct vpt_dump *d, uint64_t packets, uint64_t bytes)
{
	const char *comma = "";
	unsigned int kind;

	fprintf(d->out, "{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"lost\":%" PRIu64, packets,
		bytes, d->lost);
	fputs(",\"kinds\":{", d->out);
	for (kind = 0; kind < VPT_PKT_COUNT; kind++) {
		if (!d->packets[kind])
			continue;
		fprintf(d->out, "%s\"%s\":{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", comma,
			sum_name((enum vpt_pkt_kind)kind), d->packets[kind], d->bytes[kind]);
		comma = ",";
	}
	fputs("}}\n", d->out);
}

void vpt_dump_summary(const struct vpt_dump *d)
{
	uint64_t packets = 0, bytes = 0;
	unsigned int kind;

	for (kind = 0; kind < VPT_PKT_COUNT; kind++) {
		packets += d->packets[kind];
		bytes += d->bytes[kind];
	}
	if (d->json) {
		json_summary(d, packets, bytes);
		return;
	}
	fprintf(d->out, "%-11s %14s %14s %7s\n", "kind", "packets", "bytes", "bytes%");
	for (kind = 0; kind < VPT_PKT_COUNT; kind++) {
		if (!d->packets[kind])
			continue;
		fprintf(d->out, "%-11s %14" PRIu64 " %14" PRIu64 " %7.1f\n",
			sum_name((enum vpt_pkt_kind)kind), d->packets[kind], d->bytes[kind],
			100.0 * (double)d->bytes[kind] / (double)(bytes + d->lost));
	}
	if (d->lost)
		fprintf(d->out, "%-11s %14s %14" PRIu64 " %7.1f\n", "in none", "", d->lost,
			100.0 * (double)d->lost / (double)(bytes + d->lost));
	fprintf(d->out, "%-11s %14" PRIu64 " %14" PRIu64 "\n", "all", packets, bytes + d->lost);
}
