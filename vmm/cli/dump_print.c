// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints packets, losses, sessions and sums, as text or as JSON. */
#include "cli/dump.h"

#include <inttypes.h>

#include "trace/session_end.h"

/* Number of bytes of a loss that are shown. */
#define LOST_SHOWN 8

static void text_packet(const struct cli_dump *d, uint64_t offset, const struct cli_dump_item *item)
{
	const int columns = d->system->columns;
	char text[128];

	d->system->text(text, sizeof(text), item);
	fprintf(d->out, "%08" PRIx64 "  ", offset);
	if (item->has_ip && item->ip_known)
		fprintf(d->out, "%-*s  %016" PRIx64 "\n", columns, text, item->ip);
	else if (item->has_ip || item->note)
		fprintf(d->out, "%-*s  %s\n", columns, text, item->note ? item->note : "?");
	else
		fprintf(d->out, "%s\n", text);
}

static void json_place(const struct cli_dump *d, uint64_t offset)
{
	fputs("{", d->out);
	if (d->vcpu != CLI_DUMP_RAW)
		fprintf(d->out, "\"vcpu\":%d,", d->vcpu);
	fprintf(d->out, "\"offset\":%" PRIu64, offset);
}

void cli_dump_json_outcomes(FILE *out, uint64_t outcomes, unsigned int count)
{
	unsigned int i;

	fputs(",\"outcomes\":\"", out);
	for (i = count; i-- > 0;)
		fputc(outcomes >> i & 1 ? '1' : '0', out);
	fputs("\"", out);
}

static void json_packet(const struct cli_dump *d, uint64_t offset, const struct cli_dump_item *item)
{
	json_place(d, offset);
	d->system->json(d->out, item);
	if (item->has_ip && item->ip_known)
		fprintf(d->out, ",\"ip\":\"0x%" PRIx64 "\"", item->ip);
	if (item->note)
		fprintf(d->out, ",\"name\":\"%s\"", item->note);
	fputs("}\n", d->out);
}

/* Returns true if the packet at @offset is to be shown or counted. Decrements the limit. */
static bool wanted(struct cli_dump *d, uint64_t offset)
{
	if (offset < d->offset || !d->limit)
		return false;
	d->limit--;
	return true;
}

void cli_dump_packet(struct cli_dump *d, uint64_t offset, const struct cli_dump_item *item)
{
	if (!wanted(d, offset))
		return;
	d->packets[item->kind]++;
	d->bytes[item->kind] += item->size;
	if (d->summary)
		return;
	if (d->json)
		json_packet(d, offset, item);
	else
		text_packet(d, offset, item);
}

void cli_dump_lost(struct cli_dump *d, uint64_t offset, enum cli_dump_loss loss,
		   const uint8_t *bytes, uint64_t len)
{
	static const char *const text[] = {
		[CLI_DUMP_BAD] = "no packet begins like this",
		[CLI_DUMP_CUT] = "the last packet is cut",
		[CLI_DUMP_CUT_OK] = "the last packet is cut, as this end may do",
	};
	uint64_t i;

	if (offset + len <= d->offset)
		return;
	d->lost += len;
	d->bad += loss != CLI_DUMP_CUT_OK;
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

static const char *end_text(const struct cli_dump *d, const struct trace_period *period)
{
	return trace_session_end_text(period->end ? period->end->end : TRACE_END_NONE,
				      d->system == &cli_dump_atom);
}

static bool shows_sessions(const struct cli_dump *d, const struct trace_period *period)
{
	return !d->summary && d->limit && !(period->end && period->end->offset < d->offset);
}

static void json_session(const struct cli_dump *d, size_t number, const struct trace_period *period)
{
	json_place(d, period->start->offset);
	fprintf(d->out, ",\"session\":%zu,\"ctl\":\"0x%" PRIx64 "\"", number, period->start->ctl);
	if (period->end)
		fprintf(d->out, ",\"end_offset\":%" PRIu64, period->end->offset);
	fprintf(d->out, ",\"end\":\"%s\"", end_text(d, period));
	if (period->end && trace_session_error_text(period->end))
		fprintf(d->out, ",\"error\":\"%s\"", trace_session_error_text(period->end));
	if (d->system->json_registers)
		d->system->json_registers(d->out, period);
	fputs("}\n", d->out);
}

void cli_dump_session(struct cli_dump *d, size_t number, const struct trace_period *period)
{
	if (!shows_sessions(d, period))
		return;
	if (d->json) {
		json_session(d, number, period);
		return;
	}
	fprintf(d->out, "# vcpu %d, session %zu: CTL 0x%" PRIx64 ", from %" PRIx64, d->vcpu, number,
		period->start->ctl, period->start->offset);
	if (period->end)
		fprintf(d->out, " to %" PRIx64, period->end->offset);
	fprintf(d->out, ": %s", end_text(d, period));
	if (period->end && trace_session_error_text(period->end))
		fprintf(d->out, ": %s", trace_session_error_text(period->end));
	fputc('\n', d->out);
	if (d->system->registers)
		d->system->registers(d->out, period, false);
}

void cli_dump_session_end(struct cli_dump *d, size_t number, const struct trace_period *period)
{
	if (!d->system->registers || d->json || !period->end || !shows_sessions(d, period))
		return;
	fprintf(d->out, "# vcpu %d, session %zu, what its end has changed:\n", d->vcpu, number);
	d->system->registers(d->out, period, true);
}

static void json_summary(const struct cli_dump *d, uint64_t packets, uint64_t bytes)
{
	const char *comma = "";
	unsigned int kind;

	fprintf(d->out, "{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"lost\":%" PRIu64, packets,
		bytes, d->lost);
	fputs(",\"kinds\":{", d->out);
	for (kind = 0; kind < d->system->kinds; kind++) {
		if (!d->packets[kind])
			continue;
		fprintf(d->out, "%s\"%s\":{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", comma,
			d->system->name(kind), d->packets[kind], d->bytes[kind]);
		comma = ",";
	}
	fputs("}}\n", d->out);
}

void cli_dump_summary(const struct cli_dump *d)
{
	uint64_t packets = 0, bytes = 0;
	unsigned int kind;

	for (kind = 0; kind < d->system->kinds; kind++) {
		packets += d->packets[kind];
		bytes += d->bytes[kind];
	}
	if (d->json) {
		json_summary(d, packets, bytes);
		return;
	}
	fprintf(d->out, "%-11s %14s %14s %7s\n", "kind", "packets", "bytes", "bytes%");
	for (kind = 0; kind < d->system->kinds; kind++) {
		if (!d->packets[kind])
			continue;
		fprintf(d->out, "%-11s %14" PRIu64 " %14" PRIu64 " %7.1f\n", d->system->name(kind),
			d->packets[kind], d->bytes[kind],
			100.0 * (double)d->bytes[kind] / (double)(bytes + d->lost));
	}
	if (d->lost)
		fprintf(d->out, "%-11s %14s %14" PRIu64 " %7.1f\n", "in none", "", d->lost,
			100.0 * (double)d->lost / (double)(bytes + d->lost));
	fprintf(d->out, "%-11s %14" PRIu64 " %14" PRIu64 "\n", "all", packets, bytes + d->lost);
}
