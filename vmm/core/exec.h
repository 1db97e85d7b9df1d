/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Execute one instruction, and report to the tracer what it did. */
#ifndef VMM_CORE_EXEC_H
#define VMM_CORE_EXEC_H

#include <stdbool.h>
#include <stdint.h>

struct vpt_vcpu;
struct vpt_exception;
struct vpt_engine_xstate;

/* exec.c: one instruction and all that comes with it: events, faults, traps. */
void vpt_exec_one(struct vpt_vcpu *v);
/* Deliver an exception that an untraced run came back with. */
void vpt_exec_fault(struct vpt_vcpu *v, struct vpt_exception *e, uint64_t rip);
/* The same for a #DB trap after the last instruction; `causes`: bits of DR6. */
void vpt_exec_debug(struct vpt_vcpu *v, uint64_t causes);
/* What was being delivered at `rip` ended in shutdown. */
void vpt_exec_shutdown(struct vpt_vcpu *v, uint64_t rip);

/* observe.c: be told by the engine what run() does from now on. */
void vpt_observe(struct vpt_vcpu *v);

/* xstate.c: PT's component of the XSAVE feature set; NULL: this vCPU has none. */
const struct vpt_engine_xstate *vpt_vcpu_xstate(const struct vpt_vcpu *v);

#endif /* VMM_CORE_EXEC_H */
