// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard merge: join the results of shards. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/decode_stop.h"
#include "cli/open.h"
#include "cli/shard_show.h"
#include "decode/calls_piece.h"
#include "decode/shard_part.h"
#include "trace/vec.h"

struct merge {
	const struct cli_shard_options *o;
	struct cli_plan plan;
	uint32_t *ends; /* of the longest result that begins at each shard; 0: none */
	unsigned int repaired;
	struct cli_shard_result result;
};

/* Note a file of the folder, if its name is that of a result. */
static void note(struct merge *m, const char *name)
{
	unsigned int first, last;
	int len = 0;

	if (sscanf(name, "%u-%u.part%n", &first, &last, &len) != 2 || !len || name[len] ||
	    first > last || last >= m->plan.shards.n)
		return;
	if (m->ends[first] <= last)
		m->ends[first] = last + 1;
}

static int find_results(struct merge *m)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	m->ends = calloc(m->plan.shards.n + 1, sizeof(*m->ends));
	if (!m->ends)
		return cli_fail(CLI_EXIT_HOST, "shard: %s", strerror(ENOMEM));
	if (!cli_shard_dir(m->o, path, sizeof(path)))
		return cli_fail(CLI_EXIT_USAGE, "shard: %s: the name is too long", m->o->path);
	dir = opendir(path);
	if (!dir)
		return cli_fail(CLI_EXIT_INPUT, "shard: %s: %s", path, cli_reason(errno));
	while ((entry = readdir(dir)))
		note(m, entry->d_name);
	closedir(dir);
	return CLI_EXIT_OK;
}

/* Print the shards without a result on one line. Returns an exit status. */
static int check_missing(const struct merge *m)
{
	char text[256];
	size_t at = 0, i, from, missing = 0;

	for (i = 0; i < m->plan.shards.n;) {
		if (m->ends[i]) {
			i = m->ends[i];
			continue;
		}
		for (from = i; i < m->plan.shards.n && !m->ends[i]; i++)
			missing++;
		if (at + 48 < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       i - from > 1 ? "%s%zu-%zu" : "%s%zu", at ? ", " : "",
					       from, i - 1);
	}
	return missing ? cli_fail(CLI_EXIT_FAIL, "shard: %s: shards without a result: %zu: %s",
				  m->o->path, missing, text)
		       : CLI_EXIT_OK;
}

static int read_result(const struct merge *m, const struct cli_shard_range *range,
		       struct decode_partial *p)
{
	char why[CLI_SHARD_WHY];
	int status = cli_shard_read(m->o, &m->plan, range, p, why, sizeof(why));

	return status ? cli_fail(status, "shard: %s", why) : CLI_EXIT_OK;
}

/* Decode both results as one, with more shards behind them each time. */
static int repair(struct merge *m, struct decode_partial *last, uint32_t until, uint32_t limit)
{
	struct cli_shard_range range = {last->first, until};
	int status;

	m->repaired++;
	if (until - last->first > 2)
		range.end += until - last->first;
	if (range.end > limit)
		range.end = limit;
	decode_partial_free(last);
	status = cli_shard_decode(m->o, &m->plan, m->result.reader, m->result.symbols, &range);
	return status ? status : read_result(m, &range, last);
}

/*
 * Append @last to @all, which is empty if @all->end is 0. Its listing is read again when it is
 * printed.
 */
static int append(struct merge *m, struct decode_partial *all, struct decode_partial *last)
{
	if (decode_partial_is_listing(m->plan.kind)) {
		if (!trace_vec_room(&m->result.ranges))
			return -ENOMEM;
		m->result.ranges.at[m->result.ranges.n++] =
			(struct cli_shard_range){last->first, last->end};
		decode_text_free(&last->text);
	}
	if (all->end)
		return decode_partial_join(all, last);
	*all = *last;
	memset(last, 0, sizeof(*last));
	return 0;
}

/*
 * Join the results of a vCPU, from shard @from to before @to. @last is not joined yet, so that it
 * can be decoded again with what follows. *begin is the first shard of the last result.
 */
