// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard plan and run: make a plan, and decode a shard of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/jobs.h"
#include "cli/open.h"
#include "cli/shard.h"
#include "decode/partial_file.h"
#include "decode/shard_part.h"
#include "decode/shards.h"
#include "trace/vec.h"

bool cli_shard_dir(const struct cli_shard_options *o, char *text, size_t size)
{
	const int len =
		o->dir ? snprintf(text, size, "%s", o->dir) : snprintf(text, size, "%s.d", o->path);

	return len >= 0 && (size_t)len < size;
}

bool cli_shard_file(const struct cli_shard_options *o, const struct cli_shard_range *range,
		    char *text, size_t size)
{
	size_t len;

	if (!cli_shard_dir(o, text, size))
		return false;
	len = strlen(text);
	return snprintf(text + len, size - len, "/%06u-%06u.part", range->first, range->end - 1) <
	       (int)(size - len);
}

int cli_shard_read(const struct cli_shard_options *o, const struct cli_plan *plan,
		   const struct cli_shard_range *range, struct decode_partial *p, char *why,
		   size_t size)
{
	char path[PATH_MAX], reason[128];
	int err;

	memset(p, 0, sizeof(*p));
	if (!cli_shard_file(o, range, path, sizeof(path))) {
		snprintf(why, size, "%s: the name is too long", o->path);
		return CLI_EXIT_USAGE;
	}
	err = decode_partial_read(path, p, reason, sizeof(reason));
	if (err) {
		snprintf(why, size, "%s: %s", path, reason);
		return cli_input_status(-err);
	}
	if (p->plan == plan->id && p->first == range->first && p->end == range->end &&
	    p->kind == plan->kind && p->vcpu == plan->shards.at[range->first].vcpu)
		return CLI_EXIT_OK;
	snprintf(why, size, "%s: it is not of this plan: remove it, and run the shard", path);
	return CLI_EXIT_INPUT;
}

/* Returns true if the result of a range is complete. */
static bool has_result(const struct cli_shard_options *o, const struct cli_plan *plan,
		       const struct cli_shard_range *range)
{
	struct decode_partial p;
	char why[CLI_SHARD_WHY];
	bool has = !cli_shard_read(o, plan, range, &p, why, sizeof(why));

	if (has && !o->quiet)
		printf("shard %u: the result is kept\n", range->first);
	decode_partial_free(&p);
	return has;
}

int cli_shard_parse(const struct cli_shard_options *o, const struct cli_plan *plan,
		    struct cli_shard_range *range)
{
	const char *text = o->which;
	uint64_t first, last;
	const char *at = cli_read_number(text, &first);

	last = first;
	if (at && *at == '-')
		at = cli_read_number(at + 1, &last);
	if (!at || *at || first > last)
		return cli_fail(CLI_EXIT_USAGE,
				"shard: %s: %s: no shard: give a number, or FIRST-LAST", o->action,
				text);
	if (last >= plan->shards.n)
		return cli_fail(CLI_EXIT_USAGE, "shard: %s: %s: the plan has shards 0 to %zu",
				o->action, text, plan->shards.n - 1);
	if (plan->shards.at[first].vcpu != plan->shards.at[last].vcpu)
		return cli_fail(CLI_EXIT_USAGE, "shard: %s: %s: they are of several vCPUs",
				o->action, text);
	*range = (struct cli_shard_range){(uint32_t)first, (uint32_t)last + 1};
	return CLI_EXIT_OK;
}

static enum decode_partial_kind kind_of(const struct cli_shard_options *o)
{
	if (o->insn || o->blocks)
		return o->insn ? DECODE_PARTIAL_INSNS : DECODE_PARTIAL_BLOCKS;
	if (o->spaces)
		return DECODE_PARTIAL_SPACES;
	if (o->calls)
		return DECODE_PARTIAL_CALLS;
	return o->edges ? DECODE_PARTIAL_EDGES : DECODE_PARTIAL_COUNTS;
}

