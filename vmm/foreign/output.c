// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a foreign trace to a .vpt file: streams, then address spaces, then code. */
#include "foreign/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/output_state.h"
#include "trace/origin.h"
#include "trace/vec.h"

void foreign_info(const struct foreign_trace *t, struct trace_file_info *info)
{
	memset(info, 0, sizeof(*info));
	info->caps = t->caps;
	snprintf(info->model, sizeof(info->model), "%s", "foreign");
	snprintf(info->engine, sizeof(info->engine), "%s", t->program);
	info->owner = TRACE_OWNER_HOST;
	info->vcpus = (uint32_t)t->streams.n;
	info->tsc_hz = t->tsc_hz;
	info->tsc_multiplier = 1ull << 48;
}

int foreign_write_origin(const struct foreign_trace *t, const char *source, struct trace_writer *w)
{
	const char *slash = strrchr(source, '/');
	struct trace_origin origin = {
		.kind = t->kind,
		.flags = t->caps.signature ? TRACE_ORIGIN_HARDWARE : 0,
		.cpu = trace_cpu_of(t->caps.signature),
		.program = "vpt import",
	};

	if (t->report.truncated)
		origin.flags |= TRACE_ORIGIN_TRUNCATED;
	if (t->clock.known) {
		origin.flags |= TRACE_ORIGIN_TIME;
		origin.time_zero = t->clock.zero;
		origin.time_mult = (uint32_t)t->clock.mult;
		origin.time_shift = t->clock.shift;
	}
	snprintf(origin.source, sizeof(origin.source), "%s",
		 slash && slash[1] ? slash + 1 : source);
	return trace_writer_origin(w, &origin);
}

uint64_t foreign_counter(const struct foreign_output *o, unsigned int vcpu, uint64_t time)
{
	const struct foreign_marks *m = &o->marks[vcpu];
	size_t i = trace_vec_before(m->at, m->n, e, e->time < time);

	return i < m->n ? m->at[i].insns : UINT64_MAX;
}

static void output_free(struct foreign_output *o)
{
	size_t i;

	for (i = 0; o->marks && i < o->trace->streams.n; i++)
		free(o->marks[i].at);
	for (i = 0; o->visits && i < o->trace->streams.n; i++)
		free(o->visits[i].at);
	free(o->marks);
	free(o->visits);
	trace_pairs_free(&o->best);
	trace_pairs_free(&o->reused);
	trace_pairs_free(&o->ids);
	free(o->spaces.at);
	trace_pairs_free(&o->votes);
	trace_pairs_free(&o->pips);
	trace_pairs_free(&o->used);
	foreign_code_free(&o->code);
	foreign_tasks_free(&o->tasks);
}

int foreign_write(struct foreign_trace *t, const char *source, struct trace_writer *writer)
{
	struct foreign_output o = {.trace = t, .writer = writer};
	unsigned int vcpu;
	int err;

	if (!t->streams.n)
		return -ENODATA;
	foreign_sort(t);
	o.marks = calloc(t->streams.n, sizeof(*o.marks));
	o.visits = calloc(t->streams.n, sizeof(*o.visits));
	err = o.marks && o.visits ? foreign_code_init(&o.code, t, writer) : -ENOMEM;
	if (!err)
		err = foreign_tasks_follow(&o.tasks, t);
	for (vcpu = 0; vcpu < t->streams.n && !err; vcpu++)
		err = foreign_write_stream(&o, vcpu);
	if (!err)
		err = foreign_write_origin(t, source, writer);
	if (!err)
		err = foreign_write_spaces(&o);
	if (!err)
		err = foreign_write_reused(&o);
	if (!err)
		err = foreign_write_kernel(&o);
	if (!err)
		err = foreign_write_code(&o);
	if (!err)
		err = foreign_write_images(&o);
	t->report.streams = t->streams.n;
	t->report.pages = o.code.pages;
	t->report.spaces = o.spaces.n ? o.spaces.n - 1 : 0;
	output_free(&o);
	return err;
}
