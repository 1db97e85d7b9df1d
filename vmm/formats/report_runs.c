// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep at most so many intervals: those that are nearest to each other become one. */
#include "formats/report_runs.h"

#include <errno.h>

#include "trace/vec.h"

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The distance between two intervals that half of all do not exceed. */
static uint64_t median(const struct format_report_runs *runs)
{
	uint64_t gaps[FORMAT_REPORT_RUNS_MAX];
	size_t i;

	for (i = 1; i < runs->n; i++)
		gaps[i - 1] = runs->at[i].begin - runs->at[i - 1].end;
	qsort(gaps, runs->n - 1, sizeof(gaps[0]), compare);
	return gaps[(runs->n - 1) / 2];
}

/* Join what is no further apart than @runs->gap. */
static void join(struct format_report_runs *runs)
{
	size_t i, n = 0;

	for (i = 1; i < runs->n; i++) {
		if (runs->at[i].begin - runs->at[n].end <= runs->gap)
			runs->at[n].end = runs->at[i].end;
		else
			runs->at[++n] = runs->at[i];
	}
	runs->n = n + 1;
}

int format_report_runs_add(struct format_report_runs *runs, uint64_t begin, uint64_t end)
{
	if (begin >= end)
		return 0;
	if (runs->n && begin - runs->at[runs->n - 1].end <= runs->gap) {
		runs->at[runs->n - 1].end = end;
		return 0;
	}
	if (!trace_vec_room(runs))
		return -ENOMEM;
	runs->at[runs->n++] = (struct format_report_run){begin, end};
	if (runs->n > FORMAT_REPORT_RUNS_MAX) {
		runs->gap = median(runs);
		join(runs);
	}
	return 0;
}
