// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes a trace in shards, and joins the results in a random order. Compares counts, events,
 * trees of calls, changes of flow and listings with those of one decoder.
 *
 * usage: partials BYTES PLANS SEED DAMAGE FILE
 *
 * Each vCPU is decoded PLANS times, with other cuts each time. The kinds are counts, calls and edges,
 * and every fourth time all others. Files that are made of edges are compared with those of a walk.
 *
 * BYTES is the minimum size of a shard. DAMAGE places of the stream get other bytes in each plan. Each
 * result is written to a file and read back. Two neighbours that do not fit are decoded again as one,
 * and so is one pair of eight that fits. Each shard is also decoded from a piece of the trace, and the
 * file of this result must have the same bytes.
 *
 * Prints "plans P, shards N, spaces S, edges E, blocks K, ranges G, files F, shares H, listings L
 * bytes, pieces B% of the trace, ...". The end is "joined J, repaired R".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/by_cr3.h"
#include "decode/calls_piece.h"
#include "decode/listing_join.h"
#include "decode/partial_file.h"
#include "decode/shard_part.h"
#include "decode/shards.h"
#include "decode/spaces.h"
#include "formats/joined.h"
#include "formats/walk.h"
#include "lib/same_trees.h"
#include "lib/via_piece.h"

static struct {
	uint64_t plans, shards, joined, repaired;
	uint64_t pieces, piece_bytes;		/* the number of pieces, and their size */
	uint64_t spaces, edges, blocks, ranges; /* that were compared */
	uint64_t shares;			/* of spaces that were compared */
	uint64_t files;				/* of formats that were compared */
	uint64_t text; /* the number of bytes of listings that were compared */
} sum;

static uint32_t state;

static uint32_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % (uint32_t)n;
}

struct work {
	struct trace_reader *reader;
	struct debug_symbols *symbols;
	unsigned int vcpu;
	enum decode_partial_kind kind;
	struct decode_listing_how listing;
	size_t described; /* the number of spaces that the file describes */
	struct decode_shard_plan plan;
	struct decode_partial *parts;
	size_t n;
};

static void die(const char *why)
{
	fprintf(stderr, "partials: %s\n", why);
	exit(1);
}

/* Write a result to a file, and read it back. Returns the file. */
static int pass_file(struct decode_partial *p)
{
	char path[64], why[128];
	int fd = memfd_create("partial", 0);

	if (fd < 0 || decode_partial_write(p, fd))
		die("cannot write");
	decode_partial_free(p);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (decode_partial_read(path, p, why, sizeof(why)))
		die(why);
	return fd;
}

static void decode(const struct work *w, uint32_t first, uint32_t end, struct decode_partial *to)
{
	struct decode_shard shard;
	struct decode_shard_part part = {.reader = w->reader,
					 .symbols = w->symbols,
					 .vcpu = w->vcpu,
					 .kind = w->kind,
					 .listing = w->listing};
	int fd;

	if (end) {
		shard = w->plan.at[first];
		shard.to = w->plan.at[end - 1].to;
		part.shard = &shard;
	}
	if (decode_shard_part(&part, to))
		die("cannot decode");
	to->first = first;
	to->end = end ? end : 1;
	fd = pass_file(to);
	/* A trace with described spaces has no pieces. */
	if (!w->described && !via_piece(&part, to, fd, &sum.piece_bytes))
		die("a piece has another result");
	sum.pieces += !w->described;
	close(fd);
}

/* Join two neighbours. */
static void join(struct work *w, size_t i)
{
	struct decode_partial *a = &w->parts[i], *b = a + 1;
	const uint32_t first = a->first, end = b->end;

	/* The states at PSBs hardly ever differ, even after errors. */
	a->ends[1].unfit |= !below(8);
	if (decode_partial_fits(a, b) == DECODE_PARTIAL_FITS) {
		if (decode_partial_join(a, b))
			die("no memory");
		sum.joined++;
	} else {
		decode_partial_free(a);
		decode_partial_free(b);
		decode(w, first, end, a);
		sum.repaired++;
	}
	if (!below(4))
		close(pass_file(a));
	w->n--;
	memmove(b, b + 1, (w->n - i - 1) * sizeof(*b));
}

