// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge consecutive blocks of a function. A tree of calls only changes at CALLs, RETs and jumps to
 * other functions, about every four blocks. The parts of a walk of tracelets are made once, and
 * copied each time that the walk runs. In a flow with times an item of parts has one time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/tracelet.h"
#include "decode/pt_flow.h"
#include "trace/vec.h"

/* The maximum number of kept parts of walks. */
#define WALK_PARTS_MAX ((size_t)1 << 20)

/* The function of a block that was not looked up yet. No function starts there. */
#define NOT_LOOKED_UP UINT64_MAX

/* The maximum number of instructions in a part, whose counter has 32 bits. */
#define INSNS_MAX (UINT32_MAX / 2)

static uint64_t function_of(struct decode_pt_flow *f, const struct dec_block *block)
{
	struct decode_pt_merge *m = &f->merge;
	size_t room = m->functions.room ? m->functions.room : 4096;
	uint64_t *at;

	while (room <= block->id)
		room *= 2;
	if (room != m->functions.room) {
		at = realloc(m->functions.at, room * sizeof(*at));
		if (!at) {
			f->ahead.no_memory = true;
			return DECODE_NO_FUNCTION;
		}
		memset(at + m->functions.room, 0xff, (room - m->functions.room) * sizeof(*at));
		m->functions.at = at;
		m->functions.room = room;
	}
	at = &m->functions.at[block->id];
	if (*at == NOT_LOOKED_UP)
		*at = m->function(m->context, block->ip);
	return *at;
}

/*
 * Returns true if a block of @function continues the open part. Without a symbol, a jump is assumed
 * to stay in the function.
 */
static bool continues(const struct decode_pt_parts *to, uint64_t function)
{
	if (!to->open)
		return false;
	switch ((enum decode_insn_class)to->at[to->n - 1].class) {
	case DECODE_INSN_OTHER:
	case DECODE_INSN_PTWRITE:
		return true;
	case DECODE_INSN_COND:
	case DECODE_INSN_JUMP:
		return function == DECODE_NO_FUNCTION || function == to->function;
	default:
		return false;
	}
}

/*
 * Add @part to the open part, or after it. @function is the function of the first block of @part.
 */
static void append(struct decode_pt_flow *f, struct decode_pt_parts *to,
		   const struct decode_part *part, uint64_t function)
{
	struct decode_part *last;

	if (continues(to, function)) {
		last = &to->at[to->n - 1];
		last->insns += part->insns;
		last->next = part->next;
		last->class = part->class;
	} else {
		if (!trace_vec_room(to)) {
			f->ahead.no_memory = true;
			return;
		}
		last = &to->at[to->n++];
		*last = *part;
		to->function = function;
	}
	to->open = last->insns < INSNS_MAX;
}

/* Add @count instructions of a block, from number @first on. */
static void add(struct decode_pt_flow *f, struct decode_pt_parts *to, const struct dec_block *block,
		unsigned int first, unsigned int count)
{
	const uint64_t function = function_of(f, block);
	struct decode_part part = {
		.ip = dec_code_ip(f->ahead.code, block, first),
		.next = dec_code_ip(f->ahead.code, block, first + count),
		.function = function,
		.insns = count,
		.class = DECODE_INSN_OTHER,
	};

	if (first)
		part.function = f->merge.function(f->merge.context, part.ip);
	if (first + count == block->insns)
		part.class = (uint8_t)decode_pt_class(block);
	append(f, to, &part, function);
}

/* Without a known time, that of an item depends on its offset. */
static bool is_same_time(const struct decode_pt_merge *m, const struct dec_point *now,
			 uint64_t offset)
{
	if (!now->known || !m->time.known)
		return now->known == m->time.known && offset == m->offset;
	return now->tsc == m->time.tsc;
}

/* Returns true if the next run is in the block of the run before, and has the time of its begin. */
static bool continues_block(const struct decode_pt_parts *to)
{
	return to->open && !decode_pt_ends_block(to->at[to->n - 1].class);
}

/* Begin another item if the next run has another time than the runs before. */
static void follow_time(struct decode_pt_flow *f)
{
	struct decode_pt_merge *m = &f->merge;
	struct dec_timing *t = &f->ahead.timing;
	const uint64_t offset = *f->ahead.offset;
	struct dec_point now;

	if (continues_block(&m->parts))
		return;
	t->what = DEC_TIMED_RUN;
	dec_timing_point(t, &now);
	t->what = DEC_TIMED_NONE;
	if (m->parts.n > m->told && !is_same_time(m, &now, offset))
		decode_pt_merge_flush(f);
	m->time = now;
	m->offset = offset;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct decode_pt_flow *f = context;

	if (f->base.timed) {
		follow_time(f);
		dec_timing_ran(&f->ahead.timing, block, first, count);
	}
	add(f, &f->merge.parts, block, first, count);
}

