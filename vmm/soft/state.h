/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's operations, by file. engine/engine.h describes them. */
#ifndef VMM_SOFT_STATE_H
#define VMM_SOFT_STATE_H

#include "soft/soft.h"

/* state.c */
int soft_get_sregs(struct engine_vcpu *ev, struct x86_sregs *sregs);
int soft_set_sregs(struct engine_vcpu *ev, const struct x86_sregs *sregs);
int soft_get_dr(struct engine_vcpu *ev, unsigned int n, uint64_t *value);
int soft_set_dr(struct engine_vcpu *ev, unsigned int n, uint64_t value);
void soft_clock(struct engine_vcpu *ev, struct vpt_clock *now, uint64_t *tsc);

/* save.c */
size_t soft_save(struct engine_vcpu *ev, void *to, size_t room);
int soft_load(struct engine_vcpu *ev, const void *from, size_t bytes);

/* run.c */
void soft_run(struct engine_vcpu *ev, bool want_irq, struct engine_exit *exit);
void soft_step(struct engine_vcpu *ev, const struct engine_step_hint *hint,
	       struct engine_exit *exit);

/* cpuid.c */
int soft_supported_cpuid(struct engine_vm *vm, struct engine_cpuid_entry *entries, size_t *count);

/* msr.c. Return false if the access raises #GP. */
bool soft_msr_read(struct soft *c, uint32_t index, uint64_t *value);
bool soft_msr_write(struct soft *c, uint32_t index, uint64_t value);
/*
 * Load an MSR of a saved state. Some KVMs let a guest write values at which a processor raises #GP:
 * memory types of PAT and MTRRs, and the upper half of FMASK. They have no effect, and are loaded.
 */
bool soft_msr_load(struct soft *c, uint32_t index, uint64_t value);

#endif /* VMM_SOFT_STATE_H */
