// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the side-band of version 3, and refuses what a reader would take for damage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer_state.h"

/* An error of the caller's, which does not stick. */
static int refuse(const struct vpt_writer *w)
{
	return w->error ? w->error : -EINVAL;
}

int vpt_writer_origin(struct vpt_writer *w, const struct vpt_origin *origin)
{
	if (origin->kind >= VPT_ORIGIN_KINDS || origin->flags & ~(uint32_t)VPT_ORIGIN_FLAGS ||
	    origin->cpu.vendor >= VPT_CPU_VENDORS || origin->time_shift > 63 ||
	    !memchr(origin->program, 0, sizeof(origin->program)) ||
	    !memchr(origin->source, 0, sizeof(origin->source)))
		return refuse(w);
	return vpt_writer_block(w, VPT_BLOCK_ORIGIN, 0, origin, sizeof(*origin), NULL, 0);
}

int vpt_writer_cut(struct vpt_writer *w, unsigned int vcpu, const struct vpt_cut *cut)
{
	struct stream *s;

	if (vcpu >= w->vcpus || !cut->why || cut->why >= VPT_CUT_WHYS || cut->reserved ||
	    (cut->bytes && cut->bytes < cut->offset))
		return refuse(w);
	s = &w->stream[vcpu];
	if (s->bytes || s->placed)
		return refuse(w);
	s->bytes = s->base = s->switched = cut->offset;
	s->placed = true;
	return vpt_writer_block(w, VPT_BLOCK_CUT, vcpu, cut, sizeof(*cut), NULL, 0);
}

int vpt_writer_switches(struct vpt_writer *w, unsigned int vcpu, const struct vpt_switch *at,
			size_t count)
{
	struct stream *s;
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
	/* A point behind the last byte would need all of them. */
	if (at[count - 1].offset <= s->bytes)
		vpt_writer_point_space(s, at[count - 1].space);
	return vpt_writer_block(w, VPT_BLOCK_SWITCH, vcpu, at, count * sizeof(*at), NULL, 0);
}

int vpt_writer_epoch(struct vpt_writer *w, unsigned int vcpu, struct vpt_epoch *epoch)
{
	struct stream *s;

	if (vcpu >= w->vcpus)
		return refuse(w);
	s = &w->stream[vcpu];
	if (s->state.flags & VPT_POINT_EPOCH && epoch->epoch < s->state.epoch)
		return refuse(w);
	epoch->offset = s->bytes;
	s->placed = true;
	vpt_writer_point_epoch(s, epoch->epoch);
	return vpt_writer_block(w, VPT_BLOCK_EPOCH, vcpu, epoch, sizeof(*epoch), NULL, 0);
}

int vpt_writer_frames(struct vpt_writer *w, const struct vpt_frame *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (frames[i].gpa % VPT_CODE_BYTES || frames[i].reserved || !frames[i].content ||
		    frames[i].content > w->contents)
			return refuse(w);
	return count ? vpt_writer_block(w, VPT_BLOCK_FRAME, 0, frames, count * sizeof(*frames),
					NULL, 0)
		     : w->error;
}

int vpt_writer_views(struct vpt_writer *w, const struct vpt_view *views, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (views[i].vaddr % VPT_CODE_BYTES || views[i].gpa % VPT_CODE_BYTES ||
		    views[i].flags & ~(uint32_t)VPT_VIEW_FLAGS ||
		    (views[i].flags & VPT_VIEW_GONE && views[i].gpa))
			return refuse(w);
	return count ? vpt_writer_block(w, VPT_BLOCK_VIEW, 0, views, count * sizeof(*views), NULL,
					0)
		     : w->error;
}

/* A block with @head and @len bytes, padded: in such a block the padding is part of the payload. */
static int put_padded(struct vpt_writer *w, enum vpt_block_type type, unsigned int vcpu,
		      const void *head, size_t head_len, const void *bytes, size_t len)
{
	uint8_t *copy = calloc(1, vpt_pad8(len) + 8);
	int err;

	if (!copy)
		return w->error = -ENOMEM;
	if (len)
		memcpy(copy, bytes, len);
	err = vpt_writer_block(w, type, vcpu, head, head_len, copy, vpt_pad8(len));
	free(copy);
	return err;
}

int vpt_writer_input(struct vpt_writer *w, unsigned int vcpu, const struct vpt_recorded *head,
		     const void *bytes)
{
	if (vcpu >= w->vcpus || !head->kind || head->kind >= VPT_RECORDED_KINDS ||
	    head->len > VPT_RECORDED_MAX)
		return refuse(w);
	return put_padded(w, VPT_BLOCK_INPUT, vcpu, head, sizeof(*head), bytes, head->len);
}

int vpt_writer_mark(struct vpt_writer *w, unsigned int vcpu, struct vpt_user_mark *mark,
		    const char *text)
{
	if (vcpu >= w->vcpus || mark->kind >= VPT_USER_MARK_KINDS || mark->len > VPT_USER_MARK_MAX)
		return refuse(w);
	mark->offset = w->stream[vcpu].bytes;
	w->stream[vcpu].placed = true;
	return put_padded(w, VPT_BLOCK_MARK, vcpu, mark, sizeof(*mark), text, mark->len);
}

int vpt_writer_ref(struct vpt_writer *w, unsigned int vcpu, struct vpt_file_ref *ref,
		   const char *name)
{
	ref->name_len = (uint32_t)strnlen(name, VPT_REF_NAME_MAX + 1);
	if (vcpu >= w->vcpus || !ref->kind || ref->kind >= VPT_REF_KINDS ||
	    ref->hash_is >= VPT_HASH_KINDS || !ref->name_len || ref->name_len > VPT_REF_NAME_MAX)
		return refuse(w);
	return vpt_writer_block(w, VPT_BLOCK_FILE, vcpu, ref, sizeof(*ref), name, ref->name_len);
}
