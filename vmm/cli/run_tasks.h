/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --tasks: the trace file has the processes and threads of a Linux guest. Their names come from the
 * guest's memory, where the kernel's BTF describes its structures. The guest needs no change.
 */
#ifndef VMM_CLI_RUN_TASKS_H
#define VMM_CLI_RUN_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_run_machine;
struct cli_run_options;
struct cli_run_tasks;
struct core_vcpu;

/* Check --tasks together with other options, and prepare it. Each returns an exit status. */
int cli_run_tasks_check(const struct cli_run_options *o);
int cli_run_tasks_open(struct cli_run_machine *m);
void cli_run_tasks_close(struct cli_run_machine *m);

/* Search for the kernel's BTF at a count of instructions. Returns the next such count of the vCPU. */
uint64_t cli_run_tasks_visit(struct cli_run_machine *m, struct core_vcpu *v);
/* The vCPU may have changed the pointer to its task. */
void cli_run_tasks_touched(struct cli_run_machine *m, struct core_vcpu *v);
/* Returns true if the address is where the kernel has changed the task, and takes note of the task. */
bool cli_run_tasks_reached(struct cli_run_machine *m, uint64_t ip);
/* Return the address at which each vCPU must stop, or 0. */
uint64_t cli_run_tasks_address(const struct cli_run_machine *m);
/* The machine is reset: the next kernel may be another one. */
void cli_run_tasks_reset(struct cli_run_machine *m);
/* The file has no tasks and no names any more: write the tasks that run. */
void cli_run_tasks_again(struct cli_run_machine *m);
/* Write the names of the tasks that run. Call this before the trace file is closed. */
void cli_run_tasks_end(struct cli_run_machine *m);

#endif /* VMM_CLI_RUN_TASKS_H */
