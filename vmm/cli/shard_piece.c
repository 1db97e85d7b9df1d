// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard cut: writes pieces of a trace, and opens them for vpt shard run. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/shard.h"
#include "decode/shard_part.h"
#include "trace/piece.h"

bool cli_shard_piece_name(const char *dir, const struct cli_shard_range *range, char *text)
{
	return snprintf(text, PATH_MAX, "%s/%06u-%06u.vpt", dir, range->first, range->end - 1) <
	       PATH_MAX;
}

static int too_long(const char *path)
{
	return cli_fail(CLI_EXIT_USAGE, "shard: %s: the name is too long", path);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Check that a file is the piece of a range. */
static int check_piece(const char *path, const struct cli_plan *plan,
		       const struct cli_shard_range *range, const struct trace_reader *reader)
{
	unsigned int vcpu;
	const struct trace_piece *piece = trace_reader_piece(reader, &vcpu);
	int status = cli_whole("shard", path, reader);

	if (status)
		return status;
	if (!piece)
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: it is not a piece: make one with vpt shard cut", path);
	if (piece->plan != plan->id)
		return cli_fail(CLI_EXIT_INPUT, "shard: %s: it is a piece of another plan", path);
	if (piece->first != range->first || piece->last != range->end - 1 ||
	    vcpu != plan->shards.at[range->first].vcpu)
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: it is the piece of shards %u to %u, not %u to %u", path,
				piece->first, piece->last, range->first, range->end - 1);
	return CLI_EXIT_OK;
}

int cli_shard_open_piece(const struct cli_shard_options *o, const struct cli_plan *plan,
			 const struct cli_shard_range *range, char *piece,
			 struct trace_reader **reader, struct debug_symbols **symbols)
{
	int status;

	if (is_folder(o->piece) ? !cli_shard_piece_name(o->piece, range, piece)
				: snprintf(piece, PATH_MAX, "%s", o->piece) >= PATH_MAX)
		return too_long(o->piece);
	status = cli_open("shard", piece, TRACE_READER_NO_ORACLE | TRACE_READER_PIECE, reader);
	if (!status)
		status = check_piece(piece, plan, range, *reader);
	if (!status && decode_partial_has_names(plan->kind))
		status = cli_shard_symbols(plan, *reader, symbols);
	return status;
}

/* The trace of which pieces are cut. */
struct cut {
	const struct cli_shard_options *o;
	const struct cli_plan *plan;
	struct trace_reader *reader;
	struct debug_symbols *symbols;
};

static int write_piece(const struct cut *c, const char *path, struct trace_piece_want *want)
{
	struct trace_outfile output;
	struct stat st = {.st_size = 0};
	int status = cli_output("shard", path, TRACE_OUTFILE_WHOLE, &output), err;

	if (status)
		return status;
	err = trace_piece_write(c->reader, want, output.fd);
	if (err) {
		cli_drop(&output);
		return cli_fail(CLI_EXIT_HOST, "shard: %s: %s", path, cli_reason(-err));
	}
	(void)fstat(output.fd, &st);
	status = cli_commit("shard", &output);
	if (!status && !c->o->quiet)
		printf("%s: bytes: %" PRIu64 ", pages of code: %zu\n", path, (uint64_t)st.st_size,
		       want->ncode);
	return status;
}

