// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks the records of perf.data. */
#include <errno.h>
#include <stdlib.h>

#include "foreign/perf_file.h"

#define HEADER	    8u
#define RECORD_MOST 65535u
#define AUX_HEADER  56u /* size of an AUXTRACE record with its header */

static bool read_head(struct span *s, struct perf_record *r, uint16_t *size)
{
	r->type = span_u32(s);
	span_copy(s, &r->misc, sizeof(r->misc));
	span_copy(s, size, sizeof(*size));
	return *size >= HEADER;
}

int perf_walk_bytes(struct perf_file *f, size_t source, const uint8_t *bytes, size_t len,
		    size_t *used)
{
	int err = 0;

	*used = 0;
	while (!err && len - *used >= HEADER) {
		struct perf_record r = {.source = source, .packed = true};
		struct span s = {bytes + *used, HEADER, false};
		uint16_t size;

		if (!read_head(&s, &r, &size)) {
			f->damage = "a compressed record has no size";
			return 0;
		}
		if (size > len - *used)
			return 0;
		r.body = (struct span){bytes + *used + HEADER, size - HEADER, false};
		err = perf_record_take(f, &r);
		*used += size;
		if (f->damage)
			return err;
	}
	return err;
}

/* Return the number of bytes behind a record that belong to it. */
static uint64_t behind(const struct perf_record *r)
{
	struct span body = r->body;

	if (r->type == REC_AUXTRACE)
		return span_u64(&body);
	/* These data are the events' formats for other tools. */
	if (r->type == REC_TRACING_DATA)
		return (span_u32(&body) + 7ull) & ~7ull;
	return 0;
}

static int walk_source(struct perf_file *f, size_t source, uint64_t at, uint64_t end)
{
	struct trace_source *from = &f->trace->sources.at[source];
	uint8_t *bytes = malloc(RECORD_MOST);
	int err = bytes ? 0 : -ENOMEM;

	while (!err && at < end && !f->damage) {
		struct perf_record r = {.source = source};
		struct span s = {bytes, HEADER, false};
		uint64_t more;
		uint16_t size;

		f->where = at;
		if (end - at < HEADER || trace_source_read(from, at, bytes, HEADER)) {
			f->damage = "the file ends within a record";
			break;
		}
		if (!read_head(&s, &r, &size) || size > end - at ||
		    trace_source_read(from, at + HEADER, bytes + HEADER, size - HEADER)) {
			f->damage = size < HEADER ? "a record has no size"
						  : "the file ends within a record";
			break;
		}
		r.body = (struct span){bytes + HEADER, size - HEADER, false};
		r.behind = at += size;
		more = behind(&r);
		if (more > end - at) {
			f->damage = "the file ends within trace";
			break;
		}
		err = perf_record_take(f, &r);
		at += more;
	}
	free(bytes);
	return err;
}

int perf_walk(struct perf_file *f)
{
	const char *incomplete = f->damage;
	size_t i;
	int err;

	f->damage = NULL;
	err = walk_source(f, 0, f->data, f->end);
	/* Walk the other files of a directory, one for each thread of perf. */
	for (i = 1; i < f->trace->sources.n && !err; i++)
		err = walk_source(f, i, 0, f->trace->sources.at[i].size);
	if (!f->damage && incomplete) {
		f->damage = incomplete;
		f->where = f->end;
	}
	return err;
}
