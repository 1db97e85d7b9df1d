// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code of several vCPUs. FRAME, VIEW and EPOCH blocks are collected while the file is read. They
 * then become entries of each vCPU's list of code, as CODE blocks would. REFINED blocks are here, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#include "trace/reader_state.h"

/* Permitted entries of a file in addition to one for each of its bytes. */
#define SMALL_FILE 65536u

static const char wrong_length[] = "a block's length is wrong";

const char *trace_reader_take_epoch(struct trace_reader_vcpu *v, const void *payload, size_t len)
{
	const struct trace_epoch *last = v->epochs.n ? &v->epochs.at[v->epochs.n - 1] : NULL;
	struct trace_epoch epoch;

	if (len != sizeof(epoch))
		return wrong_length;
	memcpy(&epoch, payload, sizeof(epoch));
	if (!trace_reader_rebase(v, &epoch.offset))
		return "a place in the stream is wrong";
	if (last &&
	    (epoch.epoch < last->epoch || epoch.offset < last->offset || epoch.insns < last->insns))
		return "an EPOCH block goes back";
	if (!trace_vec_room(&v->epochs))
		return trace_reader_no_memory;
	v->epochs.at[v->epochs.n++] = epoch;
	trace_reader_saw(v, epoch.insns);
	return NULL;
}

const char *trace_reader_take_refined(struct trace_reader *r, unsigned int vcpu,
				      const void *payload, size_t len)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	struct trace_refined refined;

	if (len != sizeof(refined))
		return wrong_length;
	memcpy(&refined, payload, sizeof(refined));
	if (v->is_refined)
		return "a REFINED block is not the only one of its vCPU";
	if (refined.left > refined.failed || !(r->info->flags & TRACE_INFO_CODE_BY_OFFSET))
		return "a REFINED block is not as it must be";
	v->refined = refined;
	v->is_refined = true;
	return NULL;
}

static const char *add_frame(struct trace_reader *r, const struct trace_frame *frame)
{
	const size_t content = trace_reader_find_content(r, frame->content);

	if (frame->gpa % TRACE_CODE_BYTES || frame->reserved)
		return "a FRAME block is not as it must be";
	if (!content)
		return r->blocks.damages.n ? NULL
					   : "a FRAME block names a PAGE block that is not there";
	if (!trace_vec_room(&r->frames))
		return trace_reader_no_memory;
	r->frames.at[r->frames.n] = (struct trace_reader_frame){*frame, r->frames.n};
	r->frames.at[r->frames.n++].frame.content = content;
	return NULL;
}

const char *trace_reader_take_frames(struct trace_reader *r, const void *payload, size_t len)
{
	const struct trace_frame *frame = payload;
	const size_t n = len / sizeof(*frame), before = r->frames.n;
	const char *why = !n || len % sizeof(*frame) ? wrong_length : NULL;
	size_t i;

	for (i = 0; i < n && !why; i++)
		why = add_frame(r, &frame[i]);
	if (why)
		r->frames.n = before;
	return why;
}

static const char *add_view(struct trace_reader *r, const struct trace_view *view)
{
	if (view->vaddr % TRACE_CODE_BYTES || view->gpa % TRACE_CODE_BYTES ||
	    view->flags & ~(uint32_t)TRACE_VIEW_FLAGS ||
	    (view->flags & TRACE_VIEW_GONE && view->gpa))
		return "a VIEW block is not as it must be";
	if (!trace_vec_room(&r->views))
		return trace_reader_no_memory;
	r->views.at[r->views.n] = (struct trace_reader_view){*view, r->views.n};
	r->views.n++;
	return NULL;
}

