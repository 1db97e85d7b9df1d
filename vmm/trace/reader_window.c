// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams that are read in windows: a decoder that only advances has a part of its stream in memory.
 * Bytes that the file lacks are 0, as for any reader.
 */
#include <errno.h>

#include "trace/reader_state.h"

/* The bytes that are read at once, and those that are kept behind a decoder. */
#define STEP ((uint64_t)1 << 20)
/* Pages are given back in larger parts, because this is slow. */
#define STEPS_BEHIND 4u

void trace_reader_set_window(struct trace_reader *r, uint64_t step)
{
	r->window_step = step;
}

static uint64_t step_of(const struct trace_reader *r)
{
	return r->window_step ? r->window_step : STEP;
}

bool trace_reader_has_window(const struct trace_reader *r, unsigned int vcpu)
{
	return r->how & TRACE_READER_WINDOW && !r->vcpu[vcpu].whole_wanted;
}

/* Read all blocks of a part. Bytes between them are missing in the file. */
static int load(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	size_t i = trace_vec_before(v->chunks.at, v->chunks.n, e, e->offset + e->len <= from);
	int err = 0;

	if (i < v->kept)
		v->kept = i;
	for (; !err && i < v->chunks.n && v->chunks.at[i].offset < to; i++) {
		if (!v->chunks.at[i].loaded)
			err = trace_reader_load_chunk(r, v, &v->chunks.at[i]);
	}
	return err;
}

int trace_reader_window(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to,
			uint64_t *loaded)
{
	int err = 0;

	*loaded = UINT64_MAX;
	pthread_mutex_lock(&r->window_lock);
	if (trace_reader_has_window(r, vcpu)) {
		*loaded = to < from + step_of(r) ? from + step_of(r) : to;
		err = load(r, vcpu, from, *loaded);
	}
	pthread_mutex_unlock(&r->window_lock);
	return err;
}

static void drop(struct trace_reader *r, struct trace_reader_vcpu *v, uint64_t to)
{
	uint64_t begin, end;

	begin = end = v->chunks.at[v->kept].offset;
	if (to < begin || to - begin < STEPS_BEHIND * step_of(r))
		return;
	for (; v->kept < v->chunks.n; v->kept++) {
		struct trace_reader_chunk *c = &v->chunks.at[v->kept];

		if (c->offset + c->len > to)
			break;
		/* Small blocks, and those of PACKED blocks, cannot be read again. */
		if (!c->file) {
			trace_reader_drop_pages(v, begin, c->offset);
			begin = c->offset + c->len;
		}
		c->loaded = !c->file;
		end = c->offset + c->len;
	}
	trace_reader_drop_pages(v, begin, end);
}

void trace_reader_drop(struct trace_reader *r, unsigned int vcpu, uint64_t to)
{
	pthread_mutex_lock(&r->window_lock);
	if (trace_reader_has_window(r, vcpu) && r->vcpu[vcpu].kept < r->vcpu[vcpu].chunks.n)
		drop(r, &r->vcpu[vcpu], to);
	pthread_mutex_unlock(&r->window_lock);
}

static int load_whole(struct trace_reader *r, unsigned int vcpu)
{
	r->vcpu[vcpu].whole_wanted = true;
	return load(r, vcpu, 0, r->vcpu[vcpu].stream.n);
}

int trace_reader_window_begin(struct trace_reader *r, unsigned int vcpu, bool *held)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	int err = 0;

	pthread_mutex_lock(&r->window_lock);
	*held = trace_reader_has_window(r, vcpu) && !v->held;
	if (*held) {
		v->held = true;
		v->kept = 0;
		err = trace_reader_load_sessions(r, vcpu);
	} else if (trace_reader_has_window(r, vcpu)) {
		/* Two windows at once would drop what the other one needs. */
		err = load_whole(r, vcpu);
	}
	pthread_mutex_unlock(&r->window_lock);
	return err;
}

void trace_reader_window_end(struct trace_reader *r, unsigned int vcpu)
{
	pthread_mutex_lock(&r->window_lock);
	r->vcpu[vcpu].held = false;
	pthread_mutex_unlock(&r->window_lock);
}

int trace_reader_whole(struct trace_reader *r, unsigned int vcpu)
{
	int err = 0;

	pthread_mutex_lock(&r->window_lock);
	if (trace_reader_has_window(r, vcpu))
		err = load_whole(r, vcpu);
	pthread_mutex_unlock(&r->window_lock);
	return err;
}
