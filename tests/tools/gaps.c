// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check a trace with gaps, which a slow reader made, against the whole trace of the same run. Each
 * session has the instructions between its two counters.
 * usage: gaps GAPS.vpt WHOLE.vpt
 *
 * Prints a line for what is wrong, or "vCPU V: N gaps, K instructions, M missing" for each vCPU.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "trace/reader.h"

struct list {
	uint64_t *ip;
	size_t n, room;
};

static int fail(const char *what, uint64_t at)
{
	fprintf(stderr, "gaps: %s, %" PRIu64 "\n", what, at);
	return 1;
}

static struct trace_reader *open_file(const char *path)
{
	struct trace_reader *r;
	char why[256];

	if (!trace_reader_open(path, &r, why, sizeof(why)))
		return r;
	fprintf(stderr, "gaps: %s: %s\n", path, why);
	exit(2);
}

static void add(struct list *l, uint64_t ip)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 65536;
		l->ip = realloc(l->ip, l->room * sizeof(*l->ip));
		if (!l->ip)
			abort();
	}
	l->ip[l->n++] = ip;
}

/* Returns 0, or 1 after a line about what is wrong. */
typedef int take_fn(void *context, const struct decode_item *insn);

/* Pass each instruction of a vCPU. */
static int walk(struct trace_reader *r, unsigned int vcpu, take_fn *take, void *context)
{
	struct decode_flow *flow;
	struct decode_item item;
	uint64_t insns = 0;
	int err = decode_flow_open(r, vcpu, DECODE_FLOW_INSNS, &flow);

	while (!err) {
		err = decode_flow_next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			break;
		if (item.kind == DECODE_ITEM_ERROR)
			err = fail(item.text, insns);
		if (item.kind == DECODE_ITEM_INSN) {
			err = take(context, &item);
			insns++;
		}
	}
	decode_flow_close(flow);
	return err;
}

static int take_whole(void *context, const struct decode_item *insn)
{
	add(context, insn->ip);
	return 0;
}

/*
 * Some instructions are listed but did not retire: an INT n that raised an exception. So the place of
 * a session in the whole trace is at its counter or up to so many instructions behind it.
 */
#define SKEW 256u
/*
 * No packet follows the last branch of a session that ends as lost. A decoder cannot know how many
 * instructions ran after it. A block of the payloads has fewer than this.
 */
#define TAIL 64u

static bool is_at(const struct list *all, uint64_t at, const struct list *some)
{
	if (!some->n)
		return true;
	return at + some->n <= all->n &&
	       !memcmp(all->ip + at, some->ip, some->n * sizeof(*some->ip));
}

/* The file with gaps, session by session. */
struct sessions {
	const struct trace_period *periods;
	size_t count, at, lost;
	const struct list *all;
	struct list some; /* the instructions of the session `at` so far */
	uint64_t insns;
};

/* Find the instructions of a session, and begin the next. */
static int end_session(struct sessions *s)
{
	const struct trace_period *p = &s->periods[s->at++];
	const uint64_t from = p->start->insns, n = p->end->insns - from;
	unsigned int skew = 0;

	s->lost += p->end->end == TRACE_END_LOST;
	if (s->some.n + TAIL < n || s->some.n > n + SKEW)
		return fail("a session has another number of instructions", from);
	while (skew < SKEW && !is_at(s->all, from + skew, &s->some))
		skew++;
	if (skew == SKEW)
		return fail("a session has other instructions", from);
	s->insns += s->some.n;
	s->some.n = 0;
	return 0;
}

static int take_gaps(void *context, const struct decode_item *insn)
{
	struct sessions *s = context;
	int err = 0;

	while (!err && s->at < insn->session)
		err = end_session(s);
	add(&s->some, insn->ip);
	return err;
}

static int check(struct trace_reader *gaps, struct trace_reader *whole, unsigned int vcpu)
{
	struct list all = {0};
	struct sessions s = {.all = &all};
	int err = walk(whole, vcpu, take_whole, &all);

	s.periods = trace_reader_sessions(gaps, vcpu, &s.count);
	if (!err)
		err = walk(gaps, vcpu, take_gaps, &s);
	while (!err && s.at < s.count)
		err = end_session(&s);
	if (!err)
		printf("vCPU %u: %zu gaps, %" PRIu64 " instructions, %" PRIu64 " missing\n", vcpu,
		       s.lost, s.insns, all.n - s.insns);
	free(all.ip);
	free(s.some.ip);
	return err;
}

int main(int argc, char **argv)
{
	struct trace_reader *gaps, *whole;
	unsigned int i;
	int err = 0;

	if (argc != 3)
		return fail("usage: gaps GAPS.vpt WHOLE.vpt", 0);
	gaps = open_file(argv[1]);
	whole = open_file(argv[2]);
	for (i = 0; !err && i < trace_reader_info(whole)->vcpus; i++)
		err = check(gaps, whole, i);
	trace_reader_close(gaps);
	trace_reader_close(whole);
	return err ? 1 : 0;
}