/* Check that the trace has all that a plan supports. */
static int check_trace(const struct cli_shard_options *o, const struct trace_reader *reader)
{
	const enum decode_partial_kind kind = kind_of(o);
	const char *path = o->path;
	size_t spaces, names;

	trace_reader_names(reader, &names);
	if (names && o->spaces && decode_partial_is_listing(kind))
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: it has the tasks of its guest, whose listings have no "
				"shards: use vpt decode",
				path);

	trace_reader_spaces(reader, &spaces);
	if (spaces && o->pti)
		return cli_fail(CLI_EXIT_USAGE,
				"shard: %s: the file has address spaces: omit --pti", path);
	if (spaces && (kind == DECODE_PARTIAL_SPACES || kind == DECODE_PARTIAL_EDGES))
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: it has a host and its guests, whose --spaces and "
				"--edges have no shards: use vpt decode and vpt export",
				path);
	return cli_whole("shard", path, reader);
}

/* Add the shards of a vCPU. */
static int plan_vcpu(struct cli_plan *plan, struct trace_reader *reader, unsigned int vcpu,
		     const struct decode_shards_how *how)
{
	struct decode_shard_plan part;
	struct cli_planned one = {.vcpu = vcpu};
	int err = decode_shards_plan(reader, vcpu, how, &part);
	size_t i;

	one.whole = !part.n;
	one.bytes = trace_reader_stream_bytes(reader, vcpu);
	for (i = 0; !err && i < (part.n ? part.n : 1); i++) {
		if (part.n) {
			one.shard = part.at[i];
			one.bytes = one.shard.to.end - one.shard.from.end;
		}
		if (!trace_vec_room(&plan->shards))
			err = -ENOMEM;
		else
			plan->shards.at[plan->shards.n++] = one;
	}
	free(part.at);
	return err;
}

static int fill_plan(const struct cli_shard_options *o, struct trace_reader *reader,
		     struct cli_plan *plan)
{
	struct decode_shards_how how = {.jobs = cli_jobs(o->jobs, reader), .bytes = o->bytes};
	uint64_t total = 0;
	unsigned int i;
	size_t names;
	int err = 0;

	trace_reader_names(reader, &names);
	how.exact = names && (o->spaces || o->edges);
	plan->file_bytes = trace_reader_extent(reader)->file_bytes;
	plan->kind = kind_of(o);
	plan->pti = o->pti;
	if (decode_partial_is_listing(plan->kind))
		plan->listing = (struct decode_listing_how){o->json, o->lines, o->spaces};
	plan->vcpus = trace_reader_info(reader)->vcpus;
	for (i = 0; i < plan->vcpus; i++)
		total += trace_reader_stream_bytes(reader, i);
	if (!how.bytes)
		how.bytes = total / o->shards + 1;
	for (i = 0; !err && i < plan->vcpus; i++)
		err = plan_vcpu(plan, reader, i, &how);
	return err;
}

static int write_plan(const struct cli_shard_options *o, const char *out,
		      const struct cli_plan *plan)
{
	struct trace_outfile output;
	int status = cli_output("shard", out, TRACE_OUTFILE_WHOLE, &output);
	FILE *file;

	if (status)
		return status;
	file = fdopen(dup(output.fd), "w");
	if (file)
		cli_plan_write(plan, file);
	if (!file || fclose(file)) {
		status = cli_fail(CLI_EXIT_HOST, "shard: %s: %s", out, cli_reason(errno));
		cli_drop(&output);
		return status;
	}
	status = cli_commit("shard", &output);
	if (!status && !o->quiet)
		printf("%s: shards: %zu, of vCPUs: %u\n", out, plan->shards.n, plan->vcpus);
	return status;
}

