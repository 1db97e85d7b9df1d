// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the events of the page of vpt report: few ones as objects, and many as columns of numbers. */
#include <errno.h>
#include <inttypes.h>

#include "formats/report.h"
#include "formats/walk.h"

/* More events of a kind are in columns. */
#define OBJECTS_MAX 2000u

/* Write an event. @first is the first known time of its vCPU. */
static void write_event(FILE *out, const struct format_report_event *e, uint64_t first)
{
	fprintf(out, "{\"at\":%" PRIu64, e->clock);
	if (e->timed)
		fprintf(out, ",\"time\":%" PRIu64, e->tsc - first);
	if (e->of.has_from)
		fprintf(out, ",\"from\":\"0x%" PRIx64 "\"", e->of.from);
	if (e->of.has_to)
		fprintf(out, ",\"to\":\"0x%" PRIx64 "\"", e->of.to);
	if (e->of.has_value)
		fprintf(out, ",\"value\":\"0x%" PRIx64 "\"", e->of.value);
	if (e->of.has_tsc)
		fprintf(out, ",\"tsc\":\"0x%" PRIx64 "\"", e->of.tsc);
	if (e->text) {
		fputs(",\"text\":", out);
		format_report_string(out, e->text);
	}
	putc('}', out);
}

static void write_objects(FILE *out, const struct format_report_series *s, uint64_t first)
{
	size_t i;

	fputs(",\"list\":[", out);
	for (i = 0; i < s->kept.n; i++) {
		fputs(i ? "," : "", out);
		write_event(out, &s->kept.at[i], first);
	}
	putc(']', out);
}

/* The members that have addresses, which repeat. */
enum member { FROM, TO, VALUE, TSC, MEMBERS };
static const char *const member_name[MEMBERS] = {"from", "to", "value", "tsc"};

/* Returns true if an event has a member. */
static bool has_member(const struct format_report_event *e, enum member m, uint64_t *value)
{
	const struct format_instant *of = &e->of;

	switch (m) {
	case FROM:
		*value = of->from;
		return of->has_from;
	case TO:
		*value = of->to;
		return of->has_to;
	case VALUE:
		*value = of->value;
		return of->has_value;
	default:
		*value = of->tsc;
		return of->has_tsc;
	}
}

/* Write a member of all events: the number of its word from 1 on, or 0 if an event lacks it. */
static int write_member(FILE *out, const struct format_report_series *s, enum member m,
			struct trace_pairs *words)
{
	uint64_t value;
	size_t i;

	fprintf(out, ",\"%s\":[", member_name[m]);
	for (i = 0; i < s->kept.n; i++) {
		struct trace_pair *word = NULL;

		fputs(i ? "," : "", out);
		if (has_member(&s->kept.at[i], m, &value)) {
			word = trace_pairs_add(words, value, 0);
			if (!word)
				return -ENOMEM;
			if (!word->value)
				word->value = words->n;
		}
		fprintf(out, "%" PRIu64, word ? word->value : 0);
	}
	putc(']', out);
	return 0;
}

/* Write the places, as distances, and the times, of which -1 is none. */
static void write_places(FILE *out, const struct format_report_series *s, uint64_t first)
{
	uint64_t last = 0;
	size_t i;

	fputs("\"at\":[", out);
	for (i = 0; i < s->kept.n; i++) {
		fprintf(out, "%s%" PRIu64, i ? "," : "", s->kept.at[i].clock - last);
		last = s->kept.at[i].clock;
	}
	fputs("],\"time\":[", out);
	for (i = 0; i < s->kept.n; i++) {
		const struct format_report_event *e = &s->kept.at[i];

		if (e->timed)
			fprintf(out, "%s%" PRIu64, i ? "," : "", e->tsc - first);
		else
			fputs(i ? ",-1" : "-1", out);
	}
	putc(']', out);
}

static int write_columns(FILE *out, const struct format_report_series *s, uint64_t first)
{
	struct trace_pairs words = {0};
	int err = 0;
	size_t i;

	fputs(",\"columns\":{", out);
	write_places(out, s, first);
	for (i = 0; !err && i < MEMBERS; i++)
		err = write_member(out, s, (enum member)i, &words);
	fputs(",\"words\":[", out);
	for (i = 0; i < words.n; i++)
		fprintf(out, "%s\"0x%" PRIx64 "\"", i ? "," : "", words.at[i].a);
	fputs("]}", out);
	trace_pairs_free(&words);
	return err;
}

static bool has_text(const struct format_report_series *s)
{
	return s->kept.n && s->kept.at[0].text;
}

int format_report_events(const struct format_run *run)
{
	const struct format_report *r = run->own;
	size_t i, j;
	int err = 0;

	fputs(",\"events\":[", run->out);
	for (i = 0; !err && i < r->series.n; i++) {
		const struct format_report_series *s = &r->series.at[i];
		const uint64_t first = r->times[s->vcpu].first;

		fprintf(run->out,
			"%s{\"vcpu\":%u,\"total\":%" PRIu64 ",\"stride\":%" PRIu64
			",\"shift\":%u,\"name\":",
			i ? "," : "", s->vcpu, s->total, s->stride, s->shift);
		format_report_string(run->out, s->name);
		fputs(",\"buckets\":[", run->out);
		for (j = 0; j < FORMAT_REPORT_BUCKETS; j++)
			fprintf(run->out, "%s%" PRIu64, j ? "," : "", s->bucket[j]);
		putc(']', run->out);
		if (s->kept.n <= OBJECTS_MAX || has_text(s))
			write_objects(run->out, s, first);
		else
			err = write_columns(run->out, s, first);
		putc('}', run->out);
	}
	putc(']', run->out);
	return err;
}
