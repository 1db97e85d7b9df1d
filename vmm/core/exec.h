/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Execute one instruction, and report to the tracer what it did. */
#ifndef VMM_CORE_EXEC_H
#define VMM_CORE_EXEC_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct engine_exception;
struct engine_xstate;

/* exec.c: one instruction and all that comes with it: events, faults, traps. */
void core_exec_one(struct core_vcpu *v);
/* Deliver an exception that an untraced run came back with. */
void core_exec_fault(struct core_vcpu *v, struct engine_exception *e, uint64_t rip);
/* The same for a #DB trap after the last instruction; `causes`: bits of DR6. */
void core_exec_debug(struct core_vcpu *v, uint64_t causes);
/* Record that a delivery at `rip` ended in shutdown. */
void core_exec_shutdown(struct core_vcpu *v, uint64_t rip);

/* observe.c: be told by the engine what run() does from now on. */
void core_observe(struct core_vcpu *v);

/* xstate.c: PT's component of the XSAVE feature set; NULL: this vCPU has none. */
const struct engine_xstate *core_vcpu_xstate(const struct core_vcpu *v);

#endif /* VMM_CORE_EXEC_H */
