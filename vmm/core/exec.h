/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Execution of one instruction, with its report to the tracer. */
#ifndef VMM_CORE_EXEC_H
#define VMM_CORE_EXEC_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct engine_exception;
struct engine_xstate;

/* Execute one instruction, with its events, faults and traps (exec.c). */
void core_exec_one(struct core_vcpu *v);
/* Deliver the exception that ended a run() of the engine. */
void core_exec_fault(struct core_vcpu *v, struct engine_exception *e, uint64_t rip);
/* Deliver a #DB at RIP. @causes has bits of DR6. */
void core_exec_debug(struct core_vcpu *v, uint64_t causes);
/* Report to the tracer that a delivery at @rip ended in shutdown. */
void core_exec_shutdown(struct core_vcpu *v, uint64_t rip);

/* Install the observer that receives the engine's reports from run() (observe.c). */
void core_observe(struct core_vcpu *v);

/* Returns PT's component of the XSAVE feature set, or NULL if this vCPU has none (xstate.c). */
const struct engine_xstate *core_vcpu_xstate(const struct core_vcpu *v);

#endif /* VMM_CORE_EXEC_H */
