// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt decode --follow: decodes the blocks of a trace as they arrive. If later blocks contradict the
 * items so far, or if the options need the whole file, the finished file is decoded instead.
 */
#include "cli/decode_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/foreign.h"
#include "cli/open.h"

#define WAIT_MS 1000u

/* A vCPU that is decoded while the file grows. */
struct cli_decode_followed {
	unsigned int vcpu;
	struct decode_flow *flow; /* NULL once it was closed */
	struct decode_item item;  /* the last one */
	bool done;
};

static bool is_listing(const struct cli_decode_options *o)
{
	return !o->quiet && (o->mode == CLI_DECODE_INSN || o->mode == CLI_DECODE_BLOCKS);
}

static FILE *open_listing(void)
{
	const int fd = trace_growing_scratch();
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

int cli_decode_follow_open(struct cli_decode_follow *f, const struct cli_decode_options *o)
{
	char why[256];
	char *name;
	int err;

	*f = (struct cli_decode_follow){.file = {.fd = -1, .input = -1}};
	if (cli_foreign_is(o->path))
		return cli_fail(CLI_EXIT_USAGE, "decode: --follow: %s: not a .vpt file", o->path);
	name = cli_growing_name(o->path);
	if (!name)
		return cli_fail(CLI_EXIT_HOST, "decode: %s", strerror(ENOMEM));
	err = trace_growing_open(&f->file, name, why, sizeof(why));
	if (err)
		err = cli_fail(cli_input_status(err), "decode: %s: %s", name, why);
	free(name);
	if (err || !is_listing(o))
		return err;
	f->listing = open_listing();
	return f->listing
		       ? CLI_EXIT_OK
		       : cli_fail(CLI_EXIT_HOST, "decode: a temporary file: %s", cli_reason(errno));
}

/* Close the flows of vCPUs whose items are not needed. */
static void drop(struct cli_decode_follow *f)
{
	unsigned int i;

	for (i = 0; i < f->n; i++)
		decode_flow_close(f->vcpus[i].flow);
	free(f->vcpus);
	f->vcpus = NULL;
	f->n = 0;
	f->live = false;
}

void cli_decode_follow_close(struct cli_decode_follow *f)
{
	drop(f);
	if (f->listing)
		fclose(f->listing);
	trace_growing_close(&f->file);
}

/* Returns true if the options need nothing that only the whole file shows. */
static bool can_follow(const struct cli_decode_options *o)
{
	return !o->time && !o->spaces && !o->side.space && !cli_decode_side_told(&o->side) &&
	       !cli_cut_given(&o->cut) && !o->memory.n && !o->signature;
}

/* Returns true if the vCPUs can be decoded in any order, because their results are sums. */
static bool is_sum(const struct cli_decode_options *o)
{
	return o->quiet || o->mode == CLI_DECODE_SUMMARY || o->mode == CLI_DECODE_COVERAGE;
}

static bool has_begun(const struct trace_reader *r)
{
	unsigned int i;
	size_t n;

	for (i = 0; i < trace_reader_info(r)->vcpus; i++) {
		trace_reader_sessions(r, i, &n);
		if (n || trace_reader_stream_bytes(r, i))
			return true;
	}
	return trace_reader_extent(r)->closed;
}

static int fail_input(const struct cli_decode *d, int err)
{
	return cli_fail(cli_input_status(err), "decode: %s: %s", d->o->path, strerror(-err));
}

/* Read the blocks that have arrived. Sets f->broken at damage. Returns 0 or -errno. */
static int read_more(struct cli_decode_follow *f, struct cli_decode *d)
{
	char why[256];
	int err = 0;

	if (f->broken)
		return 0;
	if (d->reader)
		err = trace_reader_more(d->reader);
	else
		err = trace_reader_open_growing(f->file.fd, TRACE_READER_NO_ORACLE, &d->reader, why,
						sizeof(why));
	if (err == -EAGAIN)
		return 0;
	if (err == -EBADMSG || err == -EINVAL) {
		f->broken = true;
		err = 0;
	}
	return err;
}

static bool at_end(const struct cli_decode_follow *f, const struct cli_decode *d)
{
	return f->file.ended || (d->reader && !f->broken && trace_reader_extent(d->reader)->closed);
}

/* Wait for more of the file, and read it. Returns 0 or -errno. */
static int wait_more(struct cli_decode_follow *f, struct cli_decode *d)
{
	const int err = trace_growing_wait(&f->file, WAIT_MS);

	return err ? err : read_more(f, d);
}

/* Open the flows. Sets f->live unless the file cannot be decoded before its end. */
static int begin(struct cli_decode_follow *f, struct cli_decode *d)
{
	const unsigned int vcpus = trace_reader_info(d->reader)->vcpus;
	unsigned int i;
	int err = 0;

	f->vcpus = calloc(vcpus, sizeof(*f->vcpus));
	if (!f->vcpus)
		return -ENOMEM;
	if (f->listing)
		d->listing.out = f->listing;
	for (i = 0; i < vcpus && !err && (!f->n || is_sum(d->o)); i++) {
		struct cli_decode_followed *v = &f->vcpus[f->n];

		if (!cli_decode_wants_vcpu(d->o, i))
			continue;
		*v = (struct cli_decode_followed){.vcpu = i, .item.kind = DECODE_ITEM_SEGMENT};
		err = cli_decode_open_vcpu(d, i, true, &v->flow);
		f->n += !err;
	}
	f->live = !err;
	if (err == -ENOTSUP)
		f->why = "its blocks can change what came before";
	return err == -ENOTSUP ? 0 : err;
}

/* Take the items of the blocks so far. Returns 0 or -errno. */
static int take(struct cli_decode_follow *f, struct cli_decode *d, bool whole)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < f->n && !err; i++) {
		struct cli_decode_followed *v = &f->vcpus[i];

		err = decode_flow_more(v->flow, whole);
		if (err || v->done)
			continue;
		d->vcpu = d->listing.vcpu = v->vcpu;
		err = cli_decode_items(d, v->flow, &v->item, &v->done);
		if (err == -EAGAIN)
			err = 0;
	}
	if (err == -ESTALE)
		f->why = "later blocks change what came before";
	if (err == -ESTALE)
		f->live = false;
	return err == -ESTALE ? 0 : err;
}

