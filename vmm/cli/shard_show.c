// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard merge: print the joined result, like vpt decode and vpt export. */
#include "cli/shard_show.h"

#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/decode_calls.h"
#include "cli/decode_show.h"
#include "cli/export_format.h"
#include "decode/by_cr3.h"
#include "decode/coverage.h"
#include "decode/spaces.h"
#include "formats/joined.h"

const char *const cli_shard_formats[] = {"folded", "svg",  "callgrind", "edges",  "lcov",
					 "drcov",  "bolt", "autofdo",	"bitmap", NULL};

int cli_shard_show_check(const struct cli_shard_options *o, const struct cli_plan *plan)
{
	static const char *const wanted[] = {"spaces", "edges"};
	const bool edges = plan->kind == DECODE_PARTIAL_EDGES;
	enum decode_space_wanted kind;

	if (o->coverage && plan->kind != DECODE_PARTIAL_COUNTS)
		return cli_fail(CLI_EXIT_USAGE, "shard: --coverage: %s is not a plan of counts",
				o->path);
	if (decode_partial_is_listing(plan->kind) && o->json && !plan->listing.json)
		return cli_fail(CLI_EXIT_USAGE, "shard: --json: make the plan with --json");
	if (edges && o->json)
		return cli_fail(CLI_EXIT_USAGE,
				"shard: --json: %s is a plan of edges: their output "
				"is CSV",
				o->path);
	if (o->has_base && (!o->to || format_find(o->to)->relative == FORMAT_ALL))
		return cli_fail(CLI_EXIT_USAGE, "shard: --base: only with --to=bolt and autofdo");
	if (!o->to)
		return CLI_EXIT_OK;
	/* It is made of edges, and of the blocks that are counted with them. */
	if (!format_can_join(format_find(o->to), &kind))
		kind = DECODE_SPACE_EDGES;
	if (plan->kind !=
	    (kind == DECODE_SPACE_EDGES ? DECODE_PARTIAL_EDGES : DECODE_PARTIAL_SPACES))
		return cli_fail(CLI_EXIT_USAGE, "shard: --to=%s: make the plan with --%s", o->to,
				wanted[kind]);
	return CLI_EXIT_OK;
}

int cli_shard_base(const struct cli_shard_options *o, const struct cli_plan *plan,
		   struct cli_shard_result *result)
{
	const struct cli_export_format f = {
		.verb = "shard",
		.type = o->to ? format_find(o->to) : NULL,
		.path = cli_shard_trace(o, plan),
		.has_base = o->has_base,
		.base = o->base,
	};

	return f.type ? cli_export_base(&f, result->reader, &result->base) : CLI_EXIT_OK;
}

/* Add the conditional branches of a space: (address, 1 if taken). */
static int add_branches(struct trace_pairs *to, const struct decode_space_edges *edges)
{
	const struct {
		enum decode_edge_kind kind;
		bool taken;
	} ways[] = {{DECODE_EDGE_TAKEN, true}, {DECODE_EDGE_NOT_TAKEN, false}};
	size_t w, i;

	for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		const struct trace_pairs *from = &edges->kind[ways[w].kind];

		for (i = 0; i < from->n; i++) {
			struct trace_pair *pair = trace_pairs_add(to, from->at[i].a, ways[w].taken);

			if (!pair)
				return -ENOMEM;
			pair->value += from->at[i].value;
		}
	}
	return 0;
}

/* Add the blocks of a space to those of all. A tracefile has no numbers of instructions. */
static int add_blocks(struct decode_tally *to, const struct trace_pairs *blocks)
{
	size_t i;

	for (i = 0; i < blocks->n; i++)
		if (!decode_tally_add_count(to, blocks->at[i].a, decode_block_last(&blocks->at[i]),
					    blocks->at[i].value, 0))
			return -ENOMEM;
	return 0;
}

static int show_format(const char *name, const struct cli_shard_result *r)
{
	const struct format_joined j = {
		.type = format_find(name),
		.out = stdout,
		.reader = r->reader,
		.symbols = r->symbols,
		.parts = r->parts,
		.base = r->base,
	};

	if (j.type->lines && debug_symbols_read_lines(r->symbols))
		return -ENOMEM;
	return format_joined_write(&j);
}