/* Compare the shares of spaces, sorted as they are printed. */
static bool same_shares(struct decode_shares *a, struct decode_shares *b)
{
	bool ok;

	decode_shares_sort(a);
	decode_shares_sort(b);
	ok = a->spaces.n == b->spaces.n && a->time == b->time;
	for (size_t i = 0; ok && i < a->spaces.n; i++) {
		const struct decode_space_share *x = &a->spaces.at[i], *y = &b->spaces.at[i];

		ok = x->known == y->known && (!x->known || decode_space_is(&x->space, &y->space)) &&
		     x->insns == y->insns && x->blocks == y->blocks && x->entries == y->entries &&
		     x->exits == y->exits && x->time == y->time;
	}
	sum.shares += a->spaces.n;
	return ok;
}

static bool same_counts(struct decode_partial *a, struct decode_partial *b)
{
	const struct decode_summary *x = &a->sum, *y = &b->sum;

	decode_tally_sort(&a->tally);
	decode_tally_sort(&b->tally);
	return same_shares(&a->shares, &b->shares) && x->insns == y->insns &&
	       x->blocks == y->blocks && x->errors == y->errors && x->skipped == y->skipped &&
	       !memcmp(x->events, y->events, sizeof(x->events)) &&
	       !strcmp(x->first_error, y->first_error) && a->tally.used == b->tally.used &&
	       (!a->tally.used ||
		!memcmp(a->tally.slots, b->tally.slots, a->tally.used * sizeof(*a->tally.slots)));
}

/* Make the tree of a result. */
static struct decode_calls *tree(struct decode_partial *p)
{
	struct decode_calls *c = decode_calls_new(NULL);
	const struct decode_calls_pieces *pieces = decode_calls_close_open(p->calls);

	if (!c || !pieces || !decode_calls_join(c, pieces))
		die("no memory");
	return c;
}

/* Build the tree without open trees. */
static struct decode_calls *plain_tree(const struct work *w)
{
	struct decode_calls *c = decode_calls_new(w->symbols);
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;

	if (!c || decode_flow_open(w->reader, w->vcpu, DECODE_FLOW_BLOCKS, &flow) ||
	    decode_flow_merge(flow, decode_calls_function, w->symbols))
		die("cannot decode");
	while (item.kind != DECODE_ITEM_END) {
		if (decode_flow_next(flow, &item) || !decode_calls_item(c, &item))
			die("cannot decode");
	}
	decode_flow_close(flow);
	return c;
}

static bool same_pairs(struct trace_pairs *x, struct trace_pairs *y)
{
	trace_pairs_sort(x);
	trace_pairs_sort(y);
	return x->n == y->n && (!x->n || !memcmp(x->at, y->at, x->n * sizeof(*x->at)));
}

/* Compare spaces whose ends are closed. */
static bool same_edges(struct decode_space_edges *a, struct decode_space_edges *b)
{
	bool ok = same_pairs(&a->blocks, &b->blocks);

	for (unsigned int k = 0; ok && k < DECODE_EDGE_COUNT; k++) {
		ok = same_pairs(&a->kind[k], &b->kind[k]);
		sum.edges += a->kind[k].n;
	}
	for (unsigned int by = 0; ok && by < DECODE_RANGE_BEGINS; by++) {
		ok = same_pairs(&a->ranges.counts[by], &b->ranges.counts[by]);
		sum.ranges += a->ranges.counts[by].n;
	}
	sum.blocks += a->blocks.n;
	return ok && a->ends == b->ends && a->from.known == b->from.known &&
	       (!a->from.known || (a->from.ip == b->from.ip && a->from.block == b->from.block));
}

/* Make the tree of a space. */
static struct decode_calls *space_tree(struct decode_space_part *part)
{
	struct decode_calls *c = decode_calls_new(NULL);
	const struct decode_calls_pieces *pieces = decode_calls_close_open(part->calls);

	if (!c || !pieces || !decode_calls_join(c, pieces))
		die("no memory");
	return c;
}

static bool same_space(struct decode_space_part *a, struct decode_space_part *b)
{
	struct decode_calls *x, *y;
	bool ok;

	if (a->id != b->id || !a->calls != !b->calls || a->before != b->before)
		return false;
	sum.spaces++;
	if (!a->calls)
		return same_edges(&a->edges, &b->edges);
	x = space_tree(a);
	y = space_tree(b);
	ok = same_trees(x, y);
	decode_calls_free(x);
	decode_calls_free(y);
	return ok;
}