/* The symbols of the plan are strings that it owns. */
static int copy_symbols(const struct cli_symbols *from, struct cli_plan *plan)
{
	for (; plan->symbols.n < from->n; plan->symbols.n++) {
		char *word = strdup(from->word[plan->symbols.n]);

		if (!word)
			return -ENOMEM;
		plan->symbols.word[plan->symbols.n] = word;
	}
	return 0;
}

static int make_plan(const struct cli_shard_options *o, const char *out, struct cli_plan *plan)
{
	struct trace_reader *reader;
	int status =
		    cli_open("shard", o->path, TRACE_READER_NO_ORACLE | TRACE_READER_LAZY, &reader),
	    err;

	if (status)
		return status;
	status = check_trace(o, reader);
	if (!status) {
		err = copy_symbols(&o->symbols, plan);
		if (!err)
			err = fill_plan(o, reader, plan);
		if (err == -EBADMSG)
			status = cli_fail(CLI_EXIT_INPUT, "shard: %s: its trace is damaged",
					  o->path);
		else if (err)
			status =
				cli_fail(CLI_EXIT_HOST, "shard: %s: %s", o->path, cli_reason(-err));
	}
	trace_reader_close(reader);
	plan->id = cli_plan_id(plan);
	return status ? status : write_plan(o, out, plan);
}

/* Check the options that select what a plan is for. */
static int check_kind(const struct cli_shard_options *o)
{
	const bool listing = o->insn || o->blocks;

	if (o->insn && o->blocks)
		return cli_fail(CLI_EXIT_USAGE, "shard: --insn, --blocks: only one of them");
	if (listing && (o->calls || o->edges))
		return cli_fail(CLI_EXIT_USAGE,
				"shard: --insn, --blocks: not with --calls and --edges");
	if (o->edges && (o->calls || o->spaces))
		return cli_fail(CLI_EXIT_USAGE, "shard: --edges: not with --calls and --spaces");
	if (o->lines && !listing)
		return cli_fail(CLI_EXIT_USAGE, "shard: --lines: only with --insn and --blocks");
	if (o->json && !listing)
		return cli_fail(CLI_EXIT_USAGE,
				"shard: plan: --json: only with --insn and --blocks: give it to "
				"merge");
	if (o->pti && !o->edges && !o->spaces)
		return cli_fail(CLI_EXIT_USAGE, "shard: --pti: only with --spaces and --edges");
	return CLI_EXIT_OK;
}

int cli_shard_plan(struct cli_shard_options *o)
{
	struct cli_plan plan = {.id = 0};
	char out[PATH_MAX];
	int status = check_kind(o);

	if (status)
		return status;
	if (snprintf(out, sizeof(out), "%s%s", o->out ? o->out : o->path, o->out ? "" : ".plan") >=
	    (int)sizeof(out))
		return cli_fail(CLI_EXIT_USAGE, "shard: %s: the name is too long", o->path);
	if (!realpath(o->path, plan.trace))
		return cli_fail(CLI_EXIT_INPUT, "shard: %s: %s", o->path, cli_reason(errno));
	status = cli_files_check("shard",
				 (const struct cli_file[]){{CLI_INPUT, "FILE", o->path},
							   {CLI_OUTPUT, "--output", out}},
				 2);
	if (!status)
		status = cli_confine("shard", &(struct sandbox_want){.output = {out}});
	if (!status)
		status = make_plan(o, out, &plan);
	cli_plan_free(&plan);
	return status;
}

const char *cli_shard_trace(const struct cli_shard_options *o, const struct cli_plan *plan)
{
	return o->trace ? o->trace : plan->trace;
}

struct decode_shard_part cli_shard_part(const struct cli_plan *plan,
					const struct cli_shard_range *range,
					struct decode_shard *shard)
{
	const struct cli_planned *first = &plan->shards.at[range->first];

