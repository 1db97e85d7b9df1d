// SPDX-License-Identifier: GPL-2.0-or-later
/* Implement what libvpt's trace unit asks of its host: guest RAM, the context, the time. */
#include "pt/tracer_host.h"

#include "pt/tracer_session.h"

static struct tracer *of(void *opaque)
{
	return opaque;
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	return x86_mem_read(of(opaque)->config.mem, gpa, dst, len);
}

static void wrote(const struct tracer *t, uint64_t gpa, size_t len)
{
	if (t->config.wrote)
		t->config.wrote(t->config.opaque, gpa, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct tracer *t = of(opaque);

	if (!x86_mem_write(t->config.mem, gpa, src, len)) {
		tracer_recorder_set(&t->recorder, TRACER_RECORDER_REFUSED,
				    !t->unit.ops->ends_refused);
		return false;
	}
	wrote(t, gpa, len);
	return true;
}

static void *mem_map(void *opaque, uint64_t gpa, size_t *len)
{
	const struct x86_mem *mem = of(opaque)->config.mem;
	uint64_t at, room = x86_mem_room(mem, gpa, &at);

	if (!room)
		return NULL;
	if (*len > room)
		*len = (size_t)room;
	return mem->host + at;
}

/* Record the bytes as the guest finds them in its buffer. */
static void mem_committed(void *opaque, uint64_t gpa, size_t len)
{
	struct tracer *t = of(opaque);

	wrote(t, gpa, len);
	tracer_recorder_trace(&t->recorder, gpa, x86_mem_at(t->config.mem, gpa, len), len);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	tracer_context(of(opaque), ctx);
}

static void clock_now(void *opaque, struct vpt_clock *now)
{
	const struct tracer_config *config = &of(opaque)->config;
	struct vpt_context ctx;

	if (config->clock) {
		config->clock(config->opaque, now);
	} else {
		context(opaque, &ctx);
		now->cycles = now->tsc = ctx.tsc;
	}
}

static bool keeps_due(void *opaque, bool whole)
{
	const struct tracer_config *config = &of(opaque)->config;

	return config->keeps_due && config->keeps_due(config->opaque, whole);
}

static void pmi(void *opaque)
{
	of(opaque)->config.pmi(of(opaque)->config.opaque);
}

static void trigger(void *opaque, bool trigger_en)
{
	if (trigger_en)
		tracer_session_rise(of(opaque));
	else
		tracer_session_fall(of(opaque));
}

void tracer_host_stream(void *opaque, const void *bytes, size_t len)
{
	tracer_recorder_trace(&of(opaque)->recorder, UINT64_MAX, bytes, len);
}

const struct vpt_pt_ops *tracer_ops(void)
{
	static const struct vpt_pt_ops ops = {
		.mem =
			{
				.read = mem_read,
				.write = mem_write,
				.map = mem_map,
				.committed = mem_committed,
			},
		.context = context,
		.pmi = pmi,
		.trigger = trigger,
		.clock = clock_now,
		.keeps_due = keeps_due,
	};

	return &ops;
}
