/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints and single steps of the guest, with engines that observe. */
#ifndef VMM_CORE_DEBUG_H
#define VMM_CORE_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

struct vpt_vcpu;

/* The next instruction needs vpt_exec_one(): TF, RF, breakpoints on execution. */
bool vpt_debug_armed(struct vpt_vcpu *v);
/* DR7 enables a breakpoint, of any kind. */
bool vpt_debug_set(struct vpt_vcpu *v);
/* Breakpoints on an instruction at this linear address, as bits of DR6. */
uint64_t vpt_debug_breakpoints(struct vpt_vcpu *v, uint64_t address);
/* DR7.GD: an access to a debug register is a fault. */
bool vpt_debug_guarded(struct vpt_vcpu *v);
/* A #DB is about to be delivered. */
void vpt_debug_report(struct vpt_vcpu *v, uint64_t causes);

#endif /* VMM_CORE_DEBUG_H */
