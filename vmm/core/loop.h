/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of vpt_vcpu_loop(): ways to run a guest, and what they share. */
#ifndef VMM_CORE_LOOP_H
#define VMM_CORE_LOOP_H

#include "core/vcpu.h"

/* The loop looks around after so many parts, and after so many instructions in batches. */
#define VPT_LOOP_PARTS 256u
#define VPT_LOOP_INSNS (1u << 20)

struct vpt_loop {
	unsigned int parts; /* run so far */
	uint64_t looked;    /* instructions that had retired when the loop last looked around */
};

/*
 * Run the guest until an exit, at the speed of the host (loop_free.c). The tracer must be off,
 * because nothing is reported.
 */
void vpt_loop_free(struct vpt_vcpu *v);

/*
 * Run the guest to the next event of a device or a limit, exactly (loop_batch.c). Returns true
 * if the caller is to look around. The engine must have VPT_ENGINE_REPORTS.
 */
bool vpt_loop_batch(struct vpt_vcpu *v, struct vpt_loop *l);

/* Check the time limit, the tick hook, input for devices, and the trace file for errors. */
void vpt_loop_look(struct vpt_vcpu *v);

/*
 * Wait in HLT for the next wakeup. Virtual time skips to it; on the host's clock the wait is
 * short, and the caller comes again. Stops the VM if nothing can wake the vCPU.
 */
void vpt_loop_halted(struct vpt_vcpu *v);

/* Handle an exit of the engine's run() that is no access. */
void vpt_loop_exit(struct vpt_vcpu *v, struct vpt_exit *exit);

#endif /* VMM_CORE_LOOP_H */
