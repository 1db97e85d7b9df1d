/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls that the page of vpt report has. Their number has a limit. A vCPU is divided into 256 cells
 * of equal length, and each cell has the longest of the calls that begin in it. Thus every part of
 * a trace has calls to zoom into, and not only those parts with the longest calls.
 */
#ifndef VMM_FORMATS_REPORT_SPANS_H
#define VMM_FORMATS_REPORT_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A call. Its end and its beginning are instruction numbers of its vCPU. */
struct format_report_span {
	uint64_t func, begin, end;
	uint16_t depth;
	uint8_t cut; /* 1: the beginning is not in the trace, 2: the end is not */
};

/* The calls of a lane. */
struct format_report_kept {
	unsigned int vcpu;
	struct format_report_span *at;
	size_t n, room;
	uint64_t omitted; /* the number of calls that were not kept */
};

struct format_report_cells;

struct format_report_spans {
	size_t max;    /* the maximum number of calls */
	uint64_t base; /* the clock at which the cells begin */
	size_t n;      /* the number of kept calls */
	struct {
		struct format_report_kept **at;
		size_t n, room;
	} lanes;
	struct format_report_cells **vcpus; /* NULL: no call yet */
	unsigned int nvcpus;
};

/* Set up for a number of vCPUs. Returns 0 or -ENOMEM. */
int format_report_spans_begin(struct format_report_spans *s, unsigned int vcpus, size_t max,
			      uint64_t base);
void format_report_spans_free(struct format_report_spans *s);

/* Add a lane, which the caller frees after the spans. Returns 0 or -ENOMEM. */
int format_report_spans_lane(struct format_report_spans *s, struct format_report_kept *lane);

/* Keep a call, or count it as omitted. Returns 0 or -ENOMEM. */
int format_report_spans_add(struct format_report_spans *s, struct format_report_kept *lane,
			    const struct format_report_span *span);

/*
 * Return the least number of instructions of which a cell has all calls. The cell is that of @clock. 0
 * if all calls are kept.
 */
uint64_t format_report_spans_least(const struct format_report_spans *s, unsigned int vcpu,
				   uint64_t clock);

/* Return the maximum of these numbers. */
uint64_t format_report_spans_most(const struct format_report_spans *s);

/* Write the numbers of all cells as a list of JSON, with an object for each vCPU. */
void format_report_spans_write(const struct format_report_spans *s, FILE *out);

#endif /* VMM_FORMATS_REPORT_SPANS_H */
