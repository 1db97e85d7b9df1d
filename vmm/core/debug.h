/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints and single steps of the guest, with engines that observe. */
#ifndef VMM_CORE_DEBUG_H
#define VMM_CORE_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;

/* The next instruction needs core_exec_one(): TF, RF, breakpoints on execution. */
bool core_debug_armed(struct core_vcpu *v);
/* DR7 enables a breakpoint, of any kind. */
bool core_debug_set(struct core_vcpu *v);
/* Breakpoints on an instruction at this linear address, as bits of DR6. */
uint64_t core_debug_breakpoints(struct core_vcpu *v, uint64_t address);
/* DR7.GD: an access to a debug register is a fault. */
bool core_debug_guarded(struct core_vcpu *v);
/* A #DB is about to be delivered. */
void core_debug_report(struct core_vcpu *v, uint64_t causes);

#endif /* VMM_CORE_DEBUG_H */