/* Decode a range to find the code that it uses, and write its piece. */
static int cut_range(const struct cut *c, const struct cli_shard_range *range, const char *path)
{
	struct decode_shard shard;
	struct decode_shard_part part = cli_shard_part(c->plan, range, &shard);
	struct decode_shard_code code = {.n = 0};
	struct trace_piece_want want = {.vcpu = part.vcpu};
	struct decode_partial p = {.end = 0};
	int status, err = -EPROTO;

	part.reader = c->reader;
	part.symbols = c->symbols;
	part.code = &code;
	if (part.vcpu < trace_reader_info(c->reader)->vcpus)
		err = decode_shard_part(&part, &p);
	want.from = part.shard ? shard.from.psb : 0;
	want.to = part.shard ? shard.to.end : UINT64_MAX;
	want.code = code.list;
	want.ncode = code.n;
	want.images = decode_partial_has_names(c->plan->kind);
	want.piece = (struct trace_piece){
		.plan = c->plan->id,
		.first = range->first,
		.last = range->end - 1,
		.insns = p.sum.insns,
		.errors = p.sum.errors,
	};
	status = err ? cli_shard_failed(c->o, c->plan, range, err) : write_piece(c, path, &want);
	if (!err)
		err = trace_reader_unload(c->reader, want.vcpu, want.from, want.to);
	if (!status && err)
		status = cli_shard_failed(c->o, c->plan, range, err);
	decode_partial_free(&p);
	free(code.list);
	return status;
}

/*
 * A piece would lack the code by which spaces are told apart (decode/spaces.c), and the tasks of a
 * guest.
 */
static int check_spaces(const struct cut *c)
{
	const enum decode_partial_kind kind = c->plan->kind;
	size_t n, names;

	(void)trace_reader_spaces(c->reader, &n);
	(void)trace_reader_names(c->reader, &names);
	if (names && (kind == DECODE_PARTIAL_SPACES || kind == DECODE_PARTIAL_EDGES))
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: it has the tasks of its guest, and no pieces for "
				"--spaces and --edges: run the shards where the trace is",
				cli_shard_trace(c->o, c->plan));
	return n ? cli_fail(CLI_EXIT_INPUT,
			    "shard: %s: it has a host and its guests, and no pieces: run the "
			    "shards where the trace is",
			    cli_shard_trace(c->o, c->plan))
		 : CLI_EXIT_OK;
}

/* Cut one piece, or those of all shards into a folder. */
static int cut_ranges(const struct cut *c, const char *dir, const char *out)
{
	struct cli_shard_range range = {0, 1};
	char path[PATH_MAX];
	int status = check_spaces(c);

	if (!status && c->o->which)
		status = cli_shard_parse(c->o, c->plan, &range);
	while (!status && range.first < c->plan->shards.n) {
		if (!out && !cli_shard_piece_name(dir, &range, path))
			return too_long(dir);
		status = cut_range(c, &range, out ? out : path);
		if (c->o->which)
			break;
		range = (struct cli_shard_range){range.end, range.end + 1};
	}
	return status;
}

/* Make the folder of pieces, or check the name of the only one. */
static int prepare(struct cli_shard_options *o, const struct cli_plan *plan, const char *out)
{
	const struct cli_file files[] = {{CLI_INPUT, "PLAN", o->path},
					 {CLI_INPUT, "FILE", cli_shard_trace(o, plan)},
					 {CLI_OUTPUT, "--output", out}};
	int status;

	if (!out)
		return cli_shard_confine(o);
	status = cli_files_check("shard", files, 3);
	return status ? status : cli_confine("shard", &(struct sandbox_want){.output = {out}});
}

int cli_shard_cut(const struct cli_shard_options *options)
{
	struct cli_shard_options o = *options;
	const char *out = o.which ? o.out : NULL;
	struct cli_plan plan;
	struct cut c = {.o = &o, .plan = &plan};
	char dir[PATH_MAX];
	int status = cli_plan_read(o.path, &plan);

	o.dir = o.which ? o.dir : o.out;
	if (!status && !cli_shard_dir(&o, dir, sizeof(dir)))
		status = too_long(o.path);
	if (!status)
		status = prepare(&o, &plan, out);
	if (!status)
		status = cli_shard_open(&o, &plan, &c.reader, &c.symbols);
	if (!status)
		status = cut_ranges(&c, dir, out);
	debug_symbols_close(c.symbols);
	trace_reader_close(c.reader);
	cli_plan_free(&plan);
	return status;
}
