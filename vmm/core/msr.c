// SPDX-License-Identifier: GPL-2.0-or-later
/* MSRs that the VMM answers for: the trace unit's, the APIC's, counters', the clock ratio. */
#include "core/hv.h"

/*
 * KVM ignores a filter of x2APIC MSRs: with it they are not there, and raise #GP as they
 * should.
 */
static const struct vpt_msr_range ranges[] = {
	{VPT_MSR_FIRST, VPT_MSR_LAST - VPT_MSR_FIRST + 1, true, true},
	{VPT_ATOM_MSR_FIRST, VPT_ATOM_MSR_LAST - VPT_ATOM_MSR_FIRST + 1, true, true},
	{VPT_MSR_IA32_PLATFORM_INFO, 1, true, true},
	{VPT_MSR_APIC_BASE, 1, true, true},
	{VPT_MSR_TSC_DEADLINE, 1, true, true},
	{VPT_MSR_X2APIC_FIRST, VPT_MSR_X2APIC_LAST - VPT_MSR_X2APIC_FIRST + 1, true, true},
	/* Performance monitoring: PMCx, EVTSELx, FIXED_CTRx, CAPABILITIES, from FIXED_CTR_CTRL
	 * to INUSE, and PMCx at full width. */
	{0xc1, VPT_PERFMON_GENERAL, true, true},
	{0x186, VPT_PERFMON_GENERAL, true, true},
	{0x309, VPT_PERFMON_FIXED, true, true},
	{0x345, 1, true, true},
	{0x38d, 6, true, true},
	{0x4c1, VPT_PERFMON_GENERAL, true, true},
	/* LER_FROM_LIP and LER_TO_LIP, which KVM has and reads as 0. The machine has no LBRs. */
	{0x1dd, 2, true, true},
};

void vpt_msr_ranges(const struct vpt_msr_range **out, size_t *count)
{
	*out = ranges;
	*count = sizeof(ranges) / sizeof(ranges[0]);
}

bool vpt_msr_traps(uint32_t index)
{
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (index - ranges[i].first < ranges[i].count)
			return true;
	return false;
}

enum vpt_fault vpt_msr_read(struct vpt_vcpu *v, uint32_t index, uint64_t *value)
{
	enum vpt_platform_msr done;

	if (v->hv)
		vpt_hv_note_rdmsr(v, index);
	if (index == VPT_MSR_IA32_PLATFORM_INFO) {
		*value = (uint64_t)v->vm->guest_caps.max_nonturbo << 8;
		return VPT_FAULT_NONE;
	}
	vpt_irq_advance(v);
	done = vpt_perfmon_rdmsr(v, index, value);
	if (done == VPT_PLATFORM_OTHER)
		done = vpt_platform_rdmsr(&v->vm->platform, index, value);
	if (done == VPT_PLATFORM_OTHER && v->hv && !vpt_hv_passes(&v->hv->hv, index))
		return vpt_hv_rdmsr(&v->hv->hv, index, value);
	if (done == VPT_PLATFORM_OTHER)
		return vpt_tracer_rdmsr(&v->tracer, index, value);
	if (done == VPT_PLATFORM_DONE && v->hv && index == VPT_MSR_TSC_DEADLINE && *value)
		*value = v->hv->deadline;
	return done == VPT_PLATFORM_DONE ? VPT_FAULT_NONE : VPT_FAULT_GP;
}

/* KVM's CPUID shows whether the local APIC is on by what it holds itself. */
static void mirror(struct vpt_vcpu *v, uint32_t index, uint64_t value)
{
	if (index == VPT_MSR_APIC_BASE && !v->engine->observes)
		(void)v->engine->set_msr(v->ev, index, value);
}

enum vpt_fault vpt_msr_write(struct vpt_vcpu *v, uint32_t index, uint64_t value,
			     const struct vpt_retired *insn)
{
	enum vpt_platform_msr done;

	if (v->hv && !vpt_hv_passes(&v->hv->hv, index))
		vpt_hv_exit_wrmsr(v, insn);
	if (index == VPT_MSR_IA32_PLATFORM_INFO)
		return VPT_FAULT_GP;
	vpt_irq_advance(v);
	if (v->hv && index == VPT_MSR_TSC_DEADLINE)
		value = vpt_hv_deadline(v, value);
	done = vpt_perfmon_wrmsr(v, index, value);
	if (done == VPT_PLATFORM_OTHER)
		done = vpt_platform_wrmsr(&v->vm->platform, index, value);
	if (done == VPT_PLATFORM_OTHER && v->hv && !vpt_hv_passes(&v->hv->hv, index))
		return vpt_hv_wrmsr(&v->hv->hv, index, value);
	if (done == VPT_PLATFORM_OTHER)
		return vpt_tracer_wrmsr(&v->tracer, index, value, insn);
	if (done == VPT_PLATFORM_GP)
		return VPT_FAULT_GP;
	mirror(v, index, value);
	vpt_devices_touched(v);
	/* The tracer counts only what it is told of here. */
	if (!v->hv && vpt_tracer_on(&v->tracer)) {
		vpt_tracer_retired(&v->tracer, insn);
		vpt_tracer_plain(&v->tracer, insn->ip, insn->next);
	}
	return VPT_FAULT_NONE;
}
