/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints and single steps that the guest sets for itself. */
#ifndef VMM_CORE_DEBUG_H
#define VMM_CORE_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;

/*
 * Returns true if the next instruction needs core_exec_one(), because of TF, RF or breakpoints on
 * execution.
 */
bool core_debug_armed(struct core_vcpu *v);
/* Returns true if DR7 enables a breakpoint of any kind. */
bool core_debug_set(struct core_vcpu *v);
/* Returns the breakpoints on execution at a linear address, as bits of DR6. */
uint64_t core_debug_breakpoints(struct core_vcpu *v, uint64_t address);
/* Returns true if an access to a debug register faults (DR7.GD). */
bool core_debug_guarded(struct core_vcpu *v);
/* Update DR6 and DR7 for a #DB that is about to be delivered. @causes has bits of DR6. */
void core_debug_report(struct core_vcpu *v, uint64_t causes);

#endif /* VMM_CORE_DEBUG_H */
