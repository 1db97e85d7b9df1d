// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the instructions that perf prints with the executed ones. */
#include "oracle/by_perf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/compare.h"
#include "oracle/hold.h"
#include "trace/vec.h"

enum line { LINE_END, LINE_IP, LINE_LOST, LINE_WRONG };

/* A list of instructions from the oracle or from the decoder. */
struct ours {
	struct oracle_expect expect;
	struct decode_flow *flow; /* NULL for the oracle's list */
	struct oracle_hold hold;
};

struct list {
	uint64_t *at;
	size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void differ(struct oracle_by_perf *r,
							 const char *format, ...)
{
	va_list args;

	if (r->mismatches++)
		return;
	va_start(args, format);
	vsnprintf(r->first, sizeof(r->first), format, args);
	va_end(args);
}

static enum line read_line(FILE *lines, uint64_t *ip, struct oracle_by_perf *r)
{
	char line[256], *end;

	if (!fgets(line, sizeof(line), lines))
		return LINE_END;
	if (strstr(line, "Overflow packet"))
		return LINE_LOST;
	*ip = strtoull(line, &end, 16);
	if (end != line && strspn(end, " \n") == strlen(end))
		return LINE_IP;
	line[strcspn(line, "\n")] = '\0';
	differ(r, "perf says: %s", line + strspn(line, " "));
	return LINE_WRONG;
}

/* Returns 1, 0 if there are no more, or -errno. */
static int next_of_oracle(struct ours *o, uint64_t *ip, struct oracle_by_perf *r)
{
	struct oracle_step step;

	for (;;) {
		oracle_expect_next(&o->expect, &step);
		if (step.kind == ORACLE_STEP_END)
			return 0;
		if (step.kind == ORACLE_STEP_WRONG) {
			differ(r, "the oracle: %s", step.text);
			return 0;
		}
		if (step.kind == ORACLE_STEP_INSN) {
			*ip = step.ip;
			return 1;
		}
	}
}

/* Read the next instruction of @flow, through @hold unless that is NULL. Returns as above. */
static int next_of_flow(struct decode_flow *flow, struct oracle_hold *hold, uint64_t *ip)
{
	struct decode_item item;
	int err;

	do {
		err = hold ? oracle_hold_next(hold, flow, &item) : decode_flow_next(flow, &item);
		if (err)
			return err;
		*ip = item.ip;
		if (item.kind == DECODE_ITEM_END)
			return 0;
	} while (item.kind != DECODE_ITEM_INSN);
	return 1;
}

static int next_of_ours(struct ours *o, uint64_t *ip, struct oracle_by_perf *r)
{
	return o->flow ? next_of_flow(o->flow, &o->hold, ip) : next_of_oracle(o, ip, r);
}

/* Find a piece at or behind *from, and advance *from behind it. */
static bool find(const struct list *ours, size_t *from, const struct list *piece)
{
	size_t i;

	for (i = *from; i + piece->n <= ours->n; i++) {
		if (!piece->n || !memcmp(ours->at + i, piece->at, piece->n * sizeof(*piece->at))) {
			*from = i + piece->n;
			return true;
		}
	}
	return false;
}

static bool add(struct list *l, uint64_t ip)
{
	if (!trace_vec_room(l))
		return false;
	l->at[l->n++] = ip;
	return true;
}

static int read_all(struct ours *o, struct list *list, struct oracle_by_perf *r)
{
	uint64_t ip = 0;
	int more;

	while ((more = next_of_ours(o, &ip, r)) > 0) {
		if (!add(list, ip))
			return -ENOMEM;
	}
	r->retired += list->n;
	return more;
}

/* Returns 0 or -ENOMEM. */
static int find_pieces(const struct list *ours, struct list *piece, FILE *lines,
		       struct oracle_by_perf *r)
{
	size_t from = 0;
	uint64_t ip = 0;
	enum line line;

