/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vpt run --ring: a flight recorder. The end of a host's trace stays in memory, and the trace file gets
 * it at the end of the trace.
 */
#ifndef VMM_CLI_RUN_RING_H
#define VMM_CLI_RUN_RING_H

#include "cli/option.h"
#include "trace/ring.h"

struct cli_run_machine;
struct cli_run_options;
struct trace_writer;

struct cli_run_ring {
	struct trace_ring *ring; /* NULL without --ring */
	bool full;		 /* another generation is due */
	bool saved;		 /* the trace file has the trace */
	struct trace_ring_saved sum;
};

/* Parse the option; the field is the size. Return an exit status. */
cli_option_take cli_run_take_ring;
/* Refuse what a file without a part of the trace cannot have. Return an exit status. */
int cli_run_check_partial(const struct cli_run_options *o, const char *option);
int cli_run_check_ring(const struct cli_run_options *o);

/* Create the ring, and set *writer to its writer. Returns an exit status. */
int cli_run_ring_open(struct cli_run_machine *m, struct trace_writer **writer);
void cli_run_ring_close(struct cli_run_machine *m);
/* Called between two instructions of all vCPUs, after core_vm_ask(). */
void cli_run_ring_change(struct cli_run_machine *m);
/*
 * Write the trace file, once, with the ring's trace. From then on m->writer is that of the file, and
 * the vCPUs record no more. The machine stops if this fails.
 */
void cli_run_ring_save(struct cli_run_machine *m);

#endif /* VMM_CLI_RUN_RING_H */
