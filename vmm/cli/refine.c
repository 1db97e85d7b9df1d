// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt refine: finds the places at which code changed, and writes them with the trace to a new file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "decode/flow.h"
#include "decode/refine.h"
#include "trace/zstd.h"

struct options {
	const char *path, *out;
	uint64_t level;
	bool json, quiet;
};

#define AT(member) .field = offsetof(struct options, member)

static const struct cli_option rows[] = {
	{'l', "level", "=N", "0: uncompressed (default); 1 to 19: the level of zstd",
	 cli_take_number, AT(level), .most = TRACE_ZSTD_LEVEL_MAX},
	{'j', "json", NULL, "one JSON object per vCPU", cli_take_flag, AT(json)},
	{'q', "quiet", NULL, "no summary and no progress", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_refine = {
	.name = "refine",
	.run = cli_cmd_refine,
	.summary = "find where the code of a kvm-pt trace changed",
	.usage = "[OPTION]... FILE OUT",
	.about = "Writes the .vpt trace FILE of vpt run --engine=kvm-pt to OUT, with more versions "
		 "of "
		 "its code. The recorder finds a change of code some time after it was made. This "
		 "verb "
		 "decodes the trace, and tries for each place that does not decode whether a "
		 "change was "
		 "made before it. Every verb reads OUT like FILE.",
	.notes = "The exit status is 0 if OUT was written, and 1 if OUT would not decode better "
		 "than FILE and was not written. It is 2 for a wrong command line, 3 if FILE "
		 "cannot be read, is incomplete, or has no code of kvm-pt, and 4 if OUT cannot be "
		 "written.",
	.options = rows,
	.column = 17,
	.operands = {{"FILE", AT(path)}, {"OUT", AT(out)}},
};

/* The results of all vCPUs. */
struct refined {
	unsigned int n;
	struct decode_refined *of;
	struct trace_repack_more *more;
	uint64_t *before; /* the places of FILE that cannot be decoded */
};

static void print_text(unsigned int vcpu, const struct decode_refined *r, uint64_t before)
{
	const struct trace_refined *is = &r->more.refined;

	printf("vCPU %-10u pieces: %" PRIu64 ", not decoded: %" PRIu64 ", now: %" PRIu64 "\n", vcpu,
	       r->pieces, is->failed, is->left);
	printf("  changes      placed: %" PRIu64 ", pages added: %" PRIu64 ", trials: %" PRIu64
	       "\n",
	       is->changes, is->pages, r->trials);
	printf("  errors       before: %" PRIu64 ", left: %" PRIu64 "\n", before, r->errors);
	if (r->limited)
		puts("  limits       the search ended early");
}

static void print_json(unsigned int vcpu, const struct decode_refined *r, uint64_t before)
{
	const struct trace_refined *is = &r->more.refined;

	printf("{\"vcpu\":%u,\"pieces\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"left\":%" PRIu64
	       ",\"changes\":%" PRIu64 ",\"pages\":%" PRIu64 ",\"trials\":%" PRIu64
	       ",\"before\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"limited\":%s}\n",
	       vcpu, r->pieces, is->failed, is->left, is->changes, is->pages, r->trials, before,
	       r->errors, r->limited ? "true" : "false");
}

static void print(const struct options *o, const struct refined *all)
{
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		if (o->json)
			print_json(i, &all->of[i], all->before[i]);
		else if (!o->quiet)
			print_text(i, &all->of[i], all->before[i]);
	}
}

static int write_out(const struct options *o, const struct trace_reader *reader,
		     const struct refined *all)
{
	struct trace_repack_report report;
	struct trace_outfile output;
	int status = cli_output("refine", o->out, TRACE_OUTFILE_WHOLE, &output), err;

	if (status)
		return status;
	err = trace_repack(reader, o->path, output.fd, (int)o->level, all->more, &report);
	if (err)
		cli_drop(&output);
	if (err == -EINVAL)
		return cli_fail(CLI_EXIT_INPUT, "refine: %s: it changes while it is read", o->path);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "refine: %s: %s", o->out, cli_reason(-err));
	status = cli_commit("refine", &output);
	if (!status)
		print(o, all);
	return status;
}

