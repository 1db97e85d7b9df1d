/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of core_vcpu_loop(): ways to run a guest, and what they share. */
#ifndef VMM_CORE_LOOP_H
#define VMM_CORE_LOOP_H

#include "core/vcpu.h"

/* The loop looks around after so many parts, and after so many instructions in batches. */
#define CORE_LOOP_PARTS 256u
#define CORE_LOOP_INSNS (1u << 20)

struct core_loop {
	unsigned int parts; /* run so far */
	uint64_t looked;    /* instructions that had retired when the loop last looked around */
};

/*
 * Run the guest until an exit, at the speed of the host (loop_free.c). The tracer must be off,
 * because nothing is reported.
 */
void core_loop_free(struct core_vcpu *v);

/*
 * Run the guest to the next event of a device or a limit, exactly (loop_batch.c). Returns true
 * if the caller is to look around. The engine must have ENGINE_REPORTS.
 */
bool core_loop_batch(struct core_vcpu *v, struct core_loop *l);

/* Check the time limit, the tick hook, input for devices, and the trace file for errors. */
void core_loop_poll(struct core_vcpu *v);

/*
 * Wait in HLT for the next wakeup. Virtual time skips to it; on the host's clock the wait is
 * short, and the caller comes again. Stops the VM if nothing can wake the vCPU.
 */
void core_loop_halted(struct core_vcpu *v);

/* Handle an exit of the engine's run() that is no access. */
void core_loop_exit(struct core_vcpu *v, struct engine_exit *exit);

#endif /* VMM_CORE_LOOP_H */
