// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt run --verify: records the run in parts, in memory, and has other processes verify each. The
 * guest and its trace are the same as without --verify.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "cli/run.h"
#include "trace/writer.h"

#define DEFAULT_BYTES (64ull << 20)
#define MIN_BYTES     (64ull << 10)

int cli_run_take_verify(const struct cli_given *g)
{
	struct cli_run_options *o = g->options;
	uint64_t *bytes = g->field;
	int status = CLI_EXIT_OK;

	*bytes = DEFAULT_BYTES;
	if (g->value)
		status = cli_take_size(g);
	if (!status && *bytes < MIN_BYTES)
		return cli_option_wrong(g, "at least 64K");
	o->oracle_blocks = true;
	return status;
}

int cli_run_check_verify(const struct cli_run_options *o)
{
	if (!o->verify)
		return CLI_EXIT_OK;
	if (o->output || o->snapshot)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --verify: nothing is stored, so there is no --output and no "
				"--snapshot; vpt run --oracle-blocks -o FILE stores the log");
	if (o->usage.given)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --verify: it has no --usage: use --oracle and vpt verify");
	if (o->trace.ctl & VPT_CTL_MASK(DIS_TNT))
		return cli_fail(
			CLI_EXIT_USAGE,
			"run: --verify: a trace of --no-tnt has no branches to compare: use "
			"--oracle and vpt verify");
	return CLI_EXIT_OK;
}

int cli_run_verify_start(struct cli_run_machine *m)
{
	const struct cli_parts_config config = {
		.verb = m->o.verb,
		.quiet = m->o.quiet || m->o.json,
		.most = m->o.cpus ? (unsigned int)m->o.cpus : 1,
		.bytes = m->o.verify,
	};
	int status = CLI_EXIT_OK;

	if (m->o.verify)
		m->verify.parts = cli_parts_start(&config, &status);
	return status;
}

void cli_run_verify_end(struct cli_run_machine *m, bool ran)
{
	struct cli_run_verify *r = &m->verify;
	unsigned int i;
	int err = 0;

	if (!r->parts)
		return;
	for (i = 0; i < m->vm.cpus; i++) {
		struct cli_run_part *p = &r->part[i];
		int late = p->writer ? trace_writer_close(p->writer, m->vm.stop.exit_status) : 0;

		if (!late && p->writer && ran && !err)
			late = cli_parts_verify(r->parts, p->fd);
		p->writer = NULL;
		err = err ? err : late;
	}
	r->error = cli_parts_end(r->parts, &r->sum);
	if (err && !r->error)
		r->error = err;
	r->parts = NULL;
}

void cli_run_verify_json(const struct cli_run_verify *r)
{
	const struct cli_parts_sum *s = &r->sum;

	printf(",\"verify\":{\"parts\":%" PRIu64 ",\"retired\":%" PRIu64 ",\"decoded\":%" PRIu64
	       ",\"skipped\":%" PRIu64 ",\"mismatches\":%" PRIu64 ",\"looped\":%" PRIu64
	       ",\"without_tnt\":%" PRIu64 "}",
	       s->parts, s->retired, s->decoded, s->skipped, s->mismatches, s->looped,
	       s->without_tnt);
}

/* Return the exit status of a guest that ended well. */
static int verdict(const struct cli_run_options *o, const struct cli_run_verify *r)
{
	if (r->error)
		return cli_fail(CLI_EXIT_HOST, "%s: --verify: a part could not be verified: %s",
				o->verb,
				r->error == -ECHILD ? "a process that verifies has ended"
						    : cli_reason(-r->error));
	if (r->sum.mismatches)
		return CLI_EXIT_FAIL;
	if (!r->sum.retired && !r->sum.without_tnt)
		return cli_fail(CLI_EXIT_FAIL,
				"%s: --verify: no instruction that ran should be in the trace",
				o->verb);
	if (r->sum.without_tnt)
		return CLI_EXIT_PARTIAL;
	return r->sum.loops ? CLI_EXIT_FORMAT : CLI_EXIT_OK;
}

int cli_run_verify_report(const struct cli_run_machine *m, int status)
{
	const struct cli_run_verify *r = &m->verify;
	const struct cli_parts_sum *s = &r->sum;
	int own;

	if (!m->o.verify)
		return status;
	if (!m->o.json && !m->o.quiet && s->skipped)
		fprintf(stderr, "before a PSB, or lost to overflows: %" PRIu64 "\n", s->skipped);
	if (!m->o.json && !m->o.quiet && s->without_tnt)
		fprintf(stderr, "parts without TNT packets, which were not compared: %" PRIu64 "\n",
			s->without_tnt);
	if (!m->o.json)
		fprintf(stderr,
			"verify: %" PRIu64 " retired, %" PRIu64 " decoded, %" PRIu64
			" mismatches\n",
			s->retired, s->decoded, s->mismatches);
	own = verdict(&m->o, r);
	return status ? status : own;
}