static bool same_spaces(struct decode_space_parts *a, struct decode_space_parts *b)
{
	bool ok = a->spaces.n == b->spaces.n;

	if (!decode_space_parts_close(a) || !decode_space_parts_close(b))
		die("no memory");
	if (a->map.count)
		ok &= b->map.count && !memcmp(a->map.count, b->map.count, DECODE_BLOCK_MAP_SIZE);
	for (size_t i = 0; ok && i < a->spaces.n; i++)
		ok = same_space(&a->spaces.at[i], &b->spaces.at[i]);
	return ok;
}

/* Print a listing to memory. */
static char *listing(const struct decode_partial *p, size_t *len)
{
	struct decode_listing_join join = {.left = UINT64_MAX};
	char *text;

	join.out = open_memstream(&text, len);
	if (!join.out || decode_text_read(&p->text, decode_listing_join, &join) ||
	    !decode_listing_join_whole(&join) || fclose(join.out))
		die("cannot read a listing");
	return text;
}

static bool same_listings(const struct decode_partial *a, const struct decode_partial *b)
{
	size_t n, m;
	char *x = listing(a, &n), *y = listing(b, &m);
	const bool ok = n == m && !memcmp(x, y, n);

	sum.text += n;
	free(x);
	free(y);
	return ok;
}

/* Write a format to memory, from a walk over the trace, or from a result if there is one. */
static char *format(const struct work *w, const struct format_type *type, struct decode_partial *p,
		    size_t *len)
{
	const unsigned int vcpus = trace_reader_info(w->reader)->vcpus;
	struct format_walk walk = {.reader = w->reader,
				   .symbols = w->symbols,
				   .type = type,
				   .by_cr3 = decode_by_cr3_new(false),
				   .one_vcpu = true,
				   .vcpu = w->vcpu};
	struct format_joined joined = {.type = type, .reader = w->reader, .symbols = w->symbols};
	struct format_sum unused;
	char *text;

	joined.parts = calloc(vcpus, sizeof(*joined.parts));
	walk.out = joined.out = open_memstream(&text, len);
	if (!walk.out || !walk.by_cr3 || !joined.parts)
		die("no memory");
	if (p)
		joined.parts[w->vcpu] = p->parts;
	if (p ? format_joined_write(&joined) : format_walk(&walk, &unused))
		die("cannot write a format");
	fclose(walk.out);
	/* Closing its ends may have allocated memory. */
	if (p)
		p->parts = joined.parts[w->vcpu];
	free(joined.parts);
	decode_by_cr3_free(walk.by_cr3);
	return text;
}

/* Compare files that are made of changes of flow with those of a walk. */
static bool same_formats(const struct work *w, struct decode_partial *joined)
{
	static const char *const names[] = {"edges", "drcov", "bolt", "autofdo", "bitmap"};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n, m;
		char *x = format(w, format_find(names[i]), NULL, &n);
		char *y = format(w, format_find(names[i]), joined, &m);

		ok = n == m && !memcmp(x, y, n);
		if (!ok)
			fprintf(stderr, "partials: another file of %s\n", names[i]);
		sum.files++;
		free(x);
		free(y);
	}
	return ok;
}

static bool same(const struct work *w, struct decode_partial *whole, struct decode_partial *joined)
{
	struct decode_calls *a, *b;
	bool ok = same_counts(whole, joined);

	if (decode_partial_is_listing(w->kind))
		return ok && same_listings(whole, joined);
	if (w->kind == DECODE_PARTIAL_EDGES)
		ok = ok && (w->described || same_formats(w, joined));
	if (w->kind != DECODE_PARTIAL_CALLS)
		return ok && same_spaces(&whole->parts, &joined->parts);
	a = plain_tree(w);
	b = tree(joined);
	ok &= same_trees(a, b);
	decode_calls_free(a);
	decode_calls_free(b);
	return ok;
}

