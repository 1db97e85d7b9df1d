// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of vpt run --verify. Each vCPU has its own sequence of parts (docs/adr/0025). The places
 * between two parts depend on counts of instructions, sizes of parts and PSBs alone.
 */
#include "cli/cli.h"
#include "cli/run.h"
#include "pt/tracer_part.h"
#include "trace/writer.h"

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

/* Return how many instructions a vCPU can run before all vCPUs together need so many bytes. */
static uint64_t insns_of(const struct cli_run_machine *m, uint64_t bytes)
{
	return bytes / INSN_BYTES / m->vm.cpus;
}

/* Return the size of the parts that are being recorded. */
static uint64_t recorded(const struct cli_run_machine *m)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < m->vm.cpus; i++)
		bytes += trace_writer_file_bytes(m->verify.part[i].writer);
	return bytes;
}

static int new_part(struct cli_run_machine *m, uint64_t bytes, int *fd,
		    struct trace_writer **writer)
{
	struct cli_run_verify *r = &m->verify;
	int err = cli_parts_next(r->parts, bytes, fd);

	if (err)
		return err;
	err = trace_writer_start(*fd, &m->info, writer);
	if (err)
		return err;
	trace_writer_limit(*writer, m->o.max_bytes);
	err = r->head(m, *writer);
	if (err) {
		trace_writer_drop(*writer);
		*writer = NULL;
	}
	return err;
}

/*
 * Return the size at which a new part can end, if all parts together are large enough. A part of a
 * halted vCPU cannot end and may be large, so this is only half of a vCPU's share.
 */
static uint64_t least_of(const struct cli_run_machine *m, const struct trace_writer *writer)
{
	return trace_writer_file_bytes(writer) + m->o.verify / m->vm.cpus / 2;
}

int cli_run_verify_open(struct cli_run_machine *m)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < m->vm.cpus; i++) {
		struct cli_run_part *p = &m->verify.part[i];

		err = new_part(m, 0, &p->fd, &p->writer);
		if (!err)
			p->least = least_of(m, p->writer);
	}
	return err ? cli_fail(CLI_EXIT_HOST, "run: --verify: %s", cli_reason(-err)) : CLI_EXIT_OK;
}

/* End the part of a vCPU before its next instruction, and begin another. */
static int next_part(struct cli_run_machine *m, struct core_vcpu *v)
{
	struct cli_run_part *p = &m->verify.part[v->index];
	struct trace_writer *next, *old = p->writer;
	const int file = p->fd;
	int fd, err = new_part(m, trace_writer_file_bytes(old), &fd, &next);

	if (err)
		return err;
	err = tracer_part_begin(&v->tracer, next, v->regs->rip);
	if (err) {
		trace_writer_drop(next);
		return err;
	}
	*p = (struct cli_run_part){.writer = next, .fd = fd, .least = least_of(m, next)};
	trace_writer_drop(old);
	/* The new file has no code yet. */
	v->engine->report_again(v->ev);
	return cli_parts_verify(m->verify.parts, file);
}

/* Return the number of instructions up to the next stop in search of a PSB. */
static uint64_t search(struct cli_run_machine *m, struct core_vcpu *v)
{
	struct cli_run_part *p = &m->verify.part[v->index];
	const uint64_t distance = tracer_part_distance(&v->tracer);

	if (++p->tries == TRIES) {
		p->tries = 0;
		p->least = trace_writer_file_bytes(p->writer) + m->o.verify;
	}
	if (distance == UINT64_MAX)
		return MOST_INSNS;
	if (!distance)
		return IDLE_INSNS;
	return distance > CLOSE_BYTES ? (distance - CLOSE_BYTES) / SENT_BYTES + 1 : 1;
}

/* Return how many bytes the part must grow, before it may end. @all: the size of all parts. */
static uint64_t missing(const struct cli_run_machine *m, const struct cli_run_part *p, uint64_t all)
{
	const uint64_t own = trace_writer_file_bytes(p->writer);
	const uint64_t of_all = all < m->o.verify ? m->o.verify - all : 0;
	const uint64_t of_own = own < p->least ? p->least - own : 0;

	return of_all > of_own ? of_all : of_own;
}

/* Returns true if the part can end before the next instruction of its vCPU. */
static bool fits(struct core_vcpu *v, const struct cli_run_part *p)
{
	const bool stepped =
		v->ev->retired == p->retired + 1 && v->tracer.recorder.insns == p->insns + 1;
	const uint32_t flags = (stepped ? TRACER_PART_RETIRED : 0u) |
			       (p->tries > TRIES / 2 ? TRACER_PART_ANYWHERE : 0u);

	return tracer_part_fits(&v->tracer, v->regs->rip, flags);
}

/*
 * End the part if it is large enough and fits. Return the number of instructions up to the next
 * visit. @all: the size of all parts.
 */
static uint64_t end_if_large(struct cli_run_machine *m, struct core_vcpu *v, uint64_t all)
{
	struct cli_run_part *p = &m->verify.part[v->index];
	const uint64_t bytes = missing(m, p, all);
	int err;

	if (bytes)
		return insns_of(m, bytes);
	if (!fits(v, p)) {
		p->retired = v->ev->retired;
		p->insns = v->tracer.recorder.insns;
		return search(m, v);
	}
	err = next_part(m, v);
	if (err) {
		m->vm.stop.error = err;
		core_vm_stop(&m->vm, TRACE_STOP_WRITER, "%s", "");
	}
	return 1;
}

/* --max-bytes is the limit of all parts together, and of each writer. */
uint64_t cli_run_verify_visit(struct cli_run_machine *m, struct core_vcpu *v)
{
	const uint64_t all = recorded(m);
	const uint64_t room = all < m->o.max_bytes ? m->o.max_bytes - all : 0;
	uint64_t insns;

	if (!room)
		tracer_end_full(&v->tracer, v->regs->rip);
	insns = end_if_large(m, v, all);
	if (insns > insns_of(m, room))
		insns = insns_of(m, room);
	if (insns > MOST_INSNS)
		insns = MOST_INSNS;
	return v->ev->retired + (insns ? insns : 1);
}
