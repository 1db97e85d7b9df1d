// SPDX-License-Identifier: GPL-2.0-or-later
/* MSRs that the VMM answers for: PT's, and the clock ratio its model implies. */
#include "core/vcpu.h"

static const struct vpt_msr_range ranges[] = {
	{VPT_MSR_FIRST, VPT_MSR_LAST - VPT_MSR_FIRST + 1, true, true},
	{VPT_MSR_IA32_PLATFORM_INFO, 1, true, true},
};

void vpt_msr_ranges(const struct vpt_msr_range **out, size_t *count)
{
	*out = ranges;
	*count = sizeof(ranges) / sizeof(ranges[0]);
}

bool vpt_msr_traps(uint32_t index)
{
	return (index >= VPT_MSR_FIRST && index <= VPT_MSR_LAST) ||
	       index == VPT_MSR_IA32_PLATFORM_INFO;
}

enum vpt_fault vpt_msr_read(struct vpt_vcpu *v, uint32_t index, uint64_t *value)
{
	if (index == VPT_MSR_IA32_PLATFORM_INFO) {
		*value = (uint64_t)v->vm->caps.max_nonturbo << 8;
		return VPT_FAULT_NONE;
	}
	return vpt_tracer_rdmsr(&v->tracer, index, value);
}

enum vpt_fault vpt_msr_write(struct vpt_vcpu *v, uint32_t index, uint64_t value,
			     const struct vpt_retired *insn)
{
	if (index == VPT_MSR_IA32_PLATFORM_INFO)
		return VPT_FAULT_GP;
	return vpt_tracer_wrmsr(&v->tracer, index, value, insn);
}
