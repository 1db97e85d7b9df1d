/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the report (vpt report): what report.c gathers and report_json.c writes. */
#ifndef VMM_FORMATS_REPORT_H
#define VMM_FORMATS_REPORT_H

#include "formats/format.h"
#include "formats/report_runs.h"
#include "formats/report_spans.h"
#include "formats/report_times.h"
#include "trace/pairs.h"

#define FORMAT_REPORT_BUCKETS 256u

/* The calls of a lane. */
struct format_report_lane {
	struct {
		struct format_report_span *at;
		size_t n, room;
	} open;
	struct format_report_kept kept;
	struct format_report_runs runs;
	bool ran; /* a call of it has begun or ended in the window */
};

struct format_report_event {
	uint64_t clock;
	bool timed;		  /* @tsc is valid */
	uint64_t tsc;		  /* the time of the packet of the event */
	struct format_instant of; /* without a name */
	char *text;		  /* of a mark; or NULL */
};

/* The events of one kind on one vCPU. */
struct format_report_series {
	const char *name;
	unsigned int vcpu, shift; /* a bucket has 2^shift instructions */
	uint64_t total, stride;	  /* each @stride-th event is kept */
	uint64_t bucket[FORMAT_REPORT_BUCKETS];
	struct {
		struct format_report_event *at;
		size_t n, room;
	} kept;
};

enum format_report_total {
	FORMAT_REPORT_OWN,
	FORMAT_REPORT_ALL,
	FORMAT_REPORT_CALLS,
	FORMAT_REPORT_TOTALS
};

struct format_report {
	struct {
		struct format_report_series *at;
		size_t n, room;
	} series;
	/* Of each vCPU. A window has the points around it. */
	struct format_report_times *times;
	struct format_report_spans spans;
	struct trace_pairs funcs;	     /* (function, 0) to its number */
	struct trace_pairs totals;	     /* (number of a function, enum format_report_total) */
	struct format_report_served *served; /* NULL: the page is a file */
	const struct format_report_window *window; /* NULL: the page */
};

/* run->own of format_type_report before begin(), or NULL: what a server of the page keeps. */
struct format_report_served {
	struct format_report_code *code; /* the caller closes it */
	uint64_t *starts;		 /* all functions, sorted; the caller frees it */
	size_t nstarts;
};

/* run->own of format_type_window before begin(): the instructions that the walk's cut has. */
struct format_report_window {
	uint64_t from, to;
	bool cuts_from, cuts_to; /* an edge is one of the page, where calls are cut */
};

/* The page, and the calls and events of a part of one vCPU as JSON. */
extern const struct format_type format_type_report, format_type_window;

/* The parts of the page, which are files of vmm/report, with their ends. */
extern const char format_page_head[], format_page_head_end[];
extern const char format_page_style[], format_page_style_end[];
extern const char format_page_data[], format_page_data_end[];
extern const char format_page_time[], format_page_time_end[];
extern const char format_page_detail[], format_page_detail_end[];
extern const char format_page_runs[], format_page_runs_end[];
extern const char format_page_rows[], format_page_rows_end[];
extern const char format_page_script[], format_page_script_end[];

/* Write a text as a JSON string that no HTML parser interprets. */
void format_report_string(FILE *out, const char *text);
/* Write what the file says of itself, as two members of an object. */
void format_report_facts(const struct format_run *run);
/* Return the first address of the next function behind @start, or UINT64_MAX. */
uint64_t format_report_limit(const struct format_report *r, uint64_t start);
/* Write the events as a member of an object. Returns 0 or -ENOMEM. */
int format_report_events(const struct format_run *run);
/* Write the instructions of the hottest functions. Returns 0 or -errno. */
int format_report_hottest(struct format_run *run);
/* Write the page. Returns 0 or -errno. */
int format_report_write(struct format_run *run);
/* Write what a window has. Returns 0 or -ENOMEM. */
int format_report_write_window(struct format_run *run);

#endif /* VMM_FORMATS_REPORT_H */
