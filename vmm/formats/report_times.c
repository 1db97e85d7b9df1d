// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep the times of the instructions of each vCPU for vpt report. Between two of them the page
 * interpolates.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/report.h"
#include "trace/vec.h"

static struct format_report_times *times_of(struct format_report *r, unsigned int vcpu)
{
	struct format_report_times *t;

	/* The walk passes one vCPU after the other. */
	if (r->times.n && r->times.at[r->times.n - 1].vcpu == vcpu)
		return &r->times.at[r->times.n - 1];
	if (!trace_vec_room(&r->times))
		return NULL;
	t = &r->times.at[r->times.n++];
	*t = (struct format_report_times){.vcpu = vcpu, .stride = 1};
	return t;
}

int format_report_time(struct format_run *run, uint64_t tsc)
{
	struct format_report_times *t = times_of(run->own, run->vcpu);
	size_t i;

	if (!t)
		return -ENOMEM;
	/* A TSC that was written can fall. Then the axis begins anew, and this time is left out. */
	if (t->total && (tsc < t->last.tsc || (tsc == t->last.tsc && run->clock == t->last.clock)))
		return 0;
	t->last = (struct format_report_time){run->clock, tsc};
	if (t->total++ % t->stride)
		return 0;
	if (!trace_vec_room(&t->kept))
		return -ENOMEM;
	t->kept.at[t->kept.n++] = t->last;
	if (t->kept.n <= FORMAT_REPORT_TIMES)
		return 0;
	for (i = 0; 2 * i < t->kept.n; i++)
		t->kept.at[i] = t->kept.at[2 * i];
	t->kept.n = i;
	t->stride *= 2;
	return 0;
}

void format_report_times_free(struct format_report *r)
{
	size_t i;

	for (i = 0; i < r->times.n; i++)
		free(r->times.at[i].kept.at);
	free(r->times.at);
}

static void write_time(FILE *out, const struct format_report_time *t, uint64_t first, bool comma)
{
	fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", comma ? "," : "", t->clock, t->tsc - first);
}

void format_report_write_times(const struct format_run *run)
{
	const struct format_report *r = run->own;
	uint64_t first = UINT64_MAX;
	size_t i, k;

	/* TSCs are larger than a number of JavaScript, so they count from the first one. */
	for (i = 0; i < r->times.n; i++)
		if (r->times.at[i].kept.at[0].tsc < first)
			first = r->times.at[i].kept.at[0].tsc;
	fprintf(run->out, ",\"hz\":%" PRIu64 ",\"tsc\":\"0x%" PRIx64 "\",\"times\":[",
		trace_reader_info(run->reader)->tsc_hz, r->times.n ? first : 0);
	for (i = 0; i < r->times.n; i++) {
		const struct format_report_times *t = &r->times.at[i];

		fprintf(run->out, "%s{\"vcpu\":%u,\"points\":[", i ? "," : "", t->vcpu);
		for (k = 0; k < t->kept.n; k++)
			write_time(run->out, &t->kept.at[k], first, k != 0);
		if (t->kept.at[k - 1].clock != t->last.clock ||
		    t->kept.at[k - 1].tsc != t->last.tsc)
			write_time(run->out, &t->last, first, true);
		fputs("]}", run->out);
	}
	putc(']', run->out);
}
