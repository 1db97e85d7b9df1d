// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the side-band of version 3, and refuses fields that a reader would treat as damage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/writer_state.h"

/* Return an error of the caller, which does not stick. */
static int refuse(const struct trace_writer *w)
{
	return w->error ? w->error : -EINVAL;
}

int trace_writer_origin(struct trace_writer *w, const struct trace_origin *origin)
{
	if (origin->kind >= TRACE_ORIGIN_KINDS || origin->flags & ~(uint32_t)TRACE_ORIGIN_FLAGS ||
	    origin->cpu.vendor >= TRACE_CPU_VENDORS || origin->time_shift > 63 ||
	    !memchr(origin->program, 0, sizeof(origin->program)) ||
	    !memchr(origin->source, 0, sizeof(origin->source)))
		return refuse(w);
	return trace_writer_block(w, TRACE_BLOCK_ORIGIN, 0, origin, sizeof(*origin), NULL, 0);
}

int trace_writer_cut(struct trace_writer *w, unsigned int vcpu, const struct trace_cut *cut)
{
	struct trace_stream *s;

	if (vcpu >= w->vcpus || !cut->why || cut->why >= TRACE_CUT_WHYS || cut->reserved ||
	    (cut->bytes && cut->bytes < cut->offset))
		return refuse(w);
	s = &w->stream[vcpu];
	if (s->bytes || s->placed)
		return refuse(w);
	s->bytes = s->base = s->switched = cut->offset;
	s->placed = true;
	return trace_writer_block(w, TRACE_BLOCK_CUT, vcpu, cut, sizeof(*cut), NULL, 0);
}

int trace_writer_switches(struct trace_writer *w, unsigned int vcpu, const struct trace_switch *at,
			  size_t count)
{
	struct trace_stream *s;
	size_t i;

	if (vcpu >= w->vcpus)
		return refuse(w);
	if (!count)
		return w->error;
	s = &w->stream[vcpu];
	for (i = 0; i < count; i++)
		if (at[i].offset < (i ? at[i - 1].offset : s->switched))
			return refuse(w);
	s->placed = true;
	s->switched = at[count - 1].offset;
	/* A switch beyond the written bytes is not in effect at the next PSB. */
	if (at[count - 1].offset <= s->bytes)
		trace_writer_point_space(s, at[count - 1].space);
	return trace_writer_block(w, TRACE_BLOCK_SWITCH, vcpu, at, count * sizeof(*at), NULL, 0);
}

int trace_writer_epoch(struct trace_writer *w, unsigned int vcpu, struct trace_epoch *epoch)
{
	struct trace_stream *s;

	if (vcpu >= w->vcpus)
		return refuse(w);
	s = &w->stream[vcpu];
	if (s->state.flags & TRACE_POINT_EPOCH && epoch->epoch < s->state.epoch)
		return refuse(w);
	epoch->offset = s->bytes;
	s->placed = true;
	trace_writer_point_epoch(s, epoch->epoch);
	return trace_writer_block(w, TRACE_BLOCK_EPOCH, vcpu, epoch, sizeof(*epoch), NULL, 0);
}

int trace_writer_frames(struct trace_writer *w, const struct trace_frame *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (frames[i].gpa % TRACE_CODE_BYTES || frames[i].reserved || !frames[i].content ||
		    frames[i].content > w->contents)
			return refuse(w);
	return count ? trace_writer_block(w, TRACE_BLOCK_FRAME, 0, frames, count * sizeof(*frames),
					  NULL, 0)
		     : w->error;
}

int trace_writer_views(struct trace_writer *w, const struct trace_view *views, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (views[i].vaddr % TRACE_CODE_BYTES || views[i].gpa % TRACE_CODE_BYTES ||
		    views[i].flags & ~(uint32_t)TRACE_VIEW_FLAGS ||
		    (views[i].flags & TRACE_VIEW_GONE && views[i].gpa))
			return refuse(w);
	return count ? trace_writer_block(w, TRACE_BLOCK_VIEW, 0, views, count * sizeof(*views),
					  NULL, 0)
		     : w->error;
}

/*
 * Write a block with @head and @len bytes, padded. In such a block the padding is part of the
 * payload.
 */
static int put_padded(struct trace_writer *w, enum trace_block_type type, unsigned int vcpu,
		      const void *head, size_t head_len, const void *bytes, size_t len)
{
	uint8_t *copy = calloc(1, trace_pad8(len) + 8);
	int err;

	if (!copy)
		return w->error = -ENOMEM;
	if (len)
		memcpy(copy, bytes, len);
	err = trace_writer_block(w, type, vcpu, head, head_len, copy, trace_pad8(len));
	free(copy);
	return err;
}

int trace_writer_input(struct trace_writer *w, unsigned int vcpu, const struct trace_recorded *head,
		       const void *bytes)
{
	if (vcpu >= w->vcpus || !head->kind || head->kind >= TRACE_RECORDED_KINDS ||
	    head->len > TRACE_RECORDED_MAX)
		return refuse(w);
	return put_padded(w, TRACE_BLOCK_INPUT, vcpu, head, sizeof(*head), bytes, head->len);
}

int trace_writer_mark(struct trace_writer *w, unsigned int vcpu, struct trace_user_mark *mark,
		      const char *text)
{
	if (vcpu >= w->vcpus || mark->kind >= TRACE_USER_MARK_KINDS ||
	    mark->len > TRACE_USER_MARK_MAX)
		return refuse(w);
	mark->offset = w->stream[vcpu].bytes;
	w->stream[vcpu].placed = true;
	return put_padded(w, TRACE_BLOCK_MARK, vcpu, mark, sizeof(*mark), text, mark->len);
}

int trace_writer_task(struct trace_writer *w, unsigned int vcpu, struct trace_task *task)
{
	if (vcpu >= w->vcpus || task->kind >= TRACE_TASK_KINDS || task->reserved ||
	    task->name[sizeof(task->name) - 1])
		return refuse(w);
	task->offset = w->stream[vcpu].bytes;
	w->stream[vcpu].placed = true;
	return trace_writer_block(w, TRACE_BLOCK_TASK, vcpu, task, sizeof(*task), NULL, 0);
}

int trace_writer_options(struct trace_writer *w, const struct trace_run_options *options,
			 const char *text)
{
	if (options->len > TRACE_RUN_OPTIONS_MAX || (options->len && text[options->len - 1]))
		return refuse(w);
	return put_padded(w, TRACE_BLOCK_OPTIONS, 0, options, sizeof(*options), text, options->len);
}

int trace_writer_ref(struct trace_writer *w, unsigned int vcpu, struct trace_file_ref *ref,
		     const char *name)
{
	ref->name_len = (uint32_t)strnlen(name, TRACE_REF_NAME_MAX + 1);
	if (vcpu >= w->vcpus || !ref->kind || ref->kind >= TRACE_REF_KINDS ||
	    ref->hash_is >= TRACE_HASH_KINDS || !ref->name_len ||
	    ref->name_len > TRACE_REF_NAME_MAX)
		return refuse(w);
	return trace_writer_block(w, TRACE_BLOCK_FILE, vcpu, ref, sizeof(*ref), name,
				  ref->name_len);
}
