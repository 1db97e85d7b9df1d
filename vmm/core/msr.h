/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to the MSRs of msrs.def. */
#ifndef VMM_CORE_MSR_H
#define VMM_CORE_MSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pt/tracer.h"

struct core_vcpu;
struct engine_msr_range;

/*
 * Returns false if the engine emulates the MSR. Access all other MSRs with the two functions below.
 */
bool core_msr_traps(uint32_t index);

/* Get the ranges of all rows, for vm_trap_msrs() of an engine. */
void core_msr_ranges(const struct engine_msr_range **ranges, size_t *count);

/*
 * Access an MSR for which core_msr_traps() is true. Return VPT_FAULT_GP for an MSR without a row.
 * @r is the report of the WRMSR.
 */
enum vpt_fault core_msr_read(struct core_vcpu *v, uint32_t index, uint64_t *value);
enum vpt_fault core_msr_write(struct core_vcpu *v, uint32_t index, uint64_t value,
			      struct engine_report *r);

#endif /* VMM_CORE_MSR_H */