static int join_shards(struct merge *m, uint32_t from, uint32_t to, struct decode_partial *all,
		       struct decode_partial *last, uint32_t *begin)
{
	struct cli_shard_range range = {from, m->ends[from]};
	struct decode_partial next = {.end = 0}, before;
	int status = read_result(m, &range, last);

	while (!status && last->end < to) {
		/* A result may reach behind the begin of the next, which was decoded before. */
		range = (struct cli_shard_range){last->end, m->ends[last->end]};
		if (!range.end) {
			status = repair(m, last, last->end + 1, to);
			continue;
		}
		status = read_result(m, &range, &next);
		before = *last;
		before.counter = decode_partial_counter_after(all, last);
		if (!status && decode_partial_fits(&before, &next) != DECODE_PARTIAL_FITS) {
			decode_partial_free(&next);
			status = repair(m, last, range.end, to);
		} else if (!status) {
			if (append(m, all, last))
				status = cli_fail(CLI_EXIT_HOST, "shard: %s", strerror(ENOMEM));
			*last = next;
			memset(&next, 0, sizeof(next));
		}
	}
	decode_partial_free(&next);
	*begin = last->first;
	if (!status && append(m, all, last))
		status = cli_fail(CLI_EXIT_HOST, "shard: %s", strerror(ENOMEM));
	return status;
}

/* Add the result of a vCPU to that of the trace. */
static int add_vcpu(struct merge *m, struct decode_partial *p)
{
	const struct decode_calls_pieces *pieces;

	decode_summary_add(&m->result.sum, &p->sum);
	if (decode_tally_join(&m->result.tally, &p->tally))
		return -ENOMEM;
	if (!decode_shares_join(&m->result.shares, &p->shares))
		return -ENOMEM;
	if (m->result.parts) {
		m->result.parts[p->vcpu] = p->parts;
		p->parts = (struct decode_space_parts){.now = 0};
	}
	if (!p->calls)
		return 0;
	pieces = decode_calls_close_open(p->calls);
	return pieces && decode_calls_forget(m->result.calls) &&
			       decode_calls_join(m->result.calls, pieces)
		       ? 0
		       : -ENOMEM;
}

/* Returns true if the summary shows the last calls of a vCPU. */
static bool shows_last_calls(const struct merge *m, unsigned int vcpu)
{
	const struct cli_decode_stop stop = {.pm = trace_reader_stop(m->result.reader)};

	return m->plan.kind == DECODE_PARTIAL_COUNTS && !m->o->coverage &&
	       cli_decode_stop_wants(&stop, vcpu);
}

/* Decode the shards of a range once more for the last calls. */
static int find_last_calls(struct merge *m, const struct cli_shard_range *range)
{
	struct decode_shard shard;
	struct decode_shard_part part = cli_shard_part(&m->plan, range, &shard);
	struct decode_partial unused;
	int err;

	m->result.last_calls = (struct decode_last_calls){.n = 0};
	part.reader = m->result.reader;
	part.last_calls = &m->result.last_calls;
	err = decode_shard_part(&part, &unused);
	if (!err)
		err = trace_reader_unload(part.reader, part.vcpu, 0, UINT64_MAX);
	decode_partial_free(&unused);
	return err ? cli_shard_failed(m->o, &m->plan, range, err) : CLI_EXIT_OK;
}

/*
 * Find the last calls in the shards from @last to before @to, or from @from on if there are too
 * few.
 */
static int take_last_calls(struct merge *m, uint32_t from, uint32_t to, uint32_t last)
{
	const struct decode_last_calls *calls = &m->result.last_calls;
	int status;

	if (!shows_last_calls(m, m->plan.shards.at[from].vcpu))
		return CLI_EXIT_OK;
	status = find_last_calls(m, &(struct cli_shard_range){last, to});
	if (status || last == from || decode_last_calls_get(calls, DECODE_LAST_CALLS - 1))
		return status;
	return find_last_calls(m, &(struct cli_shard_range){from, to});
}