const char *trace_reader_take_views(struct trace_reader *r, const void *payload, size_t len)
{
	const struct trace_view *view = payload;
	const size_t n = len / sizeof(*view), before = r->views.n;
	const char *why = !n || len % sizeof(*view) ? wrong_length : NULL;
	size_t i;

	for (i = 0; i < n && !why; i++)
		why = add_view(r, &view[i]);
	if (why)
		r->views.n = before;
	return why;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Order by machine, address and epoch; equal entries stay in the order of the file. */
static int by_frame(const void *a, const void *b)
{
	const struct trace_reader_frame *x = a, *y = b;
	int d = compare(x->frame.vm, y->frame.vm);

	if (!d)
		d = compare(x->frame.gpa, y->frame.gpa);
	if (!d)
		d = compare(x->frame.epoch, y->frame.epoch);
	return d ? d : compare(x->order, y->order);
}

static int by_view(const void *a, const void *b)
{
	const struct trace_reader_view *x = a, *y = b;
	int d = compare(x->view.space, y->view.space);

	if (!d)
		d = compare(x->view.vaddr, y->view.vaddr);
	if (!d)
		d = compare(x->view.epoch, y->view.epoch);
	return d ? d : compare(x->order, y->order);
}

static bool same_place(const struct trace_view *a, const struct trace_view *b)
{
	return a->space == b->space && a->vaddr == b->vaddr;
}

static bool is_of(const struct trace_reader *r, size_t frame, const struct trace_view *view)
{
	return frame < r->frames.n && r->frames.at[frame].frame.vm == view->vm &&
	       r->frames.at[frame].frame.gpa == view->gpa;
}

/*
 * Return the index of the entry with the content of the view's page when the view begins. If there
 * is none, return the index of the first later entry, which may be of another page.
 */
static size_t find_frame(const struct trace_reader *r, const struct trace_view *view)
{
	const struct trace_reader_frame key = {
		.frame = {.vm = view->vm, .gpa = view->gpa, .epoch = view->epoch},
		.order = SIZE_MAX,
	};
	size_t i = trace_vec_before(r->frames.at, r->frames.n, e, by_frame(e, &key) < 0);

	return i && is_of(r, i - 1, view) ? i - 1 : i;
}

/* Find the place where a vCPU enters an epoch. Returns false if it never does. */
static bool enters(const struct trace_reader_vcpu *v, uint64_t epoch, uint64_t *insns)
{
	size_t i;

	*insns = 0;
	if (!epoch)
		return true;
	i = trace_vec_before(v->epochs.at, v->epochs.n, e, e->epoch < epoch);
	if (i == v->epochs.n)
		return false;
	*insns = v->epochs.at[i].insns;
	return true;
}

/* Add one content at one address for all vCPUs, from an epoch on. */
static int add_code(struct trace_reader *r, const struct trace_view *view, uint64_t epoch,
		    size_t content)
{
	unsigned int i;

	for (i = 0; i < r->info->vcpus; i++) {
		struct trace_reader_vcpu *v = &r->vcpu[i];
		struct trace_code_page page = {
			.cr3 = view->space, .vaddr = view->vaddr, .gpa = view->gpa};
		struct trace_code_page *copy;

		/* This bounds the time as well, so omitted vCPUs also count. */
		if (r->resolved++ >= SMALL_FILE + r->blocks.source.size)
			return -E2BIG;
		if (!enters(v, epoch, &page.insns))
			continue;
		copy = trace_arena_alloc(&r->blocks.arena, sizeof(*copy));
		if (!copy || !trace_vec_room(&v->code))
			return -ENOMEM;
		*copy = page;
		v->code.at[v->code.n++] =
			(struct trace_code){copy, r->contents.at[content - 1], content, 0};
	}
	return 0;
}

/* Add all contents of an address while it maps to one frame: up to epoch @end. */
static int resolve(struct trace_reader *r, const struct trace_view *view, uint64_t end)
{
	size_t i = find_frame(r, view);
	int err = 0;

	for (; !err && is_of(r, i, view) && r->frames.at[i].frame.epoch < end; i++) {
		const struct trace_frame *frame = &r->frames.at[i].frame;

		err = add_code(r, view, frame->epoch > view->epoch ? frame->epoch : view->epoch,
			       frame->content);
	}
	return err;
}

int trace_reader_resolve(struct trace_reader *r)
{
	size_t i;
	int err = 0;

	if (!r->info || !r->views.n || !r->frames.n)
		return 0;
	qsort(r->frames.at, r->frames.n, sizeof(*r->frames.at), by_frame);
	qsort(r->views.at, r->views.n, sizeof(*r->views.at), by_view);
	for (i = 0; i < r->views.n && !err; i++) {
		const struct trace_view *view = &r->views.at[i].view;
		const struct trace_view *next =
			i + 1 < r->views.n ? &r->views.at[i + 1].view : NULL;
		const uint64_t end = next && same_place(view, next) ? next->epoch : UINT64_MAX;

		if (!(view->flags & TRACE_VIEW_GONE) && end > view->epoch)
			err = resolve(r, view, end);
	}
	return err;
}

const struct trace_refined *trace_reader_refined(const struct trace_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].is_refined ? &r->vcpu[vcpu].refined : NULL;
}

const struct trace_epoch *trace_reader_epochs(const struct trace_reader *r, unsigned int vcpu,
					      size_t *count)
{
	*count = r->vcpu[vcpu].epochs.n;
	return r->vcpu[vcpu].epochs.at;
}