	do {
		line = read_line(lines, &ip, r);
		if (line == LINE_WRONG)
			return 0;
		if (line == LINE_IP) {
			r->found++;
			if (!add(piece, ip))
				return -ENOMEM;
			continue;
		}
		r->pieces++;
		if (!find(ours, &from, piece))
			differ(r,
			       "instructions %" PRIu64 " to %" PRIu64 " of perf, from 0x%" PRIx64
			       ", did not run there",
			       r->found - piece->n, r->found - 1, piece->at[0]);
		piece->n = 0;
	} while (!r->mismatches && line != LINE_END);
	return 0;
}

static int compare_pieces(struct ours *o, FILE *lines, struct oracle_by_perf *r)
{
	struct list ours = {0}, piece = {0};
	int err = read_all(o, &ours, r);

	r->list = ORACLE_PERF_PIECES;
	if (!err && !r->mismatches)
		err = find_pieces(&ours, &piece, lines, r);
	free(ours.at);
	free(piece.at);
	return err;
}

/*
 * Skip the instructions that the export omits. The decoder supplies their number, and counts an INT
 * n before its event. Returns 0 or -errno.
 */
static int skip_ours(struct ours *o, uint64_t n, struct oracle_by_perf *r)
{
	uint64_t ip;
	int more = 1;

	o->expect.tells_all = true;
	while (r->skipped < n && more > 0) {
		more = o->flow ? next_of_flow(o->flow, NULL, &ip) : next_of_oracle(o, &ip, r);
		r->skipped += more > 0;
	}
	o->expect.tells_all = false;
	if (more < 0)
		return more;
	if (!more)
		differ(r, "the export leaves out %" PRIu64 " instructions, and %" PRIu64 " ran", n,
		       r->skipped);
	return 0;
}

/* Compare one by one, up to a loss. Returns 0 or -errno. */
static int compare_lists(struct ours *o, FILE *lines, struct oracle_by_perf *r)
{
	uint64_t theirs = 0, ours = 0;
	enum line line;
	int more;

	do {
		line = read_line(lines, &theirs, r);
		if (line == LINE_WRONG)
			return 0;
		if (line == LINE_LOST)
			return compare_pieces(o, lines, r);
		more = next_of_ours(o, &ours, r);
		if (more < 0)
			return more;
		r->retired += (unsigned int)more;
		r->found += line == LINE_IP;
		if (!more && line == LINE_IP)
			differ(r, "instruction %" PRIu64 ": perf has one more, 0x%" PRIx64,
			       r->found - 1, theirs);
		else if (more && line == LINE_END)
			differ(r, "instruction %" PRIu64 ": perf has none; it is 0x%" PRIx64,
			       r->retired - 1, ours);
		else if (more && ours != theirs)
			differ(r,
			       "instruction %" PRIu64 ": perf has 0x%" PRIx64
			       ", and it is 0x%" PRIx64,
			       r->retired - 1, theirs, ours);
	} while (!r->mismatches && line != LINE_END);
	return 0;
}

/* Select the list, and check it against the oracle. Returns 0 or -errno. */
static int choose(struct trace_reader *reader, unsigned int vcpu, struct oracle_by_perf *r)
{
	struct oracle_comparison c = {0};
	int err = oracle_compare(reader, vcpu, &c);

	if (!err && c.mismatches)
		differ(r, "the decoder and the oracle differ: without --with=perf");
	if (c.skipped)
		r->list = ORACLE_PERF_PIECES;
	else if (c.retired != c.decoded)
		r->list = ORACLE_PERF_DECODER;
	oracle_comparison_free(&c);
	return err;
}

int oracle_by_perf(struct trace_reader *reader, unsigned int vcpu, uint64_t skip, FILE *lines,
		   struct oracle_by_perf *r)
{
	struct ours ours = {0};
	int err;

	*r = (struct oracle_by_perf){0};
	err = choose(reader, vcpu, r);
	if (err || r->mismatches)
		return err;
	oracle_expect_init(&ours.expect, reader, vcpu);
	if (r->list == ORACLE_PERF_DECODER)
		err = decode_flow_open(reader, vcpu, DECODE_FLOW_INSNS, &ours.flow);
	if (err)
		return err;
	err = skip_ours(&ours, skip, r);
	if (!err && !r->mismatches && r->list == ORACLE_PERF_PIECES)
		err = compare_pieces(&ours, lines, r);
	else if (!err && !r->mismatches)
		err = compare_lists(&ours, lines, r);
	if (ours.flow)
		decode_flow_close(ours.flow);
	return err;
}
