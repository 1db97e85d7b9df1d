// SPDX-License-Identifier: GPL-2.0-or-later
/* Dispatch accesses to the MSRs of msrs.def to the trace unit, the APIC and the counters. */
#include "core/devices.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/msr.h"

/* The accesses that are VM exits, if the guest runs under the traced hypervisor. */
enum msr_exit {
	EXIT_ALWAYS,
	EXIT_PT,   /* all except reads by a guest that owns PT */
	EXIT_ATOM, /* all, unless the processor holds the guest's registers */
};

struct msr_row {
	uint32_t first, last;
	enum vpt_fault (*read)(struct core_vcpu *v, uint32_t index, uint64_t *value);
	enum vpt_fault (*write)(struct core_vcpu *v, uint32_t index, uint64_t value,
				struct engine_report *r);
	enum msr_exit exit;
};

/* Returns true if the processor holds the guest's register, so that the access does not exit. */
static bool passes(const struct core_vcpu *v, uint32_t index)
{
	return index >= VPT_ATOM_MSR_FIRST && index <= VPT_ATOM_MSR_LAST &&
	       tracer_hv_passes(&v->hv->hv);
}

static enum vpt_fault read_pt(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	if (v->hv && !passes(v, index))
		return tracer_hv_rdmsr(&v->hv->hv, index, value);
	return tracer_rdmsr(&v->tracer, index, value);
}

static enum vpt_fault write_pt(struct core_vcpu *v, uint32_t index, uint64_t value,
			       struct engine_report *r)
{
	if (v->hv && !passes(v, index))
		return tracer_hv_wrmsr(&v->hv->hv, index, value);
	return tracer_wrmsr(&v->tracer, index, value, r);
}

static enum vpt_fault read_ratio(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	(void)index;
	*value = (uint64_t)v->vm->guest_caps.max_nonturbo << 8;
	return VPT_FAULT_NONE;
}

static enum vpt_fault read_zero(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	(void)v;
	(void)index;
	*value = 0;
	return VPT_FAULT_NONE;
}

static enum vpt_fault ignore(struct core_vcpu *v, uint32_t index, uint64_t value,
			     struct engine_report *r)
{
	(void)v;
	(void)index;
	(void)value;
	(void)r;
	return VPT_FAULT_NONE;
}

static enum vpt_fault read_device(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	return dev_platform_rdmsr(&v->vm->platform, v->index, index, value) == DEV_PLATFORM_DONE
		       ? VPT_FAULT_NONE
		       : VPT_FAULT_GP;
}

static enum vpt_fault read_deadline(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	enum vpt_fault fault = read_device(v, index, value);

	if (fault == VPT_FAULT_NONE && v->hv && *value)
		*value = v->hv->deadline;
	return fault;
}

static enum vpt_fault read_perfmon(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	return core_perfmon_rdmsr(v, index, value) == DEV_PLATFORM_DONE ? VPT_FAULT_NONE
									: VPT_FAULT_GP;
}

/* Finish a WRMSR to a device or a counter. */
static enum vpt_fault written(struct core_vcpu *v, enum dev_platform_msr done)
{
	if (done != DEV_PLATFORM_DONE)
		return VPT_FAULT_GP;
	core_devices_touched(v);
	return VPT_FAULT_NONE;
}

static enum vpt_fault write_device(struct core_vcpu *v, uint32_t index, uint64_t value,
				   struct engine_report *r)
{
	(void)r;
	return written(v, dev_platform_wrmsr(&v->vm->platform, v->index, index, value));
}

/* Write KVM's copy of the MSR, too, because KVM's CPUID reports the APIC's enable bit from it. */
static enum vpt_fault write_apic_base(struct core_vcpu *v, uint32_t index, uint64_t value,
				      struct engine_report *r)
{
	enum dev_platform_msr done = dev_platform_wrmsr(&v->vm->platform, v->index, index, value);

	(void)r;
	if (done == DEV_PLATFORM_DONE && !(v->engine->can & ENGINE_BUS))
		(void)v->engine->set_msr(v->ev, index, value);
	return written(v, done);
}

static enum vpt_fault write_deadline(struct core_vcpu *v, uint32_t index, uint64_t value,
				     struct engine_report *r)
{
	if (v->hv)
		value = core_hv_deadline(v, value);
	return write_device(v, index, value, r);
}

static enum vpt_fault write_perfmon(struct core_vcpu *v, uint32_t index, uint64_t value,
				    struct engine_report *r)
{
	(void)r;
	return written(v, core_perfmon_wrmsr(v, index, value));
}

static const struct msr_row rows[] = {
#define VPT_MSR_ROW(first, last, read, write, exit) {first, last, read, write, exit},
#define VPT_MSR_ENGINE(first, last)
#include "core/msrs.def"
};

/* The rows for vm_trap_msrs(). */
static const struct engine_msr_range ranges[] = {
#define VPT_MSR_ROW(first, last, read, write, exit) {first, (last) - (first) + 1, true, true},
#define VPT_MSR_ENGINE(first, last)		    {first, (last) - (first) + 1, false, false},
#include "core/msrs.def"
};

static const struct msr_row *find(uint32_t index)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (index >= rows[i].first && index <= rows[i].last)
			return &rows[i];
	return NULL;
}

void core_msr_ranges(const struct engine_msr_range **out, size_t *count)
{
	*out = ranges;
	*count = sizeof(ranges) / sizeof(ranges[0]);
}

bool core_msr_traps(uint32_t index)
{
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (index - ranges[i].first < ranges[i].count)
			return ranges[i].read || ranges[i].write;
	return true;
}

static bool exits(const struct core_vcpu *v, const struct msr_row *row, bool write)
{
	switch (row->exit) {
	case EXIT_PT:
		return write || v->hv->hv.usage != VPT_USAGE_OWNED;
	case EXIT_ATOM:
		return !tracer_hv_passes(&v->hv->hv);
	case EXIT_ALWAYS:
	default:
		return true;
	}
}

enum vpt_fault core_msr_read(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	const struct msr_row *row = find(index);

	if (!row)
		return VPT_FAULT_GP;
	if (v->hv && exits(v, row, false))
		core_hv_note_rdmsr(v);
	core_irq_advance(v);
	return row->read ? row->read(v, index, value) : VPT_FAULT_GP;
}

enum vpt_fault core_msr_write(struct core_vcpu *v, uint32_t index, uint64_t value,
			      struct engine_report *r)
{
	const struct msr_row *row = find(index);

	if (!row)
		return VPT_FAULT_GP;
	if (v->hv && exits(v, row, true))
		core_hv_exit_wrmsr(v, r);
	core_irq_advance(v);
	return row->write ? row->write(v, index, value, r) : VPT_FAULT_GP;
}
