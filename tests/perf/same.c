// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf's instructions against what ran.
 *
 * usage: perf-same TRACE <PERF      PERF: what perf script --itrace=i0ns -F ip prints
 *
 * Where all that ran is in the trace, they are held against the oracle's list, in which no
 * decoder had a part; where packets were lost as well, but piece by piece from one loss to
 * the next. Where the output was full they are held against the decoder's list, once that
 * agrees with the oracle where it should.
 * Prints one line: how many instructions, which list, and the first difference if there is
 * one. The exit status is 0 if there is none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flowhold.h"
#include "oracle/compare.h"
#include "oracle/expect.h"
#include "trace/reader.h"
#include "trace/vec.h"

struct list {
	uint64_t *at;
	size_t n, room;
};

/* perf's instructions: where a piece of them begins after a loss. */
static struct {
	size_t *at;
	size_t n, room;
} cuts;

static void die(const char *what, int err)
{
	printf("%s: %s\n", what, strerror(-err));
	exit(2);
}

static void add(struct list *l, uint64_t ip)
{
	if (!vpt_vec_room(l))
		die("memory", -ENOMEM);
	l->at[l->n++] = ip;
}

static void read_perf(struct list *l)
{
	char line[256], *end;

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t ip = strtoull(line, &end, 16);

		if (strstr(line, "Overflow packet")) {
			if (!vpt_vec_room(&cuts))
				die("memory", -ENOMEM);
			cuts.at[cuts.n++] = l->n;
			continue;
		}
		if (end == line || strspn(end, " \n") != strlen(end)) {
			printf("perf says: %s", line);
			exit(1);
		}
		add(l, ip);
	}
}

static void expected(const struct vpt_reader *r, struct list *l)
{
	struct vpt_expect e;
	struct vpt_step step;

	vpt_expect_init(&e, r, 0);
	for (;;) {
		vpt_expect_next(&e, &step);
		if (step.kind == VPT_STEP_WRONG) {
			printf("oracle: %s\n", step.text);
			exit(1);
		}
		if (step.kind == VPT_STEP_END)
			return;
		if (step.kind == VPT_STEP_INSN)
			add(l, step.ip);
	}
}

static void decoded(struct vpt_reader *r, struct list *l)
{
	struct flowhold hold = {.holds = false};
	struct vpt_flow *flow;
	struct vpt_item item;
	int err = vpt_flow_open(r, 0, VPT_FLOW_INSNS, &flow);

	if (err)
		die("decoder", err);
	do {
		err = flowhold_next(&hold, flow, &item);
		if (err)
			die("decoder", err);
		if (item.kind == VPT_ITEM_INSN)
			add(l, item.ip);
	} while (item.kind != VPT_ITEM_END);
	vpt_flow_close(flow);
}

/* `n` instructions from `piece` on: where in `ours` they are, at or after `from`. */
static bool find(const struct list *ours, size_t *from, const uint64_t *piece, size_t n)
{
	size_t i, k;

	for (i = *from; i + n <= ours->n; i++) {
		for (k = 0; k < n && ours->at[i + k] == piece[k]; k++)
			;
		if (k == n) {
			*from = i + n;
			return true;
		}
	}
	return false;
}

/* With losses each piece must be somewhere in what ran, and in this order. */
static bool pieces_same(const struct list *ours, const struct list *perf)
{
	size_t i, begin = 0, from = 0;

	for (i = 0; i <= cuts.n; i++) {
		size_t end = i < cuts.n ? cuts.at[i] : perf->n;

		if (!find(ours, &from, perf->at + begin, end - begin)) {
			printf("instructions %zu to %zu of perf, from %" PRIx64 ", did not run\n",
			       begin, end, perf->at[begin]);
			return false;
		}
		begin = end;
	}
	printf("%zu of perf in %zu pieces, all of the %zu of the oracle\n", perf->n, cuts.n + 1,
	       ours->n);
	return perf->n > 0;
}

static bool list_same(const struct list *ours, const struct list *perf, const char *whose)
{
	size_t i;
	bool same;

	for (i = 0; i < ours->n && i < perf->n && ours->at[i] == perf->at[i]; i++)
		;
	same = i == ours->n && i == perf->n;
	printf("%zu of perf, %zu of %s", perf->n, ours->n, whose);
	if (!same)
		printf(": they differ from number %zu on: %" PRIx64 ", %" PRIx64, i,
		       i < perf->n ? perf->at[i] : 0, i < ours->n ? ours->at[i] : 0);
	putchar('\n');
	return same;
}

int main(int argc, char **argv)
{
	struct vpt_comparison c = {0};
	struct list ours = {0}, perf = {0};
	struct vpt_reader *r;
	char why[256];
	bool whole, same;
	int err;

	if (argc != 2)
		return 2;
	err = vpt_reader_open(argv[1], &r, why, sizeof(why));
	if (err) {
		puts(why);
		return 2;
	}
	err = vpt_compare(r, 0, &c);
	if (err)
		die("comparison", err);
	whole = c.retired == c.decoded && !c.mismatches;
	if (c.mismatches) {
		printf("the decoder and the oracle differ: %" PRIu64 "\n", c.mismatches);
		return 1;
	}
	read_perf(&perf);
	if (whole || cuts.n)
		expected(r, &ours);
	else
		decoded(r, &ours);
	if (cuts.n)
		same = pieces_same(&ours, &perf);
	else
		same = list_same(&ours, &perf, whole ? "the oracle" : "the decoder");
	vpt_comparison_free(&c);
	vpt_reader_close(r);
	free(ours.at);
	free(perf.at);
	free(cuts.at);
	return !same;
}
