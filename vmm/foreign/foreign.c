// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of a foreign trace: growing lists and their order. */
#include "foreign/foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/vec.h"

void foreign_free(struct foreign_trace *t)
{
	size_t i;

	for (i = 0; i < t->sources.n; i++)
		trace_source_close(&t->sources.at[i]);
	for (i = 0; i < t->streams.n; i++)
		free(t->streams.at[i].pieces.at);
	free(t->sources.at);
	free(t->streams.at);
	free(t->events.at);
	free(t->losses.at);
	free(t->pokes.at);
	free(t->build_ids.at);
	free(t->kcore);
	foreign_names_free(&t->files);
	memset(t, 0, sizeof(*t));
}

int foreign_event(struct foreign_trace *t, struct foreign_event **event)
{
	if (!trace_vec_room(&t->events))
		return -ENOMEM;
	*event = &t->events.at[t->events.n];
	memset(*event, 0, sizeof(**event));
	(*event)->order = t->events.n++;
	return 0;
}

int foreign_piece(struct foreign_trace *t, const struct foreign_stream *key,
		  const struct foreign_piece *piece)
{
	struct foreign_stream *s;
	size_t i;

	for (i = 0; i < t->streams.n; i++) {
		s = &t->streams.at[i];
		if (s->idx == key->idx && s->cpu == key->cpu && s->tid == key->tid)
			break;
	}
	if (i == t->streams.n) {
		if (i == TRACE_FILE_MAX_VCPUS)
			return -E2BIG;
		if (!trace_vec_room(&t->streams))
			return -ENOMEM;
		t->streams.at[t->streams.n++] =
			(struct foreign_stream){key->idx, key->cpu, key->tid, {NULL, 0, 0}};
	}
	s = &t->streams.at[i];
	if (!trace_vec_room(&s->pieces))
		return -ENOMEM;
	s->pieces.at[s->pieces.n++] = *piece;
	return 0;
}

int foreign_build_id(struct foreign_trace *t, size_t file, const uint8_t *bytes, size_t len)
{
	struct foreign_build_id *id;

	if (!len || len > FOREIGN_BUILD_ID)
		return 0;
	while (t->build_ids.n <= file) {
		if (!trace_vec_room(&t->build_ids))
			return -ENOMEM;
		memset(&t->build_ids.at[t->build_ids.n++], 0, sizeof(*id));
	}
	id = &t->build_ids.at[file];
	if (!id->len) {
		memcpy(id->bytes, bytes, len);
		id->len = (uint8_t)len;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct foreign_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_order(const void *a, const void *b)
{
	const struct foreign_piece *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_cpu(const void *a, const void *b)
{
	const struct foreign_stream *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

static int by_place(const void *a, const void *b)
{
	const struct foreign_loss *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void foreign_sort(struct foreign_trace *t)
{
	size_t i;

	if (t->events.n)
		qsort(t->events.at, t->events.n, sizeof(*t->events.at), by_time);
	if (t->streams.n)
		qsort(t->streams.at, t->streams.n, sizeof(*t->streams.at), by_cpu);
	if (t->losses.n)
		qsort(t->losses.at, t->losses.n, sizeof(*t->losses.at), by_place);
	for (i = 0; i < t->streams.n; i++) {
		struct foreign_stream *s = &t->streams.at[i];

		qsort(s->pieces.at, s->pieces.n, sizeof(*s->pieces.at), by_order);
	}
}
