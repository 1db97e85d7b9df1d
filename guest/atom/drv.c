// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver of Atom's RTIT. */
#include "drv.h"

#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"

#define ON ATOM_CTL(TRACE_EN)
/* One write must not set TraceActive together with these bits: that is undefined (3.3.2). */
#define ACTIVE ATOM_CTL(TRACE_ACTIVE)

struct setting {
	enum vpt_atom_msr msr;
	uint64_t value;
};

static bool write_all(const struct setting *settings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!wrmsr_safe(settings[i].msr, settings[i].value))
			return false;
	return true;
}

/* This read unlocks the other registers (3.3.1). A hook on #GP would take the fault. */
static bool ctl_is_there(void)
{
	idt_hook_fn *hook = idt_hook(VEC_GP, NULL);
	uint64_t ctl;
	bool there = rdmsr_safe(VPT_ATOM_MSR_CTL, &ctl);

	idt_hook(VEC_GP, hook);
	return there;
}

bool guest_atom_drv_probe(struct guest_atom_drv *drv)
{
	memset(drv, 0, sizeof(*drv));
	drv->signature = cpuid(1, 0).eax;
	if (!vpt_atom_supported(drv->signature) || !ctl_is_there())
		return false;
	guest_atom_drv_events(drv, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_NEVER);
	drv->ctl = ATOM_CTL(DEST);
	drv->pkt_cnt = 2u << VPT_ATOM_PKT_CNT_MASK_SHIFT;
	return true;
}

void guest_atom_drv_output(struct guest_atom_drv *drv, const void *base, uint64_t bytes)
{
	drv->base = (uintptr_t)base;
	drv->mask = (uint32_t)bytes - 1;
	drv->offset = 0;
}

void guest_atom_drv_range(struct guest_atom_drv *drv, unsigned int n, const void *base,
			  const void *limit)
{
	drv->lip[n] = (uintptr_t)base;
	drv->lip[n + VPT_ATOM_RANGES] = (uintptr_t)limit;
}

void guest_atom_drv_events(struct guest_atom_drv *drv, enum vpt_atom_event_id filter,
			   enum vpt_atom_event_id stop)
{
	drv->events = (uint32_t)filter << VPT_ATOM_EVENTS_FILTER_SHIFT |
		      (uint32_t)stop << VPT_ATOM_EVENTS_STOP_SHIFT;
}

void guest_atom_drv_cr3(struct guest_atom_drv *drv, uint64_t cr3)
{
	drv->cr3_match = cr3 & VPT_MASK64(35, 5);
	drv->ctl &= ~ATOM_CTL(CR3_EN);
	if (cr3)
		drv->ctl |= ATOM_CTL(CR3_EN);
}

/* Clear the state that a trace leaves: outcomes, the last LIPs and FilterEn (appendix B 4.2.1). */
static bool forget(void)
{
	static const struct setting fresh[] = {
		{VPT_ATOM_MSR_STATUS, 0},	  {VPT_ATOM_MSR_TNT_BUFF, 1},
		{VPT_ATOM_MSR_CNTP, 0},		  {VPT_ATOM_MSR_LAST_LIP, 0},
		{VPT_ATOM_MSR_LAST_CALL_NLIP, 0},
	};

	return write_all(fresh, ARRAY_SIZE(fresh));
}

static noinline bool enable(struct guest_atom_drv *drv, uint64_t ctl)
{
	drv->started = ctl | ON | ACTIVE;
	return wrmsr_safe(VPT_ATOM_MSR_CTL, ctl | ON) &&
	       wrmsr_safe(VPT_ATOM_MSR_CTL, ctl | ON | ACTIVE);
}

noinline bool guest_atom_drv_start(struct guest_atom_drv *drv, uint64_t ctl)
{
	const struct setting settings[] = {
		{VPT_ATOM_MSR_BASE_ADDR, drv->base},  {VPT_ATOM_MSR_LIMIT_MASK, drv->mask},
		{VPT_ATOM_MSR_OFFSET, drv->offset},   {VPT_ATOM_MSR_LIP0, drv->lip[0]},
		{VPT_ATOM_MSR_LIP1, drv->lip[1]},     {VPT_ATOM_MSR_LIP2, drv->lip[2]},
		{VPT_ATOM_MSR_LIP3, drv->lip[3]},     {VPT_ATOM_MSR_EVENTS, drv->events},
		{VPT_ATOM_MSR_PKT_CNT, drv->pkt_cnt}, {VPT_ATOM_MSR_CR3_MATCH, drv->cr3_match},
	};

	return forget() && write_all(settings, ARRAY_SIZE(settings)) && enable(drv, drv->ctl | ctl);
}

noinline bool guest_atom_drv_restart(struct guest_atom_drv *drv)
{
	return forget() && enable(drv, drv->started & ~(ON | ACTIVE));
}

noinline uint64_t guest_atom_drv_stop(struct guest_atom_drv *drv)
{
	drv->status = rdmsr(VPT_ATOM_MSR_STATUS);
	drv->stopped = rdmsr(VPT_ATOM_MSR_CTL);
	wrmsr(VPT_ATOM_MSR_CTL, drv->stopped & ~ACTIVE);
	wrmsr(VPT_ATOM_MSR_CTL, drv->stopped & ~(ACTIVE | ON));
	drv->end_offset = guest_atom_drv_offset();
	drv->tnt_buff = (uint32_t)rdmsr(VPT_ATOM_MSR_TNT_BUFF);
	return drv->status;
}

uint32_t guest_atom_drv_offset(void)
{
	return (uint32_t)rdmsr(VPT_ATOM_MSR_OFFSET);
}

uint64_t guest_atom_drv_bytes(const struct guest_atom_drv *drv)
{
	return (drv->end_offset - drv->offset) & drv->mask;
}
