/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vpt run --slow-reader: what happens when the reader of a trace that goes to a pipe is slower than the
 * guest. Without the option the guest waits.
 */
#ifndef VMM_CLI_RUN_DROP_H
#define VMM_CLI_RUN_DROP_H

#include "cli/option.h"

struct cli_pump;
struct cli_run_machine;
struct cli_run_options;

struct cli_run_drop {
	struct cli_pump *pump; /* NULL without drop */
	bool drops;	       /* trace is being left out */
	bool wanted;	       /* the same, from the next change on */
	uint64_t next;	       /* the count of instructions at which to look at the queue again */
	uint64_t gaps;
};

/* Parse drop[:SIZE]; the field is the size of the queue. Return an exit status. */
cli_option_take cli_run_take_drop;
int cli_run_check_drop(const struct cli_run_options *o);

/*
 * Begin to queue the trace. *fd is the output, and becomes the descriptor that the caller passes to
 * the writer and closes. Returns an exit status.
 */
int cli_run_drop_open(struct cli_run_machine *m, int *fd);
/* Look at the queue. Returns the count of instructions of the next look. */
uint64_t cli_run_drop_pause(struct cli_run_machine *m);
/* Called between two instructions of all vCPUs, after core_vm_ask(). */
void cli_run_drop_change(struct cli_run_machine *m);
/* Wait for the reader, after the writer was closed. Returns 0 or the -errno of the output. */
int cli_run_drop_close(struct cli_run_machine *m);

#endif /* VMM_CLI_RUN_DROP_H */
