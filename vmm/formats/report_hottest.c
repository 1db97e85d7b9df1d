// SPDX-License-Identifier: GPL-2.0-or-later
/* Select the functions of which the page of vpt report has the instructions, and write them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/report.h"
#include "formats/report_code.h"
#include "formats/report_source.h"

#define FUNCTIONS_MAX 40u
#define ROWS_EACH     1000u
#define ROWS_MAX      16000u

struct hot {
	uint64_t start, own;
	size_t number; /* in the page */
};

static int by_own(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* List all functions, those with the most instructions first. NULL: there is no memory. */
static struct hot *list(const struct format_report *r)
{
	struct hot *hot = calloc(r->funcs.n + 1, sizeof(*hot));
	size_t i;

	for (i = 0; hot && i < r->funcs.n; i++) {
		const struct trace_pair *own = trace_pairs_find(&r->totals, i, FORMAT_REPORT_OWN);

		hot[i] = (struct hot){r->funcs.at[i].a, own ? own->value : 0, i};
	}
	if (hot)
		qsort(hot, r->funcs.n, sizeof(*hot), by_own);
	return hot;
}

uint64_t format_report_limit(const struct format_report *r, uint64_t start)
{
	uint64_t limit = UINT64_MAX;
	size_t i;

	for (i = 0; i < r->funcs.n; i++)
		if (r->funcs.at[i].a > start && r->funcs.at[i].a < limit)
			limit = r->funcs.at[i].a;
	return limit;
}

int format_report_hottest(struct format_run *run)
{
	const struct format_report *r = run->own;
	struct hot *hot = list(r);
	const struct format_source_dirs *dirs = run->walk->source;
	struct format_report_source *source = dirs ? format_report_source_new(dirs) : NULL;
	struct format_report_code *code = NULL;
	unsigned int left = ROWS_MAX, wrote;
	size_t i;
	int err = hot && (source || !dirs) ? format_report_code_open(run->walk, &code) : -ENOMEM;

	fputs(",\"code\":[", run->out);
	for (i = 0; !err && left && i < r->funcs.n && i < FUNCTIONS_MAX && hot[i].own; i++) {
		fprintf(run->out, "%s{\"function\":%zu,", i ? "," : "", hot[i].number);
		err = format_report_code_write(code, source, run->out, hot[i].start,
					       format_report_limit(r, hot[i].start),
					       left < ROWS_EACH ? left : ROWS_EACH, &wrote);
		putc('}', run->out);
		left -= err ? 0 : wrote;
	}
	putc(']', run->out);
	if (source) {
		fputs(",\"source\":", run->out);
		format_report_source_write(source, run->out);
	}
	format_report_source_free(source);
	if (r->served)
		r->served->code = code;
	else
		format_report_code_close(code);
	free(hot);
	return err;
}