/* Decode until the file ends. Returns an exit status. */
static int follow(struct cli_decode_follow *f, struct cli_decode *d)
{
	size_t nelf, n;
	int status, err;

	trace_reader_elf(d->reader, &nelf);
	status = cli_decode_prepare(d);
	if (status)
		return status;
	err = cli_decode_begin(d);
	if (!err)
		err = begin(f, d);
	while (!err && f->live) {
		err = take(f, d, false);
		if (err || at_end(f, d))
			break;
		err = wait_more(f, d);
		trace_reader_elf(d->reader, &n);
		f->live &= !f->broken && n == nelf;
	}
	return err ? fail_input(d, err) : CLI_EXIT_OK;
}

/* Copy the lines of a listing to the output. Returns 0 or -errno. */
static int copy_listing(struct cli_decode_follow *f, struct cli_decode *d)
{
	char piece[65536];
	size_t n;

	d->listing.out = stdout;
	if (fflush(f->listing) || fseek(f->listing, 0, SEEK_SET))
		return -errno;
	while ((n = fread(piece, 1, sizeof(piece), f->listing)))
		fwrite(piece, 1, n, stdout);
	return ferror(f->listing) ? -EIO : 0;
}

/* Take the last items, and those of the vCPUs that were not followed. Returns 0 or -errno. */
static int take_rest(struct cli_decode_follow *f, struct cli_decode *d)
{
	const unsigned int vcpus = trace_reader_info(d->reader)->vcpus;
	unsigned int i, next = f->n ? f->vcpus[f->n - 1].vcpu + 1 : 0;
	int err = take(f, d, true);

	if (err || !f->live)
		return err;
	for (i = 0; i < f->n; i++) {
		struct cli_decode_followed *v = &f->vcpus[i];

		d->vcpu = v->vcpu;
		err = cli_decode_close_vcpu(d, v->flow, &v->item, err);
		v->flow = NULL;
	}
	if (!err && f->listing)
		err = copy_listing(f, d);
	for (i = next; i < vcpus && !err && cli_decode_wants_more(d); i++) {
		if (cli_decode_wants_vcpu(d->o, i))
			err = cli_decode_vcpu(d, i);
	}
	return err;
}

/* Returns true if the followed items are those of the finished file. */
static bool fits(const struct cli_decode *d)
{
	const struct trace_extent *extent = trace_reader_extent(d->reader);

	if (extent->damages && !extent->cut)
		return false;
	/* The last calls before a stop were not kept. */
	return !d->stop.pm || d->o->quiet || d->o->mode != CLI_DECODE_SUMMARY ||
	       !cli_decode_stop_has_calls(&d->stop);
}

/* Report why the output took longer than expected. */
static void report_why(const struct cli_decode_follow *f, const struct cli_decode_options *o)
{
	if (!o->quiet && f->why && !f->broken)
		fprintf(stderr, "vpt decode: %s: --follow: decoded after its end: %s\n", o->path,
			f->why);
}

/* End with what was followed. Clears f->live if this is not possible. Returns 0 or -errno. */
static int end_live(struct cli_decode_follow *f, struct cli_decode *d)
{
	int err = trace_reader_finish(d->reader);

	if (!err)
		err = cli_decode_take_stop(d);
	if (err)
		return err;
	f->live = fits(d);
	if (!f->live && d->stop.pm)
		f->why = "it has how the guest stopped, and the calls before";
	return f->live ? take_rest(f, d) : 0;
}

/* Open the finished file, as if it had not been followed. */
static int start_again(struct cli_decode_follow *f, struct cli_decode *d)
{
	struct cli_decode_options *o = d->o;
	char why[256];
	int err;

	drop(f);
	cli_decode_end(d);
	*d = (struct cli_decode){.o = o};
	err = trace_reader_open_fd(f->file.fd, TRACE_READER_NO_ORACLE | TRACE_READER_CODE_IN_PLACE,
				   &d->reader, why, sizeof(why));
	if (err)
		return cli_fail(cli_input_status(err), "decode: %s: %s", o->path, why);
	return cli_decode_prepare(d);
}

int cli_decode_follow(struct cli_decode_follow *f, struct cli_decode *d)
{
	int status = CLI_EXIT_OK, err = read_more(f, d);

	while (!err && !at_end(f, d) && !(d->reader && has_begun(d->reader)))
		err = wait_more(f, d);
	if (!err && d->reader && !f->broken && can_follow(d->o))
		status = follow(f, d);
	else if (!err && d->reader && !f->broken)
		f->why = "these options need the whole file";
	while (!err && !status && !at_end(f, d))
		err = wait_more(f, d);
	if (status)
		return status;
	if (!err && f->live)
		err = end_live(f, d);
	if (err)
		return fail_input(d, err);
	d->followed = f->live;
	report_why(f, d->o);
	return f->live ? CLI_EXIT_OK : start_again(f, d);
}
