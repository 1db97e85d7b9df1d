// SPDX-License-Identifier: GPL-2.0-or-later
/* Gather the known times of a vCPU for vpt report, and thin them out. */
#include "formats/report_times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/vec.h"

/* With more points in memory, they are thinned out to half of this number. */
#define POINTS_MAX ((size_t)1 << 20)

int format_report_times_add(struct format_report_times *t, uint64_t clock,
			    const struct decode_when *when)
{
	const uint64_t tsc = when->tsc > t->last ? when->tsc : t->last;

	/* Relative times of two segments have no relation. */
	if (when->relative)
		return 0;
	/* Instructions after the latest time are not known to have it. */
	if (t->known && tsc == t->last)
		return 0;
	if (!t->known++)
		t->first = tsc;
	t->last = tsc;
	/* The begin and the end of a sleep suffice. */
	if (t->n > 1 && t->at[t->n - 2].clock == clock) {
		t->at[t->n - 1].tsc = tsc;
		return 0;
	}
	if (t->n == POINTS_MAX)
		format_report_times_thin(t, POINTS_MAX / 2);
	if (!trace_vec_room(t))
		return -ENOMEM;
	t->at[t->n++] = (struct format_report_time){clock, tsc};
	return 0;
}

/* The slopes of lines from @from that are near all points up to the last. */
struct cone {
	struct format_report_time from;
	double low, high;
};

static void cone_begin(struct cone *cone, struct format_report_time from)
{
	*cone = (struct cone){from, 0, (double)UINT64_MAX};
}

/* Returns true if a line from the begin of the cone to @to is near all points between. */
static bool cone_has(struct cone *cone, struct format_report_time to, uint64_t error)
{
	const double insns = (double)(to.clock - cone->from.clock);
	const double ticks = (double)(to.tsc - cone->from.tsc), e = (double)error;

	if (to.clock == cone->from.clock)
		return to.tsc - cone->from.tsc <= error;
	if (ticks < cone->low * insns || ticks > cone->high * insns)
		return false;
	if ((ticks - e) / insns > cone->low)
		cone->low = (ticks - e) / insns;
	if ((ticks + e) / insns < cone->high)
		cone->high = (ticks + e) / insns;
	return true;
}

static bool same(const struct format_report_time *a, const struct format_report_time *b)
{
	return a->clock == b->clock && a->tsc == b->tsc;
}

/*
 * Find the ends of lines that are at most @error ticks away from all points, and write them to @to
 * if it is not NULL. It may be the array itself. Returns their number.
 */
static size_t ends(const struct format_report_times *t, uint64_t error,
		   struct format_report_time *to)
{
	struct format_report_time before = {0}, point = {0};
	struct cone cone = {0};
	size_t i, n = 0;

	for (i = 0; i < t->n; i++, before = point) {
		point = t->at[i];
		if (n && cone_has(&cone, point, error))
			continue;
		/* The line ends at the point before, and the next one begins there. */
		if (n && !same(&before, &cone.from)) {
			if (to)
				to[n] = before;
			n++;
			cone_begin(&cone, before);
			if (cone_has(&cone, point, error))
				continue;
		}
		if (to)
			to[n] = point;
		n++;
		cone_begin(&cone, point);
	}
	if (n && !same(&point, &cone.from)) {
		if (to)
			to[n] = point;
		n++;
	}
	return n;
}

void format_report_times_thin(struct format_report_times *t, size_t max)
{
	uint64_t error = 0;

	if (t->n <= max)
		return;
	while (ends(t, error, NULL) > max)
		error = error ? 2 * error : 1;
	t->n = ends(t, error, t->at);
	t->error += error;
}

void format_report_times_write(const struct format_report_times *t, FILE *out)
{
	struct format_report_time last = {.tsc = t->first};
	size_t i;

	fprintf(out,
		"{\"known\":%" PRIu64 ",\"error\":%" PRIu64 ",\"first\":\"0x%" PRIx64
		"\",\"points\":[",
		t->known, t->error, t->first);
	/* Differences have fewer digits. */
	for (i = 0; i < t->n; i++) {
		fprintf(out, "%s%" PRIu64 ",%" PRIu64, i ? "," : "", t->at[i].clock - last.clock,
			t->at[i].tsc - last.tsc);
		last = t->at[i];
	}
	fputs("]}", out);
}