/* Write the coverage with both ways of branches, like vpt export. */
static int show_lcov(struct cli_shard_result *r)
{
	const unsigned int vcpus = trace_reader_info(r->reader)->vcpus;
	struct trace_pairs branches = {.n = 0};
	struct decode_coverage sum;
	unsigned int i;
	int err = debug_symbols_read_lines(r->symbols);
	size_t k;

	for (i = 0; !err && i < vcpus; i++) {
		for (k = 0; !err && k < r->parts[i].spaces.n; k++) {
			const struct decode_space_edges *edges = &r->parts[i].spaces.at[k].edges;

			err = add_branches(&branches, edges);
			if (!err)
				err = add_blocks(&r->tally, &edges->blocks);
		}
	}
	decode_tally_sort(&r->tally);
	if (!err)
		err = decode_coverage_write(r->symbols, &r->tally, &branches, stdout, &sum);
	trace_pairs_free(&branches);
	return err;
}

/* Join the results of a vCPU to the trees of all. */
static bool add_trees(struct cli_decode_calls *c, struct decode_by_cr3 *by_cr3,
		      struct decode_space_parts *parts)
{
	const struct decode_calls_pieces *pieces;
	size_t i;

	if (!cli_decode_calls_forget(c))
		return false;
	for (i = 0; i < parts->spaces.n; i++) {
		const struct decode_space_part *part = &parts->spaces.at[i];
		const struct trace_space *space;

		pieces = decode_calls_close_open(part->calls);
		if (!pieces || !decode_by_cr3_find(by_cr3, part->id, part->task, &space) ||
		    !cli_decode_calls_join(c, space, pieces))
			return false;
	}
	return true;
}

/* Print a tree for each address space, as vpt decode does with --calls --spaces. */
static int show_trees(const struct cli_shard_options *o, const struct cli_shard_result *r)
{
	struct cli_decode_calls calls = {.symbols = r->symbols, .apart = true};
	struct decode_by_cr3 *by_cr3 = decode_by_cr3_new(false);
	bool ok = by_cr3 && !decode_by_cr3_tasks(by_cr3, r->reader);
	unsigned int i;

	for (i = 0; ok && i < trace_reader_info(r->reader)->vcpus; i++)
		ok = add_trees(&calls, by_cr3, &r->parts[i]);
	ok = ok && cli_decode_calls_forget(&calls);
	if (ok)
		cli_decode_calls_print(&calls, o->json, o->limit);
	cli_decode_calls_free(&calls);
	decode_by_cr3_free(by_cr3);
	return ok ? 0 : -ENOMEM;
}

/* Add the names of the file's spaces to the shares, which have their keys only. */
static void name_shares(struct cli_shard_result *r)
{
	size_t n, i, k;
	const struct trace_space *spaces = trace_reader_spaces(r->reader, &n);

	for (i = 0; i < r->shares.spaces.n; i++) {
		struct decode_space_share *share = &r->shares.spaces.at[i];

		for (k = 0; k < n && !(share->known && decode_space_is(&share->space, &spaces[k]));
		     k++)
			;
		if (k < n)
			share->space = spaces[k];
	}
}

static int show_counts(const struct cli_shard_options *o, struct cli_shard_result *r,
		       bool *no_lines)
{
	struct cli_names names = {.symbols = r->symbols};
	struct cli_decode_stop stop = {.pm = trace_reader_stop(r->reader), .last = r->last_calls};
	size_t spaces;
	const bool has_spaces = trace_reader_spaces(r->reader, &spaces) && spaces;
	const struct cli_decode_show what = {
		.reader = r->reader,
		.symbols = r->symbols,
		.names = &names,
		.vcpu = -1,
		.json = o->json,
		.limit = o->limit,
		.sum = &r->sum,
		.tally = &r->tally,
		.stop = &stop,
		.shares = has_spaces ? &r->shares : NULL,
		.told = true,
	};
	int err = 0;

	name_shares(r);
	if (o->coverage)
		return cli_decode_show_coverage(&what, no_lines);
	names.disasm = decode_disasm_new(r->symbols);
	if (!names.disasm)
		return -ENOMEM;
	if (cli_decode_stop_names(&stop, o->json))
		err = debug_symbols_read_lines(r->symbols);
	if (!err)
		cli_decode_show_summary(&what);
	decode_disasm_free(names.disasm);
	return err;
}

int cli_shard_show(const struct cli_shard_options *o, const struct cli_plan *plan,
		   struct cli_shard_result *r, bool *no_lines)
{
	*no_lines = false;
	switch (plan->kind) {
	case DECODE_PARTIAL_CALLS:
		if (!decode_calls_forget(r->calls))
			return -ENOMEM;
		decode_calls_print(r->calls, stdout, o->json, NULL, o->limit);
		return 0;
	case DECODE_PARTIAL_SPACES:
		return o->to ? show_format(o->to, r) : show_trees(o, r);
	case DECODE_PARTIAL_EDGES:
		return o->to && !strcmp(o->to, "lcov") ? show_lcov(r)
						       : show_format(o->to ? o->to : "edges", r);
	default:
		return show_counts(o, r, no_lines);
	}
}
