/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to the MSRs of msrs.def. */
#ifndef VMM_CORE_MSR_H
#define VMM_CORE_MSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pt/tracer.h"

struct vpt_vcpu;
struct vpt_msr_range;

/* msr.c: an MSR access that came to user space. */
bool vpt_msr_traps(uint32_t index);
void vpt_msr_ranges(const struct vpt_msr_range **ranges, size_t *count);
enum vpt_fault vpt_msr_read(struct vpt_vcpu *v, uint32_t index, uint64_t *value);
enum vpt_fault vpt_msr_write(struct vpt_vcpu *v, uint32_t index, uint64_t value,
			     const struct vpt_retired *insn);

#endif /* VMM_CORE_MSR_H */
