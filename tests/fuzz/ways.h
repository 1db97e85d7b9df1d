/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same operations done with several decoders of libvptdecode. A fuzzer has a struct target,
 * and its LLVMFuzzerTestOneInput() calls play_ways(). The decoders' callbacks are hashed.
 */
#ifndef TESTS_FUZZ_WAYS_H
#define TESTS_FUZZ_WAYS_H

#include <stdbool.h>
#include <string.h>

#include "fuzz/bytes.h"
#include "libdecode/vptdecode.h"

#define FAULTS	  256u
#define MOST_WAYS 8u

/* How operations are done. */
struct way {
	bool runs, time;
	bool small; /* the cache; and edges are counted in parts */
	bool pieces;
	unsigned int like; /* the way whose callbacks are the same */
};

struct result {
	uint64_t insns, events[VPTD_EVENT_COUNT], edges, hash;
	uint8_t bitmap[VPTD_BITMAP];
};

/* An error as the decoder reported it; @insns instructions ran before it. */
struct fault {
	uint64_t ip, value, insns, offset;
};

/* One decoder while it does the operations. */
struct play {
	const struct way *way;
	struct vptd_decoder *d;
	struct vptd_counts *counts;
	unsigned int piece; /* bytes in each push, if the way has pieces */
	uint64_t pushed;    /* bytes */
	uint64_t ran;	    /* instructions of all runs */
	uint64_t callbacks; /* a hash of them */
	bool circles;
	struct fault faults[FAULTS]; /* the first ones */
	unsigned int nfaults;
};

struct target {
	const struct way *ways;
	unsigned int nways; /* at most MOST_WAYS */
	/* Create the decoder that the input configures. */
	struct vptd_decoder *(*make)(struct play *p, struct input *in);
	void (*op)(struct play *p, struct input *in);
	/* Push bytes that wait; may be NULL. */
	void (*flush)(struct play *p);
	/* Compare @p with an earlier way. */
	void (*compare)(const struct play *p, const struct result *r, const struct play *other,
			const struct result *of_other);
};

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static inline void note_time(struct play *p)
{
	struct vptd_time time;

	if (!p->way->time) {
		REQUIRE(vptd_now(p->d, &time) == VPTD_E_ARGUMENT);
		return;
	}
	REQUIRE(vptd_now(p->d, &time) == VPTD_OK);
	REQUIRE(time.lo <= time.tsc && time.tsc <= time.hi);
	p->callbacks = mix(p->callbacks, time.flags ^ (uint64_t)time.ratio << 32);
	p->callbacks = mix(p->callbacks, time.tsc);
	p->callbacks = mix(p->callbacks, time.lo);
	p->callbacks = mix(p->callbacks, time.hi);
	p->callbacks = mix(p->callbacks, time.cycles);
}

static inline void on_event(void *context, const struct vptd_event *e)
{
	struct play *p = context;

	REQUIRE(e->kind < VPTD_EVENT_COUNT && e->offset <= p->pushed && !e->zero);
	REQUIRE(e->kind != VPTD_EVENT_ERROR ||
		(e->value > VPTD_STUCK && e->value < VPTD_E_ARGUMENT && e->value != VPTD_E_MEMORY));
	p->circles |= e->kind == VPTD_EVENT_ERROR && e->value == VPTD_E_LOOP;
	if (e->kind == VPTD_EVENT_ERROR && p->nfaults < FAULTS)
		p->faults[p->nfaults++] =
			(struct fault){e->ip, e->value, vptd_insns(p->d), e->offset};
	p->callbacks = mix(p->callbacks, e->kind | e->flags << 8 | (uint64_t)e->aux << 16);
	p->callbacks = mix(p->callbacks, e->ip);
	p->callbacks = mix(p->callbacks, e->to);
	p->callbacks = mix(p->callbacks, e->value);
	p->callbacks = mix(p->callbacks, e->offset);
	note_time(p);
}

