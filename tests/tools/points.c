// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes a trace from its POINT entries with libvptdecode, and compares each result with the
 * end of what is decoded from the beginning.
 *
 * usage: points FILE
 *
 * Prints "points N, started at M". The state that a decoder starts with is that of the entry:
 * address space, mode, place. Code must not change during the trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/vptdecode.h"
#include "trace/reader.h"
#include "trace/vec.h"

#define STARTS_MAX 64

struct run {
	struct trace_reader *reader;
	struct {
		uint64_t *at;
		size_t n, room;
	} ips;
	unsigned int errors;
	/* The decoder reports these of the first PSB+. */
	struct trace_psb_point seen;
};

static int fail(const char *what, uint64_t offset)
{
	fprintf(stderr, "points: at byte %llu: %s\n", (unsigned long long)offset, what);
	return 1;
}

static void on_run(void *context, const struct vptd_run *ran)
{
	struct run *run = context;
	uint64_t ip = ran->ip;
	uint32_t i;

	for (i = 0; i < ran->count && trace_vec_room(&run->ips); i++) {
		run->ips.at[run->ips.n++] = ip;
		ip += ran->lens[i];
	}
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct run *run = context;
	struct trace_psb_point *seen = &run->seen;

	run->errors += event->kind == VPTD_EVENT_ERROR;
	if (run->ips.n || seen->flags & TRACE_POINT_IP)
		return;
	if (event->kind == VPTD_EVENT_SYNC && event->flags & VPTD_EV_TO) {
		seen->flags |= TRACE_POINT_IP;
		seen->ip = event->to;
	} else if (event->kind == VPTD_EVENT_PAGING) {
		seen->cr3 = event->value;
	} else if (event->kind == VPTD_EVENT_EXEC_MODE) {
		seen->mode = (uint8_t)event->value;
	}
}

static uint64_t on_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	(void)vmcs;
	return (cr3 & ~0xfffull) | (unsigned int)nr;
}

static int on_fetch(void *context, uint64_t space, uint64_t address, uint64_t *key, uint8_t *bytes)
{
	const struct run *run = context;
	const struct trace_code *code;
	size_t n, i;

	(void)key;
	code = trace_reader_code(run->reader, 0, &n);
	for (i = 0; i < n; i++) {
		if (code[i].page->vaddr != address || code[i].page->cr3 != space)
			continue;
		memcpy(bytes, code[i].bytes, TRACE_CODE_BYTES);
		return 1;
	}
	return 0;
}

/* Decode the stream from @at on. Returns false if there is no memory. */
static int decode(struct run *run, uint64_t at, uint64_t space, unsigned int mode)
{
	static const struct vptd_ops ops = {.size = sizeof(ops),
					    .event = on_event,
					    .run = on_run,
					    .space = on_space,
					    .fetch = on_fetch};
	struct vptd_config config = {.size = sizeof(config), .flags = VPTD_CTL};
	enum vptd_status status;
	struct vptd_decoder *d;
	const uint8_t *stream;
	size_t len, n;

	config.ctl = trace_reader_sessions(run->reader, 0, &n)->start->ctl;
	stream = trace_reader_stream(run->reader, 0, &len);
	run->ips.n = run->errors = 0;
	run->seen = (struct trace_psb_point){0};
	d = vptd_new(&config, &ops, run, &status);
	if (!d)
		return 0;
	status = vptd_begin(d, space, mode);
	if (!status)
		status = vptd_push(d, stream + at, len - at);
	if (!status)
		status = vptd_finish(d);
	vptd_free(d);
	return status == VPTD_OK;
}

static int check(const struct trace_psb_point *point, const struct run *part, const struct run *all)
{
	if (part->errors)
		return fail("it cannot be decoded from here", point->offset);
	if (part->seen.ip != point->ip || part->seen.cr3 != point->cr3 ||
	    part->seen.mode != point->mode)
		return fail("the state is another", point->offset);
	/* An interrupt can come before the instruction at point->ip. */
	if (!part->ips.n || part->ips.n > all->ips.n ||
	    memcmp(all->ips.at + all->ips.n - part->ips.n, part->ips.at,
		   part->ips.n * sizeof(*part->ips.at)))
		return fail("the instructions are others", point->offset);
	return 0;
}

int main(int argc, char **argv)
{
	const struct trace_psb_point *points;
	struct run all = {0}, part = {0};
	size_t n, i, step, starts = 0;
	char why[160];
	int err = 0;

	if (argc != 2 || trace_reader_open(argv[1], &all.reader, why, sizeof(why)))
		return fail("no such trace", 0);
	part.reader = all.reader;
	points = trace_reader_points(all.reader, 0, &n);
	if (!n || !decode(&all, points->offset, points->space, 64) || all.errors)
		return fail("the whole cannot be decoded", 0);
	step = n / STARTS_MAX + 1;
	for (i = 0; i < n && !err; i += step) {
		const struct trace_psb_point *p = &points[i];
		const int has_cr3 = p->flags & TRACE_POINT_CR3;

		if (trace_reader_point_before(all.reader, 0, p->offset) != p)
			err = fail("there is no PSB", p->offset);
		if (err || !(p->flags & TRACE_POINT_IP) || !(p->flags & TRACE_POINT_MODE))
			continue;
		if (!decode(&part, p->offset, (has_cr3 ? p->cr3 : p->space) & ~0xfffull, p->mode))
			err = fail("no memory", p->offset);
		else
			err = check(p, &part, &all);
		starts++;
	}
	printf("points %zu, started at %zu\n", n, starts);
	free(all.ips.at);
	free(part.ips.at);
	trace_reader_close(all.reader);
	return err;
}