static int join_vcpu(struct merge *m, uint32_t from, uint32_t to)
{
	struct decode_partial all = {.end = 0}, last = {.end = 0};
	uint32_t begin;
	int status = join_shards(m, from, to, &all, &last, &begin);

	if (!status)
		status = take_last_calls(m, from, to, begin);
	if (!status && add_vcpu(m, &all))
		status = cli_fail(CLI_EXIT_HOST, "shard: %s", strerror(ENOMEM));
	decode_partial_free(&all);
	decode_partial_free(&last);
	return status;
}

static int join_all(struct merge *m)
{
	uint32_t from = 0, to;
	int status = CLI_EXIT_OK;

	while (!status && from < m->plan.shards.n) {
		for (to = from; to < m->plan.shards.n &&
				m->plan.shards.at[to].vcpu == m->plan.shards.at[from].vcpu;
		     to++)
			;
		status = join_vcpu(m, from, to);
		from = to;
	}
	return status;
}

static int judge(const struct merge *m, bool no_lines)
{
	const char *path = cli_shard_trace(m->o, &m->plan);

	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "shard: cannot write: %s", cli_reason(errno));
	if (m->repaired && !m->o->quiet)
		fprintf(stderr, "vpt shard: shards that were decoded again with others: %u\n",
			m->repaired);
	if (m->result.sum.errors)
		return cli_fail(CLI_EXIT_FAIL,
				"shard: %s: places that cannot be decoded: %" PRIu64
				"; the first: %s",
				path, m->result.sum.errors, m->result.sum.first_error);
	return no_lines ? cli_fail(CLI_EXIT_INPUT, "shard: %s: no debug information", path)
			: CLI_EXIT_OK;
}

static int merge(struct merge *m)
{
	const struct cli_shard_options *o = m->o;
	bool no_lines;
	int status, err;

	status = cli_shard_show_check(o, &m->plan);
	if (!status)
		status = find_results(m);
	if (!status)
		status = check_missing(m);
	if (!status)
		status = cli_shard_open(o, &m->plan, &m->result.reader, &m->result.symbols);
	if (!status)
		status = cli_shard_base(o, &m->plan, &m->result);
	if (status)
		return status;
	m->result.calls = decode_calls_new(m->result.symbols);
	m->result.parts = calloc(m->plan.vcpus, sizeof(*m->result.parts));
	if (!m->result.calls || !m->result.parts)
		return cli_fail(CLI_EXIT_HOST, "shard: %s", strerror(ENOMEM));
	status = join_all(m);
	if (status)
		return status;
	if (decode_partial_is_listing(m->plan.kind)) {
		status = cli_shard_listing(o, &m->plan, &m->result);
		return status ? status : judge(m, false);
	}
	err = cli_shard_show(o, &m->plan, &m->result, &no_lines);
	return err ? cli_fail(CLI_EXIT_HOST, "shard: %s: %s", o->path, cli_reason(-err))
		   : judge(m, no_lines);
}

int cli_shard_merge(const struct cli_shard_options *options)
{
	/* Results of a repair are named by the user's folder, and say nothing. */
	struct cli_shard_options o = *options;
	struct merge m = {.o = &o};
	int status = cli_shard_confine(&o);
	unsigned int i;

	if (status)
		return status;
	status = cli_plan_read(o.path, &m.plan);
	o.quiet = true;
	if (!status)
		status = merge(&m);
	debug_symbols_close(m.result.symbols);
	if (m.result.reader)
		trace_reader_close(m.result.reader);
	decode_calls_free(m.result.calls);
	for (i = 0; m.result.parts && i < m.plan.vcpus; i++)
		decode_space_parts_free(&m.result.parts[i]);
	free(m.result.parts);
	free(m.result.ranges.at);
	decode_shares_free(&m.result.shares);
	decode_tally_free(&m.result.tally);
	free(m.ends);
	cli_plan_free(&m.plan);
	return status;
}
