/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run of a complete machine. */
#ifndef VMM_CORE_RUN_H
#define VMM_CORE_RUN_H

struct core_vm;

/*
 * Run the vCPUs until the VM stops, then end the traces that are still running. A machine with two
 * engines changes between them (switch.h).
 */
void core_vm_run(struct core_vm *vm);

#endif /* VMM_CORE_RUN_H */