	*shard = first->shard;
	shard->to = plan->shards.at[range->end - 1].shard.to;
	return (struct decode_shard_part){
		.vcpu = first->vcpu,
		.kind = plan->kind,
		.pti = plan->pti,
		.listing = plan->listing,
		.shard = first->whole ? NULL : shard,
	};
}

/* Returns false if a piece lacks code that its shards use. */
static bool has_all_code(const struct trace_reader *reader, const struct decode_partial *p)
{
	unsigned int vcpu;
	const struct trace_piece *piece = trace_reader_piece(reader, &vcpu);

	return !piece || (piece->insns == p->sum.insns && piece->errors == p->sum.errors);
}

/* Decode a range, with the reader of its trace. */
static int decode_range(struct trace_reader *reader, const struct cli_plan *plan,
			struct debug_symbols *symbols, const struct cli_shard_range *range,
			struct decode_partial *to)
{
	struct decode_shard shard;
	struct decode_shard_part part = cli_shard_part(plan, range, &shard);
	int err;

	part.reader = reader;
	part.symbols = symbols;
	*to = (struct decode_partial){.end = 0};
	if (part.vcpu >= trace_reader_info(reader)->vcpus)
		return -EPROTO;
	err = decode_shard_part(&part, to);
	if (!err)
		err = trace_reader_unload(reader, part.vcpu, part.shard ? shard.from.psb : 0,
					  part.shard ? shard.to.end : UINT64_MAX);
	to->plan = plan->id;
	to->first = range->first;
	to->end = range->end;
	return err || has_all_code(reader, to) ? err : -ENODATA;
}

static int write_result(const struct cli_shard_options *o, const struct cli_shard_range *range,
			struct decode_partial *p)
{
	struct trace_outfile output;
	char path[PATH_MAX];
	int status, err;

	if (!cli_shard_file(o, range, path, sizeof(path)))
		return cli_fail(CLI_EXIT_USAGE, "shard: %s: the name is too long", o->path);
	status = cli_output("shard", path, TRACE_OUTFILE_WHOLE, &output);
	if (status)
		return status;
	err = decode_partial_write(p, output.fd);
	if (err) {
		cli_drop(&output);
		return cli_fail(CLI_EXIT_HOST, "shard: %s: %s", path, cli_reason(-err));
	}
	status = cli_commit("shard", &output);
	if (!status && !o->quiet)
		printf("%s: instructions: %" PRIu64 "\n", path, p->sum.insns);
	return status;
}

int cli_shard_symbols(const struct cli_plan *plan, const struct trace_reader *reader,
		      struct debug_symbols **symbols)
{
	struct cli_symbols with = plan->symbols;
	int status;

	with.lines = plan->listing.lines;
	status = cli_symbols_open(&with, "shard", reader, symbols);
	if (!status && with.lines && debug_symbols_read_lines(*symbols))
		status = cli_fail(CLI_EXIT_HOST, "shard: %s", cli_reason(ENOMEM));
	return status;
}

int cli_shard_open(const struct cli_shard_options *o, const struct cli_plan *plan,
		   struct trace_reader **reader, struct debug_symbols **symbols)
{
	const char *path = cli_shard_trace(o, plan);
	int status = cli_open("shard", path, TRACE_READER_NO_ORACLE | TRACE_READER_LAZY, reader);

	*symbols = NULL;
	if (status)
		return status;
	if (trace_reader_extent(*reader)->file_bytes != plan->file_bytes)
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: it is not the file of the plan, which had %" PRIu64
				" bytes",
				path, plan->file_bytes);
	status = cli_whole("shard", path, *reader);
	return status ? status : cli_shard_symbols(plan, *reader, symbols);
}

int cli_shard_failed(const struct cli_shard_options *o, const struct cli_plan *plan,
		     const struct cli_shard_range *range, int err)
{
	const char *path = cli_shard_trace(o, plan);

	if (err == -EPROTO)
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: shard %u is not one of %s: make the plan again",
				o->path, range->first, path);
	if (err == -EBADMSG || err == -ENODATA)
		return cli_fail(CLI_EXIT_INPUT,
				"shard: %s: trace or code of shard %u is missing or damaged", path,
				range->first);
	return cli_fail(CLI_EXIT_HOST, "shard: %s: %s", o->path, cli_reason(-err));
}