static void add_blocks(struct decode_pt_flow *f, struct decode_pt_parts *to,
		       const struct dec_walk *walk)
{
	uint32_t i;

	for (i = 0; i < walk->steps; i++) {
		const struct dec_block *block = dec_code_at(f->ahead.code, walk->path[i] >> 1);

		if (block->insns)
			add(f, to, block, 0, block->insns);
	}
}

/*
 * Return a mark: the generation of the array, the number of parts and the index of the first part.
 */
static uint64_t mark_of(const struct decode_pt_merge *m, size_t first)
{
	return (uint64_t)m->filling << 48 | (uint64_t)(m->walks.n - first) << 32 | first;
}

/* Return the parts of a walk, and their number in *n. A walk without parts gets them. */
static const struct decode_part *parts_of(struct decode_pt_flow *f, const struct dec_walk *walk,
					  unsigned int *n)
{
	struct decode_pt_merge *m = &f->merge;

	if (*walk->mark >> 48 != m->filling) {
		if (m->walks.n >= WALK_PARTS_MAX) {
			m->walks.n = 0;
			m->filling = (uint16_t)(m->filling == UINT16_MAX ? 1 : m->filling + 1);
		}
		m->walks.open = false;
		*walk->mark = m->walks.n;
		add_blocks(f, &m->walks, walk);
		*walk->mark = mark_of(m, (size_t)*walk->mark);
	}
	*n = (unsigned int)(*walk->mark >> 32) & 0xffff;
	return m->walks.at + (uint32_t)*walk->mark;
}

static bool on_walk(void *context, const struct dec_walk *walk)
{
	struct decode_pt_flow *f = context;
	struct decode_pt_parts *to = &f->merge.parts;
	const struct decode_part *part;
	unsigned int n, i;

	if (f->base.timed) {
		/* The first branch behind a timing packet has another time than those behind it. */
		if (!dec_timing_settled(&f->ahead.timing))
			return false;
		follow_time(f);
	}
	part = parts_of(f, walk, &n);
	if (f->ahead.no_memory || !n)
		return !f->ahead.no_memory;
	/* The walk now continues another function than when its parts were made. */
	if (continues(to, part->function) && to->function != part->function) {
		add_blocks(f, to, walk);
		return true;
	}
	for (i = 0; i < n; i++)
		append(f, to, &part[i], part[i].function);
	return true;
}

void decode_pt_merge_flush(struct decode_pt_flow *f)
{
	f->merge.parts.open = false;
	decode_pt_merge_queue(f);
}

void decode_pt_merge_queue(struct decode_pt_flow *f)
{
	struct decode_pt_merge *m = &f->merge;
	const size_t n = m->parts.n - m->parts.open;
	struct decode_told *told;

	if (n == m->told)
		return;
	told = decode_pt_queue(f, DECODE_TOLD_PARTS);
	if (told) {
		told->first = (uint32_t)m->told;
		told->count = (uint32_t)(n - m->told);
		if (f->base.timed)
			told->offset = m->offset;
	}
	m->told = n;
}

void decode_pt_merge_next(struct decode_pt_flow *f)
{
	struct decode_pt_parts *parts = &f->merge.parts;

	if (parts->open)
		parts->at[0] = parts->at[parts->n - 1];
	parts->n = parts->open;
	f->merge.told = 0;
}

int decode_pt_merge(struct decode_flow *flow, decode_flow_function *function, void *context)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;

	/* Merge no runs of RTIT, because decode_atom_end_run() changes the last run in the queue. */
	if (!f->blocks || f->counts.wanted || decode_pt_is_atom(f))
		return 0;
	f->merge.function = function;
	f->merge.context = context;
	f->merge.filling = 1;
	f->merge.ops = *f->ahead.flow.ops;
	f->merge.ops.run = on_run;
	f->merge.ops.walk = on_walk;
	f->ahead.flow.ops = &f->merge.ops;
	f->merge.tracelets = f->ahead.flow.tracelets = dec_tracelets_new(DECODE_PT_CACHE, true);
	f->ahead.piece = DECODE_AHEAD_MERGED;
	return f->merge.tracelets ? 0 : -ENOMEM;
}

void decode_pt_merge_close(struct decode_pt_flow *f)
{
	dec_tracelets_free(f->merge.tracelets);
	free(f->merge.functions.at);
	free(f->merge.parts.at);
	free(f->merge.walks.at);
}