static bool run_plan(struct work *w)
{
	struct decode_partial whole;
	bool ok;

	w->listing = (struct decode_listing_how){!below(4), !below(2), !below(2)};
	w->n = w->plan.n;
	w->parts = calloc(w->n, sizeof(*w->parts));
	if (!w->parts)
		die("no memory");
	for (size_t i = 0; i < w->n; i++)
		decode(w, (uint32_t)i, (uint32_t)i + 1, &w->parts[i]);
	while (w->n > 1)
		join(w, below(w->n - 1));
	decode(w, 0, 0, &whole);
	ok = same(w, &whole, &w->parts[0]);
	decode_partial_free(&whole);
	decode_partial_free(&w->parts[0]);
	free(w->parts);
	sum.plans++;
	sum.shards += w->plan.n;
	return ok;
}

static void damage(uint8_t *stream, size_t len, unsigned int n)
{
	size_t at;

	for (; n && len > 128; n--) {
		at = below(len - 64);
		if (below(2))
			stream[at] = (uint8_t)below(256);
		else
			memmove(stream + at, stream + below(len - 64), 64);
	}
}

/* Listings and trees of spaces are made of each fourth plan. */
static bool is_wanted(enum decode_partial_kind kind, unsigned int plan)
{
	return kind == DECODE_PARTIAL_COUNTS || kind == DECODE_PARTIAL_CALLS ||
	       kind == DECODE_PARTIAL_EDGES || plan % 4 == 3;
}

/* Make all plans of a vCPU. Returns false after the first difference. */
static bool run_vcpu(struct work *w, uint64_t bytes, unsigned int plans, unsigned int places)
{
	struct decode_shards_how how = {.jobs = 1, .bytes = bytes};
	bool ok = true;
	size_t len;
	uint8_t *stream = (uint8_t *)(uintptr_t)trace_reader_stream(w->reader, w->vcpu, &len);
	uint8_t *copy = malloc(len + 1);

	if (!copy)
		die("no memory");
	for (unsigned int i = 0; ok && i < plans; i++) {
		how.random = 1 + below(1u << 30);
		memcpy(copy, stream, len);
		damage(stream, len, places);
		if (decode_shards_plan(w->reader, w->vcpu, &how, &w->plan))
			die("cannot plan");
		for (w->kind = 0; ok && w->plan.n && w->kind < DECODE_PARTIAL_KINDS; w->kind++)
			ok = !is_wanted(w->kind, i) || run_plan(w);
		free(w->plan.at);
		memcpy(stream, copy, len);
	}
	free(copy);
	return ok;
}

int main(int argc, char **argv)
{
	struct work w = {.vcpu = 0};
	bool ok = true;
	char why[256];

	if (argc != 6)
		return 2;
	state = 2654435761u * (uint32_t)atoi(argv[3]) | 1;
	if (trace_reader_open_as(argv[5], TRACE_READER_NO_ORACLE, &w.reader, why, sizeof(why)))
		die(why);
	(void)trace_reader_spaces(w.reader, &w.described);
	if (debug_symbols_open_lines(w.reader, &w.symbols) || debug_symbols_read_lines(w.symbols))
		die("no symbols");
	for (; ok && w.vcpu < trace_reader_info(w.reader)->vcpus; w.vcpu++)
		ok = run_vcpu(&w, (uint64_t)atoll(argv[1]), (unsigned int)atoi(argv[2]),
			      (unsigned int)atoi(argv[4]));
	printf("plans %llu, shards %llu, spaces %llu, edges %llu, blocks %llu, ranges %llu, files "
	       "%llu, shares "
	       "%llu, listings %llu "
	       "bytes, "
	       "pieces %llu%% of the trace, "
	       "joined %llu, repaired %llu%s\n",
	       (unsigned long long)sum.plans, (unsigned long long)sum.shards,
	       (unsigned long long)sum.spaces, (unsigned long long)sum.edges,
	       (unsigned long long)sum.blocks, (unsigned long long)sum.ranges,
	       (unsigned long long)sum.files, (unsigned long long)sum.shares,
	       (unsigned long long)sum.text,
	       (unsigned long long)(sum.pieces ? 100 * sum.piece_bytes / sum.pieces /
							 trace_reader_extent(w.reader)->file_bytes
					       : 0),
	       (unsigned long long)sum.joined, (unsigned long long)sum.repaired,
	       ok ? "" : ": they differ");
	debug_symbols_close(w.symbols);
	trace_reader_close(w.reader);
	return ok ? 0 : 1;
}
