/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several vCPUs take turns on one thread (docs/adr/0023). Each has a clock of its own, and the one
 * whose clock is furthest behind runs. So the order of all instructions follows from the guest
 * alone, and a run is the same each time.
 */
#ifndef VMM_CORE_TURNS_H
#define VMM_CORE_TURNS_H

struct core_vm;

/* The length of a turn in TSC ticks. Turns end at its multiples. */
#define CORE_TURN_TICKS 16384u

/*
 * Run the vCPUs until the VM stops, then end the traces that are still running: core_vcpu_loop() of
 * each. Also returns when core_switch_is_due(). The engine must have ENGINE_BUS.
 */
void core_turns_loop(struct core_vm *vm);

#endif /* VMM_CORE_TURNS_H */
