// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt export: writes a file of one of the formats that are made of the decoded flow. */
#include "cli/export_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/jobs.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "decode/by_cr3.h"
#include "formats/modules.h"
#include "formats/walk.h"

static bool wants(void *context, const struct decode_item *item)
{
	return cli_decode_side_wants(context, item);
}

/* Decode the trace to an open file. Returns 0 or -errno. */
static int walk(struct cli_export_format *f, struct format_walk *w, int fd, struct format_sum *sum)
{
	const int copy = dup(fd);
	struct cli_progress progress = {0};
	int err;

	w->out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!w->out) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	cli_progress_begin(&progress, w->reader, f->one_vcpu ? (int)f->vcpu : -1, !f->quiet);
	errno = 0;
	err = format_walk(w, sum);
	cli_progress_end(&progress);
	/* A write that failed has set errno, and a later one may succeed. */
	if (fflush(w->out) || ferror(w->out))
		err = errno ? -errno : -EIO;
	if (fclose(w->out) && !err)
		err = -errno;
	return err;
}

/* Write the file. Returns an exit status. */
static int export(struct cli_export_format *f, struct format_walk *w, struct format_sum *sum)
{
	struct trace_outfile output;
	int status = cli_output(f->verb, f->out, TRACE_OUTFILE_WHOLE, &output), err;

	if (status)
		return status;
	err = walk(f, w, output.fd, sum);
	if (!err)
		return cli_commit(f->verb, &output);
	cli_drop(&output);
	if (f->function && err == -ENOENT)
		return cli_fail(CLI_EXIT_USAGE, "%s: --function=%s: the trace has no call of it",
				f->verb, f->function);
	return cli_fail(CLI_EXIT_HOST, "%s: %s: %s", f->verb, f->out, cli_reason(-err));
}

int cli_export_whole(const struct cli_export_format *f, const struct format_walk *w,
		     const struct format_sum *sum)
{
	int status = cli_whole(f->verb, f->path, w->reader);

	if (!status)
		status = cli_memory_whole(f->memory, f->verb, f->path);
	if (!status && sum->errors)
		status = cli_fail(CLI_EXIT_FAIL,
				  "%s: %s: places that cannot be decoded: %" PRIu64
				  "; the first: %s",
				  f->verb, f->path, sum->errors, sum->error);
	return status ? status : cli_symbols_whole(f->verb, f->path, w->symbols);
}

static int check(const struct cli_export_format *f, const struct trace_reader *reader,
		 size_t spaces)
{
	if (f->function && !f->type->selects)
		return cli_fail(CLI_EXIT_USAGE,
				"export: --function: only with --to=folded and svg");
	if (f->one_vcpu && f->vcpu >= trace_reader_info(reader)->vcpus)
		return cli_fail(CLI_EXIT_USAGE, "%s: --vcpu=%" PRIu64 ": %s has vCPUs 0 to %u",
				f->verb, f->vcpu, f->path, trace_reader_info(reader)->vcpus - 1);
	if (cli_decode_side_lacks(&f->side, reader))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: %s: the file has no address spaces: give --process a CR3 "
				"(0x...)",
				f->verb, f->path);
	if (spaces && f->pti)
		return cli_fail(CLI_EXIT_USAGE, "%s: %s: the file has address spaces: omit --pti",
				f->verb, f->path);
	return CLI_EXIT_OK;
}

int cli_export_base(const struct cli_export_format *f, const struct trace_reader *reader,
		    uint64_t *base)
{
	int err;

	*base = f->base;
	if (f->has_base && f->type->relative == FORMAT_ALL)
		return cli_fail(CLI_EXIT_USAGE, "%s: --base: only with --to=bolt and autofdo",
				f->verb);
	if (f->has_base || f->type->relative != FORMAT_AT_BEGIN)
		return CLI_EXIT_OK;
	err = format_modules_begin(reader, base);
	if (!err)
		return CLI_EXIT_OK;
	if (err == -ENOENT)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: %s: give --base=ADDR, the address of the first segment of "
				"the binary, because the trace does not have one binary",
				f->verb, f->path);
	return cli_fail(CLI_EXIT_HOST, "%s: %s: %s", f->verb, f->path, strerror(-err));
}

static int find_cut(const struct cli_export_format *f, const struct format_walk *w,
		    struct decode_window **cut)
{
	const struct cli_cut_of of = {
		.verb = f->verb,
		.path = f->path,
		.reader = w->reader,
		.vcpu = f->one_vcpu ? (int)f->vcpu : -1,
		.side = &f->side,
		.pti = f->pti,
		.symbols = w->symbols,
	};

	return cli_cut_find(&f->cut, &of, cut);
}

int cli_export_prepare(struct cli_export_format *f, struct trace_reader *reader,
		       struct cli_export_walk *all)
{
	struct format_walk *w = &all->walk;
	size_t spaces;
	int status;

	*all = (struct cli_export_walk){
		.walk = {.reader = reader, .type = f->type, .one_vcpu = f->one_vcpu}};
	trace_reader_spaces(reader, &spaces);
	status = check(f, reader, spaces);
	if (!status)
		status = cli_export_base(f, reader, &w->base);
	if (!status)
		status = cli_memory_open(f->memory, f->verb, reader);
	if (!status && !spaces) {
		w->by_cr3 = decode_by_cr3_new(f->pti);
		if (!w->by_cr3 || decode_by_cr3_tasks(w->by_cr3, reader))
			status = cli_fail(CLI_EXIT_HOST, "%s: %s", f->verb, strerror(ENOMEM));
	}
	f->symbols.lines = f->type->lines;
	if (!status)
		status = cli_symbols_open(&f->symbols, f->verb, reader, &all->symbols);
	if (!status && f->type->lines && debug_symbols_read_lines(all->symbols))
		status = cli_fail(CLI_EXIT_HOST, "%s: %s: %s", f->verb, f->path, strerror(ENOMEM));
	w->symbols = all->symbols;
	w->untimed = f->untimed;
	w->source = f->source;
	if (!status)
		status = find_cut(f, w, &all->cut);
	w->cut = all->cut;
	if (f->function)
		w->only = debug_symbols_shown(all->symbols, f->function);
	w->vcpu = (unsigned int)f->vcpu;
	w->jobs = cli_jobs(f->jobs, reader);
	if (cli_decode_side_part(&f->side)) {
		w->wants = wants;
		w->context = &f->side;
	}
	return status;
}

void cli_export_release(struct cli_export_walk *all)
{
	decode_by_cr3_free(all->walk.by_cr3);
	debug_symbols_close(all->symbols);
	free(all->cut);
}

int cli_export_format(struct cli_export_format *f, struct trace_reader *reader)
{
	struct cli_export_walk all;
	struct format_sum sum;
	int status = cli_export_prepare(f, reader, &all);

	if (!status)
		status = export(f, &all.walk, &sum);
	if (!status && !f->quiet && strcmp(f->out, "/dev/stdout"))
		printf("%s: instructions: %" PRIu64 ", address spaces of vCPUs: %" PRIu64 "\n",
		       f->out, sum.insns, sum.lanes);
	if (!status)
		status = cli_export_whole(f, &all.walk, &sum);
	cli_export_release(&all);
	return status;
}