/* Count the places of a vCPU that cannot be decoded. Returns 0 or -errno. */
static int count_errors(struct trace_reader *reader, unsigned int vcpu, uint64_t *errors)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	int err = decode_flow_open(reader, vcpu, DECODE_FLOW_COUNTS, &flow);

	if (err)
		return err;
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		*errors += !err && item.kind == DECODE_ITEM_ERROR;
	}
	decode_flow_close(flow);
	return err;
}

/* Returns an exit status after one line if OUT would not decode better than FILE. */
static int compare(const struct options *o, const struct refined *all)
{
	uint64_t before = 0, left = 0;
	bool worse = false;
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		const struct trace_refined *is = &all->of[i].more.refined;

		before += all->before[i];
		left += all->of[i].errors;
		worse |= is->left > is->failed;
	}
	if (left < before && !worse)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_FAIL,
			"refine: %s: places that cannot be decoded: %" PRIu64 ", and %" PRIu64
			" in OUT, which is not written",
			o->path, before, left);
}

static int search(const struct options *o, struct trace_reader *reader, struct refined *all)
{
	struct cli_progress progress = {0};
	int err = 0;

	cli_progress_begin(&progress, reader, -1, !o->quiet);
	for (; all->n < trace_reader_info(reader)->vcpus && !err; all->n++) {
		err = count_errors(reader, all->n, &all->before[all->n]);
		if (err)
			break;
		err = decode_refine(reader, all->n, &all->of[all->n]);
		all->more[all->n] = all->of[all->n].more;
	}
	cli_progress_end(&progress);
	return err ? cli_fail(cli_input_status(err), "refine: %s: %s", o->path, cli_reason(-err))
		   : 0;
}

/* Returns an exit status after one line if the file is not one that can be refined. */
static int check(const struct options *o, const struct trace_reader *reader)
{
	const struct trace_file_info *info = trace_reader_info(reader);
	unsigned int i;

	if (!(info->flags & TRACE_INFO_CODE_BY_OFFSET) || info->flags & TRACE_INFO_ATOM)
		return cli_fail(CLI_EXIT_INPUT,
				"refine: %s: it is not of --engine=kvm-pt, and its code has exact "
				"places",
				o->path);
	for (i = 0; i < info->vcpus; i++) {
		if (trace_reader_refined(reader, i))
			return cli_fail(CLI_EXIT_INPUT, "refine: %s: it is refined already",
					o->path);
	}
	return CLI_EXIT_OK;
}

static int refine(const struct options *o, struct trace_reader *reader)
{
	const unsigned int vcpus = trace_reader_info(reader)->vcpus;
	struct refined all = {
		.of = calloc(vcpus, sizeof(*all.of)),
		.more = calloc(vcpus, sizeof(*all.more)),
		.before = calloc(vcpus, sizeof(*all.before)),
	};
	int status = CLI_EXIT_HOST;

	if (all.of && all.more && all.before)
		status = search(o, reader, &all);
	else
		cli_fail(CLI_EXIT_HOST, "refine: %s", cli_reason(ENOMEM));
	if (!status)
		status = compare(o, &all);
	if (!status)
		status = write_out(o, reader, &all);
	while (all.n > 0)
		decode_refined_free(&all.of[--all.n]);
	free(all.of);
	free(all.more);
	free(all.before);
	return status;
}

static int run(const struct options *o)
{
	struct trace_reader *reader;
	int status = cli_open("refine", o->path, TRACE_READER_COUNT_ORACLE, &reader);

	if (status)
		return status;
	status = cli_whole("refine", o->path, reader);
	if (!status)
		status = check(o, reader);
	if (!status)
		status = refine(o, reader);
	trace_reader_close(reader);
	return status;
}

int cli_cmd_refine(int argc, char **argv)
{
	struct options o = {0};
	int status = cli_options_parse(&cli_verb_refine, argc, argv, &o);
	const struct cli_file files[] = {
		{CLI_INPUT, "FILE", o.path},
		{CLI_OUTPUT, "OUT", o.out},
	};

	if (status)
		return status;
	if (!strcmp(o.path, "-"))
		return cli_fail(CLI_EXIT_USAGE, "refine: -: it is read twice: give a file");
	status = cli_files_check("refine", files, sizeof(files) / sizeof(files[0]));
	if (!status)
		status = cli_confine("refine", &(struct sandbox_want){.output = {o.out}});
	return status ? status : run(&o);
}
