// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt run --verify: records the run in parts, in memory, and has another process verify each. The
 * places between two parts depend on counts of instructions and on PSBs. The guest and its trace
 * are the same as without --verify.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "cli/run.h"
#include "pt/tracer_part.h"
#include "trace/writer.h"

#define DEFAULT_BYTES (96ull << 20)
#define MIN_BYTES     (64ull << 10)

/* No instruction adds more bytes to a part, on average. A new page of code takes 4 KiB. */
#define INSN_BYTES 64u
#define MOST_INSNS (1ull << 22)
/* An instruction, its event and the reports in between send fewer bytes of trace. */
#define CLOSE_BYTES 1024u
#define SENT_BYTES  16u
/* The distance of two stops between two sessions. */
#define IDLE_INSNS 256u
/* The number of stops in search of a PSB, after which the part grows. */
#define TRIES 100000u

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
	int status = CLI_EXIT_OK;

	if (m->o.verify)
		m->verify.parts = cli_parts_start(m->o.verb, m->o.quiet || m->o.json, &status);
	m->verify.bytes = m->o.verify;
	return status;
}

static int new_part(struct cli_run_machine *m, int *fd, struct trace_writer **writer)
{
	struct cli_run_verify *r = &m->verify;
	int err = cli_parts_next(r->parts, fd);

	if (err)
		return err;
	err = trace_writer_start(*fd, &m->info, writer);
	if (err)
		return err;
	trace_writer_limit(*writer, m->o.max_bytes);
	err = r->head(m, *writer);
	if (err)
		trace_writer_drop(*writer);
	return err;
}

int cli_run_verify_open(struct cli_run_machine *m)
{
	int err = new_part(m, &m->verify.fd, &m->writer);

	if (!err)
		return CLI_EXIT_OK;
	m->writer = NULL;
	return cli_fail(CLI_EXIT_HOST, "run: --verify: %s", cli_reason(-err));
}

/* End the part before the next instruction, and begin another. */
static int turn(struct cli_run_machine *m)
{
	struct core_vcpu *v = m->vm.vcpu;
	struct trace_writer *next, *old = m->writer;
	int fd, err = new_part(m, &fd, &next);

	if (err)
		return err;
	err = tracer_part_begin(&v->tracer, next, v->regs->rip);
	if (err) {
		trace_writer_drop(next);
		return err;
	}
	m->writer = next;
	trace_writer_drop(old);
	err = cli_parts_verify(m->verify.parts, m->verify.fd);
	m->verify.fd = fd;
	/* The new file has no code yet, so the engine must report all code again. */
	core_vm_wrote_all(&m->vm);
	return err;
}

/* Return the number of instructions up to the next stop in search of a PSB. */
static uint64_t search(struct cli_run_machine *m)
{
	struct cli_run_verify *r = &m->verify;
	uint64_t distance = tracer_part_distance(&m->vm.vcpu->tracer);

	if (++r->tries == TRIES) {
		r->tries = 0;
		r->bytes += m->o.verify;
	}
	if (distance == UINT64_MAX)
		return MOST_INSNS;
	if (!distance)
		return IDLE_INSNS;
	return distance > CLOSE_BYTES ? (distance - CLOSE_BYTES) / SENT_BYTES + 1 : 1;
}

uint64_t cli_run_verify_pause(struct cli_run_machine *m)
{
	struct cli_run_verify *r = &m->verify;
	struct tracer *t = &m->vm.vcpu->tracer;
	const uint64_t retired = m->vm.vcpu->ev->retired,
		       bytes = trace_writer_file_bytes(m->writer);
	uint64_t most = MOST_INSNS;
	int err;

	if (bytes >= r->bytes) {
		const bool stepped = retired == r->retired + 1 && t->recorder.insns == r->insns + 1;
		const uint32_t flags = (stepped ? TRACER_PART_RETIRED : 0u) |
				       (r->tries > TRIES / 2 ? TRACER_PART_ANYWHERE : 0u);

		if (!tracer_part_fits(t, m->vm.vcpu->regs->rip, flags)) {
			r->retired = retired;
			r->insns = t->recorder.insns;
			return retired + search(m);
		}
		err = turn(m);
		if (err) {
			m->vm.stop.error = err;
			core_vm_stop(&m->vm, TRACE_STOP_WRITER, "%s", "");
		}
		r->tries = 0;
		r->bytes = m->o.verify;
	} else if ((r->bytes - bytes) / INSN_BYTES < most) {
		most = (r->bytes - bytes) / INSN_BYTES;
	}
	return retired + (most ? most : 1);
}

void cli_run_verify_end(struct cli_run_machine *m, bool ran)
{
	struct cli_run_verify *r = &m->verify;
	int err = 0;

	if (!r->parts)
		return;
	if (m->writer)
		err = trace_writer_close(m->writer, m->vm.stop.exit_status);
	if (!err && m->writer && ran)
		err = cli_parts_verify(r->parts, r->fd);
	m->writer = NULL;
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
				r->error == -ECHILD ? "the process that verifies has ended"
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