int cli_shard_decode(const struct cli_shard_options *o, const struct cli_plan *plan,
		     struct trace_reader *reader, struct debug_symbols *symbols,
		     const struct cli_shard_range *range)
{
	struct decode_partial p;
	int err = decode_range(reader, plan, symbols, range, &p), status;

	status = err ? cli_shard_failed(o, plan, range, err) : write_result(o, range, &p);
	decode_partial_free(&p);
	return status;
}

/* Make the folder of results, and enter the sandbox in which only it is written. */
int cli_shard_confine(const struct cli_shard_options *o)
{
	char dir[PATH_MAX];

	if (!cli_shard_dir(o, dir, sizeof(dir)))
		return cli_fail(CLI_EXIT_USAGE, "shard: %s: the name is too long", o->path);
	if (mkdir(dir, 0777) && errno != EEXIST)
		return cli_fail(CLI_EXIT_HOST, "shard: %s: %s", dir, cli_reason(errno));
	return cli_confine("shard", &(struct sandbox_want){.share = dir});
}

/* A trace that is opened for the first shard that needs it, because opening reads all of it. */
struct opened {
	struct trace_reader *reader;
	struct debug_symbols *symbols;
};

/* Decode a range with its piece. */
static int run_piece(const struct cli_shard_options *o, const struct cli_plan *plan,
		     const struct cli_shard_range *range)
{
	struct cli_shard_options with = *o;
	struct opened in = {NULL, NULL};
	char path[PATH_MAX];
	int status = cli_shard_open_piece(o, plan, range, path, &in.reader, &in.symbols);

	/* Messages name the piece. */
	with.trace = path;
	if (!status)
		status = cli_shard_decode(&with, plan, in.reader, in.symbols, range);
	debug_symbols_close(in.symbols);
	trace_reader_close(in.reader);
	return status;
}

/* Decode a range, unless its result is kept. */
static int run_range(const struct cli_shard_options *o, const struct cli_plan *plan,
		     const struct cli_shard_range *range, struct opened *in)
{
	int status = CLI_EXIT_OK;

	if (o->keep && has_result(o, plan, range))
		return status;
	if (o->piece)
		return run_piece(o, plan, range);
	if (!in->reader)
		status = cli_shard_open(o, plan, &in->reader, &in->symbols);
	return status ? status : cli_shard_decode(o, plan, in->reader, in->symbols, range);
}

/* Decode a range, or with --step each N-th shard from it on. */
static int run(const struct cli_shard_options *o, const struct cli_plan *plan)
{
	struct opened in = {NULL, NULL};
	struct cli_shard_range range;
	int status = cli_shard_parse(o, plan, &range);

	if (!status && o->step && range.end - range.first > 1)
		status = cli_fail(CLI_EXIT_USAGE, "shard: run: --step: %s: give one shard",
				  o->which);
	if (!status)
		status = run_range(o, plan, &range, &in);
	while (!status && o->step && plan->shards.n - range.first > o->step) {
		range.first += (uint32_t)o->step;
		range.end = range.first + 1;
		status = run_range(o, plan, &range, &in);
	}
	debug_symbols_close(in.symbols);
	if (in.reader)
		trace_reader_close(in.reader);
	return status;
}

int cli_shard_run(const struct cli_shard_options *o)
{
	struct cli_plan plan;
	int status = cli_shard_confine(o);

	if (status)
		return status;
	/* A log shows each result when it is there. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	status = cli_plan_read(o->path, &plan);
	if (!status)
		status = run(o, &plan);
	cli_plan_free(&plan);
	return status;
}
