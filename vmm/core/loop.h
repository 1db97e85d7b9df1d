/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of core_vcpu_loop(): the ways to run a guest, and common functions. */
#ifndef VMM_CORE_LOOP_H
#define VMM_CORE_LOOP_H

#include "core/vcpu.h"

/*
 * The loop calls core_loop_poll() after this number of parts, and in batches after this number of
 * instructions.
 */
#define CORE_LOOP_PARTS 256u
#define CORE_LOOP_INSNS (1u << 20)

struct core_loop {
	unsigned int parts; /* number of parts run so far */
	uint64_t looked;    /* retired instructions at the last core_loop_poll() of a batch */
};

/*
 * Run the guest until an exit, at the speed of the host (loop_free.c). The tracer must be off,
 * because nothing is reported.
 */
void core_loop_free(struct core_vcpu *v);

/*
 * Run the guest exactly to the next event of a device or to a limit (loop_batch.c). Returns true if
 * the caller must call core_loop_poll(). The engine must have ENGINE_REPORTS.
 */
bool core_loop_batch(struct core_vcpu *v, struct core_loop *l);

/*
 * Begin and end the run of a vCPU, whose engine has ENGINE_REPORTS. core_loop_exact() is
 * core_loop_batch() with the limits of the file.
 */
void core_loop_begin(struct core_vcpu *v);
bool core_loop_exact(struct core_vcpu *v, struct core_loop *l);
void core_loop_end(struct core_vcpu *v);

/* Returns true if the caller must call core_loop_poll(). For parts without instructions. */
bool core_loop_is_due(struct core_loop *l);

/* Check the time limit, the tick hook, input for devices, and the trace file for errors. */
void core_loop_poll(struct core_vcpu *v);
/* The same without a change of the devices' time. */
void core_loop_poll_host(struct core_vcpu *v);
/* Check the trace file only. */
void core_loop_poll_trace(struct core_vcpu *v);

/*
 * Wait in HLT for the next wakeup. Virtual time skips to the wakeup. On the host's clock the wait
 * is short, and the caller repeats it. Stops the VM if nothing can wake the vCPU.
 */
void core_loop_halted(struct core_vcpu *v);
/* The same for one of several vCPUs, whose wait must end now. */
void core_loop_wait(struct core_vcpu *v);

/* A watched instruction is next. Returns true if it must not be executed yet. */
bool core_loop_reached(struct core_vcpu *v);

/* Handle an exit of the engine's run() other than an access to ports, memory or MSRs. */
void core_loop_exit(struct core_vcpu *v, struct engine_exit *exit);

#endif /* VMM_CORE_LOOP_H */
