// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the bytes of a trace and its sessions to the .vpt file, up to the file's limit. */
#include "pt/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pt/code_pages.h"

int tracer_recorder_init(struct tracer_recorder *rec)
{
	static const bool never;

	rec->file_full = &never;
	if (!rec->writer) {
		rec->wants &= ~(uint32_t)(TRACER_RECORDER_ORACLE | TRACER_RECORDER_WORDS);
		return 0;
	}
	if (rec->wants & TRACER_RECORDER_WORDS && tracer_recorder_log_init(rec))
		return -ENOMEM;
	if (rec->wants & TRACER_RECORDER_PARTS) {
		rec->tail = calloc(1, TRACER_RECORDER_TAIL);
		if (!rec->tail)
			return -ENOMEM;
	}
	rec->file_full = trace_writer_full(rec->writer);
	rec->pages = tracer_code_pages_create();
	return rec->pages ? 0 : -ENOMEM;
}

int tracer_recorder_listen(struct tracer_recorder *rec, const struct tracer_live *live)
{
	if (!rec->writer) {
		tracer_code_pages_destroy(rec->pages);
		rec->pages = tracer_code_pages_create();
	}
	if (!rec->pages)
		return -ENOMEM;
	rec->live = live;
	return 0;
}

void tracer_recorder_free(struct tracer_recorder *rec)
{
	tracer_recorder_log_free(rec);
	tracer_code_pages_destroy(rec->pages);
	rec->pages = NULL;
	tracer_spaces_free(&rec->spaces);
	free(rec->tail);
	rec->tail = NULL;
}

int tracer_recorder_move(struct tracer_recorder *rec, struct trace_writer *writer)
{
	struct tracer_code_pages *pages = tracer_code_pages_create();

	if (!pages)
		return -ENOMEM;
	tracer_code_pages_destroy(rec->pages);
	rec->pages = pages;
	tracer_spaces_free(&rec->spaces);
	rec->spaces = (struct tracer_space_table){0};
	rec->writer = writer;
	rec->file_full = trace_writer_full(writer);
	rec->state &= ~(uint32_t)TRACER_RECORDER_CR3_KNOWN;
	return 0;
}

static void keep_tail(uint8_t *tail, const uint8_t *bytes, size_t len)
{
	const size_t room = TRACER_RECORDER_TAIL;

	if (len < room)
		memmove(tail, tail + len, room - len);
	else
		bytes += len - room;
	len = len < room ? len : room;
	memcpy(tail + room - len, bytes, len);
}

size_t tracer_recorder_fit(struct tracer_recorder *rec, size_t len)
{
	size_t room;

	if (vpt_likely(!tracer_recorder_at_limit(rec)))
		return len;
	room = trace_writer_room(rec->writer);
	if (len <= room)
		return len;
	rec->state |= TRACER_RECORDER_REFUSED;
	return room;
}

void tracer_recorder_trace(struct tracer_recorder *rec, uint64_t gpa, const void *bytes, size_t len)
{
	rec->bytes += len;
	if (vpt_unlikely(rec->tail) && bytes)
		keep_tail(rec->tail, bytes, len);
	if (vpt_unlikely(rec->live) && bytes)
		rec->live->bytes(rec->live->opaque, bytes, len);
	if (bytes && rec->writer &&
	    !(rec->state & (TRACER_RECORDER_REFUSED | TRACER_RECORDER_LOST)))
		tracer_recorder_note(rec, trace_writer_trace(rec->writer, rec->vcpu, gpa, bytes,
							     tracer_recorder_fit(rec, len)));
}

void tracer_recorder_session(struct tracer_recorder *rec, struct trace_session *s)
{
	if (rec->writer)
		tracer_recorder_note(rec, trace_writer_session(rec->writer, rec->vcpu, s));
}

void tracer_recorder_vmcs(struct tracer_recorder *rec, struct trace_vmcs *vmcs)
{
	if (rec->writer)
		tracer_recorder_note(rec, trace_writer_vmcs(rec->writer, rec->vcpu, vmcs));
}

void tracer_recorder_sync(struct tracer_recorder *rec)
{
	if (!rec->writer)
		return;
	tracer_recorder_log_flush(rec);
	tracer_recorder_note(rec, trace_writer_sync(rec->writer));
}