static inline void on_run(void *context, const struct vptd_run *run)
{
	struct play *p = context;
	uint32_t i;

	REQUIRE(run->count && run->offset <= p->pushed);
	REQUIRE(run->mode == 16 || run->mode == 32 || run->mode == 64);
	for (i = 0; i < run->count; i++)
		REQUIRE(run->lens[i] && run->lens[i] <= VPTD_INSN_MAX);
	p->ran += run->count;
	p->callbacks = mix(p->callbacks, run->ip);
	p->callbacks = mix(p->callbacks, run->page);
	p->callbacks = mix(p->callbacks, run->offset);
	p->callbacks = mix(p->callbacks, run->count | (uint64_t)run->mode << 32);
	note_time(p);
}

/* Push now, in the way's pieces. */
static inline void push_now(struct play *p, const uint8_t *bytes, size_t len)
{
	size_t at, n;

	for (at = 0; at < len; at += n) {
		n = len - at;
		if (p->way->pieces && p->piece < n)
			n = p->piece;
		p->pushed += n;
		REQUIRE(vptd_push(p->d, bytes + at, n) == VPTD_OK);
	}
}

static inline void count(struct play *p)
{
	struct vptd_counts *some_of = vptd_counts_new();

	REQUIRE(some_of && vptd_count(p->d, some_of) == VPTD_OK);
	REQUIRE(vptd_counts_add(p->counts, some_of) == VPTD_OK);
	vptd_counts_free(some_of);
}

/* Finish, begin again, or count, as bits of @how say. */
static inline void control(struct play *p, uint64_t how)
{
	static const unsigned int modes[] = {64, 64, 32, 16};

	switch (how & 3) {
	case 0:
		REQUIRE(vptd_finish(p->d) == VPTD_OK);
		break;
	case 1:
		REQUIRE(vptd_begin(p->d, (how & 0x30) << 8, modes[how >> 2 & 3]) == VPTD_OK);
		break;
	default:
		if (p->way->small)
			count(p);
	}
}

static inline void sum_up(struct play *p, struct result *r)
{
	struct vptd_edge edge;
	size_t i;

	REQUIRE(vptd_finish(p->d) == VPTD_OK);
	count(p);
	memset(r, 0, sizeof(*r));
	r->insns = vptd_insns(p->d);
	REQUIRE(!p->way->runs || p->ran == r->insns);
	for (i = 0; i < VPTD_EVENT_COUNT; i++)
		r->events[i] = vptd_events(p->d, (enum vptd_event_kind)i);
	r->edges = vptd_counts_edges(p->counts);
	for (i = 0; vptd_counts_edge(p->counts, i, &edge); i++) {
		r->hash = mix(r->hash, edge.from);
		r->hash = mix(r->hash, edge.to);
		r->hash = mix(r->hash, edge.page);
		r->hash = mix(r->hash, edge.count);
	}
	vptd_counts_bitmap(p->counts, r->bitmap);
}

/* Do the input's operations in each way. */
static inline int play_ways(const struct target *t, const uint8_t *data, size_t size)
{
	static struct play plays[MOST_WAYS];
	static struct result results[MOST_WAYS];
	unsigned int i;

	for (i = 0; i < t->nways; i++) {
		struct input in = {data, size};
		struct play *p = &plays[i];

		memset(p, 0, sizeof(*p));
		p->way = &t->ways[i];
		p->counts = vptd_counts_new();
		REQUIRE(p->counts);
		p->d = t->make(p, &in);
		while (in.left)
			t->op(p, &in);
		if (t->flush)
			t->flush(p);
		sum_up(p, &results[i]);
		vptd_counts_free(p->counts);
		vptd_free(p->d);
		t->compare(p, &results[i], &plays[p->way->like], &results[p->way->like]);
		t->compare(p, &results[i], &plays[0], &results[0]);
	}
	return 0;
}

#endif /* TESTS_FUZZ_WAYS_H */
