/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's operations, by file: see engine/engine.h. */
#ifndef VMM_SOFT_STATE_H
#define VMM_SOFT_STATE_H

#include "soft/soft.h"

/* state.c */
int vpt_soft_get_sregs(struct vpt_engine_vcpu *ev, struct vpt_sregs *sregs);
int vpt_soft_set_sregs(struct vpt_engine_vcpu *ev, const struct vpt_sregs *sregs);
int vpt_soft_get_dr(struct vpt_engine_vcpu *ev, unsigned int n, uint64_t *value);
int vpt_soft_set_dr(struct vpt_engine_vcpu *ev, unsigned int n, uint64_t value);
void vpt_soft_clock(struct vpt_engine_vcpu *ev, struct vpt_clock *now, uint64_t *tsc);

/* save.c */
size_t vpt_soft_save(struct vpt_engine_vcpu *ev, void *to, size_t room);
int vpt_soft_load(struct vpt_engine_vcpu *ev, const void *from, size_t bytes);

/* run.c */
void vpt_soft_run(struct vpt_engine_vcpu *ev, bool want_irq, struct vpt_exit *exit);
void vpt_soft_step(struct vpt_engine_vcpu *ev, const struct vpt_step_hint *hint,
		   struct vpt_exit *exit);

/* cpuid.c */
int vpt_soft_supported_cpuid(struct vpt_engine_vm *vm, struct vpt_cpuid_entry *entries,
			     size_t *count);

/* msr.c: false: #GP. */
bool vpt_soft_msr_read(struct vpt_soft *c, uint32_t index, uint64_t *value);
bool vpt_soft_msr_write(struct vpt_soft *c, uint32_t index, uint64_t value);

#endif /* VMM_SOFT_STATE_H */
