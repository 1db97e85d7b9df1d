// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions of a trace by number. */
#include "gdb/trace_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "decode/flow.h"

#define KEPT (1u << 20)
/* A search looks for an interruption after so many instructions. */
#define LOOK (1u << 20)

struct gdb_walk {
	struct trace_reader *reader;
	unsigned int vcpu;
	struct decode_flow *flow;
	uint64_t next; /* the number of the next instruction of the flow */
	bool ended;
	struct gdb_walk_insn kept[KEPT]; /* instruction n is at n % KEPT */
};

int gdb_walk_open(struct trace_reader *reader, unsigned int vcpu, struct gdb_walk **walk)
{
	struct gdb_walk *w = malloc(sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->reader = reader;
	w->vcpu = vcpu;
	w->next = 0;
	w->ended = false;
	err = decode_flow_open(reader, vcpu, DECODE_FLOW_INSNS, &w->flow);
	if (err)
		free(w);
	else
		*walk = w;
	return err;
}

void gdb_walk_close(struct gdb_walk *w)
{
	if (!w)
		return;
	decode_flow_close(w->flow);
	free(w);
}

/* Decode one more instruction. Returns 1, 0 at the end, or -errno. */
static int more(struct gdb_walk *w)
{
	struct decode_item item;
	int err;

	while (!w->ended) {
		err = decode_flow_next(w->flow, &item);
		if (err)
			return err;
		w->ended = item.kind == DECODE_ITEM_END;
		if (item.kind != DECODE_ITEM_INSN)
			continue;
		w->kept[w->next++ % KEPT] = (struct gdb_walk_insn){item.ip, item.cr3, item.size};
		return 1;
	}
	return 0;
}

/* Return the number of the first instruction that is kept. */
static uint64_t first(const struct gdb_walk *w)
{
	return w->next > KEPT ? w->next - KEPT : 0;
}

static int restart(struct gdb_walk *w)
{
	struct decode_flow *flow;
	int err = decode_flow_open(w->reader, w->vcpu, DECODE_FLOW_INSNS, &flow);

	if (err)
		return err;
	decode_flow_close(w->flow);
	w->flow = flow;
	w->next = 0;
	w->ended = false;
	return 0;
}

int gdb_walk_get(struct gdb_walk *w, uint64_t n, struct gdb_walk_insn *insn)
{
	int got = n < first(w) ? restart(w) : 0;

	if (got)
		return got;
	while (w->next <= n) {
		got = more(w);
		if (got <= 0)
			return got;
	}
	*insn = w->kept[n % KEPT];
	return 1;
}

uint64_t gdb_walk_kept(const struct gdb_walk *w, uint64_t n)
{
	return n > first(w) && n <= w->next ? n - first(w) : 0;
}

size_t gdb_walk_code(struct gdb_walk *w, uint64_t n, uint64_t ip, void *to, size_t len)
{
	const struct decode_code_store *code;
	struct gdb_walk_insn insn;
	uint8_t *bytes = to;
	size_t done = 0;

	if (gdb_walk_get(w, n, &insn) <= 0)
		return 0;
	code = decode_flow_code(w->flow);
	while (done < len) {
		const uint64_t at = ip + done;
		const size_t in = (size_t)(at % TRACE_CODE_BYTES);
		const uint8_t *page = decode_code_page(code, insn.cr3, at - in);
		size_t part = TRACE_CODE_BYTES - in;

		if (!page)
			break;
		if (part > len - done)
			part = len - done;
		memcpy(bytes + done, page + in, part);
		done += part;
	}
	return done;
}

static bool is_goal(const struct gdb_walk_goal *goal, uint64_t ip)
{
	size_t i;

	for (i = 0; i < goal->count; i++)
		if (goal->ip[i] == ip)
			return true;
	return false;
}

static bool is_interrupted(const struct gdb_walk_goal *goal, uint64_t steps)
{
	return steps % LOOK == LOOK - 1 && goal->interrupted && goal->interrupted(goal->context);
}

int gdb_walk_forward(struct gdb_walk *w, const struct gdb_walk_goal *goal, uint64_t *n)
{
	struct gdb_walk_insn insn;
	uint64_t steps = 0;
	int got;

	while ((got = gdb_walk_get(w, *n + 1, &insn)) == 1) {
		++*n;
		if (is_goal(goal, insn.ip))
			return GDB_WALK_FOUND;
		if (is_interrupted(goal, steps++))
			return GDB_WALK_STOPPED;
	}
	return got < 0 ? got : GDB_WALK_EDGE;
}

/* Find the last instruction before @end, from the beginning of the trace on. */
static int find_last(struct gdb_walk *w, const struct gdb_walk_goal *goal, uint64_t end,
		     uint64_t *n)
{
	bool found = false;
	int got = restart(w);

	while (!got && w->next < end) {
		got = more(w);
		if (got <= 0)
			break;
		got = 0;
		if (is_goal(goal, w->kept[(w->next - 1) % KEPT].ip)) {
			found = true;
			*n = w->next - 1;
		}
		if (is_interrupted(goal, w->next))
			return GDB_WALK_STOPPED;
	}
	if (got < 0)
		return got;
	if (!found)
		*n = 0;
	return found ? GDB_WALK_FOUND : GDB_WALK_EDGE;
}

int gdb_walk_back(struct gdb_walk *w, const struct gdb_walk_goal *goal, uint64_t *n)
{
	const uint64_t from = first(w);
	uint64_t i;

	for (i = *n; i > from; i--) {
		if (is_goal(goal, w->kept[(i - 1) % KEPT].ip)) {
			*n = i - 1;
			return GDB_WALK_FOUND;
		}
	}
	/* gdb_walk_get() has kept the instructions before *n already, except at the first one. */
	if (from)
		return find_last(w, goal, from, n);
	*n = 0;
	return GDB_WALK_EDGE;
}
