// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the lines and functions that ran as an lcov tracefile. */
#include "decode/coverage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"
#include "trace/vec.h"

/* Places of a file are sorted by their kinds, then by their lines. */
enum kind { FUNCTION, BRANCH, LINE };

/* A line, a conditional branch of it, or the first line of a function. */
struct place {
	const char *file;
	enum kind kind;
	unsigned int line;
	const char *function; /* of a function */
	uint64_t addr;	      /* of a branch */
	uint64_t count;	      /* of a branch: the times it was taken */
	uint64_t fallen;      /* of a branch: the times it was not taken */
};

/* The sum of the counts of all blocks that begin, or end, up to an address. */
struct step {
	uint64_t addr, sum;
};

/*
 * The count of an address is the sum for blocks that begin at or before it, less the sum for blocks
 * that end before it.
 */
struct sums {
	struct step *begin, *end; /* sorted by address */
	size_t n;
};

struct places {
	struct place *at;
	size_t n, room;
};

static int by_addr(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/*
 * List the counts of a tally, by the first or by the last instructions of blocks. Returns NULL if
 * there is no memory.
 */
static struct step *steps_make(const struct decode_tally *tally, bool last)
{
	struct step *steps = calloc(tally->used + 1, sizeof(*steps));
	uint64_t sum = 0;
	size_t i;

	if (!steps)
		return NULL;
	for (i = 0; i < tally->used; i++) {
		const struct decode_block_count *block = &tally->slots[i];

		steps[i] = (struct step){last ? block->last : block->ip, block->count};
	}
	if (tally->used)
		qsort(steps, tally->used, sizeof(*steps), by_addr);
	for (i = 0; i < tally->used; i++)
		steps[i].sum = sum += steps[i].sum;
	return steps;
}

/* Return the sum of the counts before `limit`. */
static uint64_t sum_before(const struct step *steps, size_t n, uint64_t limit)
{
	size_t before = trace_vec_before(steps, n, e, e->addr < limit);

	return before ? steps[before - 1].sum : 0;
}

/* Return the number of times that the instruction at an address ran. */
static uint64_t ran(const struct sums *s, uint64_t addr)
{
	return sum_before(s->begin, s->n, addr + 1) - sum_before(s->end, s->n, addr);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int d = strcmp(x->file, y->file);

	if (d)
		return d;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->function ? strcmp(x->function, y->function) : 0;
}

static bool add(struct places *p, const struct place *place)
{
	if (!trace_vec_room(p))
		return false;
	p->at[p->n++] = *place;
	return true;
}

/* Add the conditional branches that ran. */
static int find_branches(const struct debug_symbols *symbols, const struct trace_pairs *branches,
			 struct places *p)
{
	size_t i;

	for (i = 0; i < branches->n; i++) {
		const struct trace_pair *pair = &branches->at[i];
		const struct debug_line *row = debug_symbols_line(symbols, pair->a);

		if (row && row->file &&
		    !add(p, &(struct place){.file = row->file,
					    .kind = BRANCH,
					    .line = row->line,
					    .addr = pair->a,
					    .count = pair->b ? pair->value : 0,
					    .fallen = pair->b ? 0 : pair->value}))
			return -ENOMEM;
	}
	return 0;
}

static int find_places(const struct debug_symbols *symbols, const struct sums *sums,
		       struct places *p)
{
	const struct debug_symbol *functions;
	const struct debug_line *rows;
	size_t n, i;

	rows = debug_symbols_lines(symbols, &n);
	for (i = 0; i < n; i++) {
		if (rows[i].file && !add(p, &(struct place){.file = rows[i].file,
							    .kind = LINE,
							    .line = rows[i].line,
							    .count = ran(sums, rows[i].addr)}))
			return -ENOMEM;
	}
	functions = debug_symbols_all(symbols, &n);
	for (i = 0; i < n; i++) {
		const struct debug_line *row = debug_symbols_line(symbols, functions[i].start);

		if (row && !add(p, &(struct place){.file = row->file,
						   .kind = FUNCTION,
						   .line = row->line,
						   .function = functions[i].name,
						   .count = ran(sums, functions[i].start)}))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Sort the places, and merge those that are the same. Each piece of a line's code has a row, and the
 * highest count is kept. A branch has a row for each of its two ways.
 */
static void merge(struct places *p)
{
	size_t i, n = 0;

	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), by_place);
	for (i = 0; i < p->n; i++) {
		if (n && !by_place(&p->at[n - 1], &p->at[i])) {
			if (p->at[i].count > p->at[n - 1].count)
				p->at[n - 1].count = p->at[i].count;
			if (p->at[i].fallen > p->at[n - 1].fallen)
				p->at[n - 1].fallen = p->at[i].fallen;
			continue;
		}
		p->at[n++] = p->at[i];
	}
	p->n = n;
}

static void write_name(FILE *out, const char *before, const char *name)
{
	char text[4096];

	text_copy(text, sizeof(text), name, strlen(name));
	fprintf(out, "%s%s\n", before, text);
}

/* Returns the number of places of a kind with which a part of a file begins. */
static size_t count(const struct place *at, size_t n, const char *file, enum kind kind)
{
	size_t i = 0;

	while (i < n && at[i].kind == kind && !strcmp(at[i].file, file))
		i++;
	return i;
}

/* Write the branches of a file. The second number of a branch counts those of its line. */
static void write_branches(const struct place *at, size_t n, FILE *out, struct decode_coverage *sum)
{
	size_t hit = 0, i;
	unsigned int block = 0;

	for (i = 0; i < n; i++) {
		block = i && at[i].line == at[i - 1].line ? block + 1 : 0;
		fprintf(out, "BRDA:%u,%u,0,%" PRIu64 "\nBRDA:%u,%u,1,%" PRIu64 "\n", at[i].line,
			block, at[i].count, at[i].line, block, at[i].fallen);
		hit += (at[i].count != 0) + (at[i].fallen != 0u);
	}
	if (n)
		fprintf(out, "BRF:%zu\nBRH:%zu\n", 2 * n, hit);
	sum->branches += 2 * n;
	sum->branches_hit += hit;
}

/* Write the places of one file. Returns the number of places. */
static size_t write_file(const struct place *at, size_t n, FILE *out, struct decode_coverage *sum)
{
	const size_t functions = count(at, n, at->file, FUNCTION);
	const size_t branches = count(at + functions, n - functions, at->file, BRANCH);
	size_t lines = 0, lines_hit = 0, functions_hit = 0, i;
	char head[64];

	fputs("TN:\n", out);
	write_name(out, "SF:", at->file);
	for (i = 0; i < functions; i++) {
		snprintf(head, sizeof(head), "FN:%u,", at[i].line);
		write_name(out, head, at[i].function);
	}
	for (i = 0; i < functions; i++) {
		snprintf(head, sizeof(head), "FNDA:%" PRIu64 ",", at[i].count);
		write_name(out, head, at[i].function);
		functions_hit += at[i].count != 0;
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", functions, functions_hit);
	write_branches(at + i, branches, out, sum);
	for (i += branches; i < n && !strcmp(at[i].file, at->file); i++) {
		fprintf(out, "DA:%u,%" PRIu64 "\n", at[i].line, at[i].count);
		lines++;
		lines_hit += at[i].count != 0;
	}
	fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", lines, lines_hit);
	sum->files++;
	sum->lines += lines;
	sum->lines_hit += lines_hit;
	sum->functions += functions;
	sum->functions_hit += functions_hit;
	return i;
}

int decode_coverage_write(const struct debug_symbols *symbols, const struct decode_tally *tally,
			  const struct trace_pairs *branches, FILE *out,
			  struct decode_coverage *sum)
{
	struct sums sums = {steps_make(tally, false), steps_make(tally, true), tally->used};
	struct places places = {0};
	int err = sums.begin && sums.end ? 0 : -ENOMEM;
	size_t i;

	memset(sum, 0, sizeof(*sum));
	if (!err)
		err = find_places(symbols, &sums, &places);
	if (!err && branches)
		err = find_branches(symbols, branches, &places);
	if (!err) {
		merge(&places);
		for (i = 0; i < places.n;)
			i += write_file(&places.at[i], places.n - i, out, sum);
	}
	free(sums.begin);
	free(sums.end);
	free(places.at);
	return err;
}
