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

/* Take the instructions of the whole trace. */
static int take(struct trace_reader *r, unsigned int vcpu, struct list *all)
{
	struct decode_flow *flow;
	struct decode_item item;
	int err = decode_flow_open(r, vcpu, DECODE_FLOW_INSNS, &flow);

	while (!err) {
		err = decode_flow_next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			break;
		if (item.kind == DECODE_ITEM_ERROR)
			err = fail(item.text, all->n);
		if (item.kind == DECODE_ITEM_INSN)
			add(all, item.ip);
	}
	decode_flow_close(flow);
	return err;
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

/* Find the instructions of a session, and forget them. */
static int end_session(const struct list *all, const struct trace_period *p, struct list *some)
{
	const uint64_t n = p->end->insns - p->start->insns;
	unsigned int skew = 0;

	if (some->n + TAIL < n || some->n > n + SKEW)
		return fail("a session has another number of instructions", p->start->insns);
	while (skew < SKEW && !is_at(all, p->start->insns + skew, some))
		skew++;
	if (skew == SKEW)
		return fail("a session has other instructions", p->start->insns);
	some->n = 0;
	return 0;
}

static int compare(struct trace_reader *r, unsigned int vcpu, const struct list *all,
		   uint64_t *insns)
{
	struct list some = {0};
	struct decode_flow *flow;
	struct decode_item item;
	size_t count, session = 0;
	const struct trace_period *periods = trace_reader_sessions(r, vcpu, &count);
	int err = decode_flow_open(r, vcpu, DECODE_FLOW_INSNS, &flow);

	while (!err) {
		err = decode_flow_next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			break;
		if (item.kind == DECODE_ITEM_ERROR)
			err = fail(item.text, *insns);
		if (item.kind != DECODE_ITEM_INSN)
			continue;
		while (!err && session < item.session)
			err = end_session(all, &periods[session++], &some);
		add(&some, item.ip);
		++*insns;
	}
	decode_flow_close(flow);
	while (!err && session < count)
		err = end_session(all, &periods[session++], &some);
	free(some.ip);
	return err;
}

static int check(struct trace_reader *gaps, struct trace_reader *whole, unsigned int vcpu)
{
	const struct trace_period *periods;
	struct list all = {0};
	size_t i, count, lost = 0;
	uint64_t insns = 0;
	int err = take(whole, vcpu, &all);

	periods = trace_reader_sessions(gaps, vcpu, &count);
	for (i = 0; i < count; i++)
		lost += periods[i].end->end == TRACE_END_LOST;
	if (!err)
		err = compare(gaps, vcpu, &all, &insns);
	if (!err)
		printf("vCPU %u: %zu gaps, %" PRIu64 " instructions, %" PRIu64 " missing\n", vcpu,
		       lost, insns, all.n - insns);
	free(all.ip);
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
