// SPDX-License-Identifier: GPL-2.0-or-later
/* Write marks of the guest and of the monitor to the trace file. */
#include "core/mark.h"
#include "core/vcpu.h"
#include "trace/writer.h"

void core_mark_put(struct core_vcpu *v, enum core_mark_by by, const char *text, size_t len)
{
	struct tracer_recorder *rec = &v->tracer.recorder;
	struct trace_user_mark mark = {
		.insns = rec->insns,
		.tsc = engine_time_tsc(&v->ev->time, v->ev->retired),
		.value = v->ev->retired,
		.kind = by,
		.len = (uint32_t)len,
	};

	/* A full file must not grow until the run ends. */
	if (!tracer_recorder_records(rec) || tracer_recorder_at_limit(rec))
		return;
	tracer_recorder_note(rec, trace_writer_mark(rec->writer, v->index, &mark, text));
}

void core_mark_write(struct core_vcpu *v, uint8_t byte)
{
	struct core_marks *marks = &v->marks;

	/* A wide access pads its text with zeros. */
	if (!byte && !marks->len)
		return;
	if (byte && byte != '\n') {
		if (marks->len < CORE_MARK_TEXT)
			marks->text[marks->len++] = (char)byte;
		return;
	}
	if (marks->count < CORE_MARK_MOST) {
		marks->count++;
		core_mark_put(v, CORE_MARK_BY_GUEST, marks->text, marks->len);
		if (v->vm->hooks.marked)
			v->vm->hooks.marked(v->vm->hooks.opaque, marks->text, marks->len);
	}
	marks->len = 0;
}
