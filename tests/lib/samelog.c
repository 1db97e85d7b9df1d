// SPDX-License-Identifier: GPL-2.0-or-later
/* Walk two logs of retired instructions side by side. */
#include "lib/samelog.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/reader.h"

/*
 * Returns true if a log of blocks has no exact ARRIVED for `r`, which comes after `last`. These are
 * the first record of a session and its end, the event of an INT n, and a branch by at most 15
 * bytes.
 */
static bool is_vague(const struct trace_oracle_record *last, const struct trace_oracle_record *r)
{
	if (last->kind == TRACE_ORACLE_START || r->kind == TRACE_ORACLE_STOP)
		return true;
	return last->kind == TRACE_ORACLE_INSN && r->ip - last->ip <= 15;
}

static bool same(const struct trace_oracle_record *a, const struct trace_oracle_record *b,
		 const struct trace_oracle_record *last)
{
	const unsigned int arrived = a->kind == TRACE_ORACLE_INSN
					     ? TRACE_ORACLE_ARRIVED
					     : TRACE_ORACLE_AUX(0, TRACE_ORACLE_ARRIVED);

	return a->ip == b->ip && a->kind == b->kind && a->cpl == b->cpl &&
	       !((a->aux ^ b->aux) & ~(is_vague(last, a) ? arrived : 0u));
}

static void describe(const struct trace_oracle_record *r, char *text, size_t size)
{
	if (r)
		snprintf(text, size, "kind %u, ip %#" PRIx64 ", cpl %u, aux %#x", r->kind, r->ip,
			 r->cpl, r->aux);
	else
		snprintf(text, size, "the end");
}

static bool walk(const struct trace_reader *one, const struct trace_reader *two, uint64_t *records,
		 char *why, size_t size)
{
	struct trace_oracle_cursor at = {0}, with = {0};
	const struct trace_oracle_record *a, *b;
	char left[96], right[96];
	struct trace_oracle_record last = {.kind = TRACE_ORACLE_START};

	for (*records = 0;; ++*records) {
		a = trace_reader_oracle(one, 0, &at);
		b = trace_reader_oracle(two, 0, &with);
		if (!a && !b)
			return true;
		if (!a || !b || !same(a, b, &last))
			break;
		if (a->kind != TRACE_ORACLE_CR3)
			last = *a;
	}
	describe(a, left, sizeof(left));
	describe(b, right, sizeof(right));
	snprintf(why, size, "record %" PRIu64 ": %s; %s", *records, left, right);
	return false;
}

bool samelog(const char *one, const char *two, uint64_t *records, char *why, size_t size)
{
	struct trace_reader *a = NULL, *b = NULL;
	bool equal = false;

	*records = 0;
	if (!trace_reader_open(one, &a, why, size) && !trace_reader_open(two, &b, why, size))
		equal = walk(a, b, records, why, size);
	trace_reader_close(a);
	trace_reader_close(b);
	return equal;
}
