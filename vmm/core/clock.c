// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What time it is for the guest's PT. What is executed an instruction at a time, or by an
 * engine that counts, has virtual time: engine/time.h. So has a guest that KVM steps, or a
 * step's cost would be in each packet: its TSC goes on from where the host's was, if it has
 * seen that, by instructions. Its RDTSC is told the same.
 */
#include "core/clock.h"
#include "core/hv.h"
#include "dev/clock.h"

#define BUS_HZ 100000000ull

void vpt_clock_init(struct vpt_vcpu *v)
{
	v->ev->time.ticks = v->ev->time.clocks = v->vm->caps.max_nonturbo;
}

uint64_t vpt_clock_tsc_hz(const struct vpt_caps *caps)
{
	if (caps->l15_eax && caps->l15_ebx && caps->l15_ecx)
		return (uint64_t)caps->l15_ecx * caps->l15_ebx / caps->l15_eax;
	return caps->max_nonturbo ? caps->max_nonturbo * BUS_HZ : BUS_HZ;
}

uint8_t vpt_clock_cbr(const struct vpt_vcpu *v)
{
	return (uint8_t)v->ev->time.clocks;
}

void vpt_clock_set_cbr(struct vpt_vcpu *v, uint8_t cbr)
{
	if (v->ev->time.ticks)
		vpt_time_ratio(&v->ev->time, v->ev->retired, v->ev->time.ticks, cbr, 0);
}

/* What software has added to the host's TSC. */
static uint64_t host_offset(struct vpt_vcpu *v, struct vpt_clock *now)
{
	uint64_t tsc;

	v->engine->clock(v->ev, now, &tsc);
	return tsc - now->tsc;
}

void vpt_clock_hold(struct vpt_vcpu *v)
{
	struct vpt_time *t = &v->ev->time;
	struct vpt_clock host;
	uint64_t is;

	if (v->way & VPT_WAY_HELD || vpt_vcpu_counts(v) || v->engine->pt)
		return;
	v->way |= VPT_WAY_HELD;
	if (!(v->way & VPT_WAY_RAN_FREE))
		return;
	v->host_offset = t->offset = host_offset(v, &host);
	is = vpt_time_tsc(t, v->ev->retired);
	if (host.tsc > is)
		vpt_time_ratio(t, v->ev->retired, t->ticks, t->clocks, host.tsc - is);
}

void vpt_clock_release(struct vpt_vcpu *v)
{
	v->way &= ~VPT_WAY_HELD;
	v->way |= VPT_WAY_RAN_FREE;
}

void vpt_clock_slept(struct vpt_vcpu *v, uint64_t ns)
{
	struct vpt_time *t = &v->ev->time;

	if (!vpt_vcpu_counts(v))
		vpt_time_ratio(t, v->ev->retired, t->ticks, t->clocks,
			       vpt_clock_ticks(ns, vpt_clock_tsc_hz(&v->vm->caps)));
}

void vpt_clock_now(struct vpt_vcpu *v, struct vpt_clock *now, uint64_t *tsc)
{
	/* Where the engine counts there is nothing to hold. */
	if (vpt_unlikely(v->way & VPT_WAY_UNTRACED && !vpt_vcpu_counts(v)))
		vpt_clock_hold(v);
	*now = vpt_time_clock(&v->ev->time, v->ev->retired);
	*tsc = now->tsc + v->ev->time.offset;
}

static void tell(struct vpt_vcpu *v)
{
	uint64_t tsc = vpt_time_read(&v->ev->time, v->ev->retired);

	v->regs->rax = (uint32_t)tsc;
	v->regs->rdx = tsc >> 32;
	v->ev->regs_dirty = true;
}

static void wrote(struct vpt_vcpu *v, uint32_t msr)
{
	struct vpt_clock host;
	uint64_t offset;

	if (msr != VPT_MSR_TSC && msr != VPT_MSR_TSC_ADJUST)
		return;
	offset = host_offset(v, &host);
	if (msr == VPT_MSR_TSC)
		vpt_time_write(&v->ev->time, v->ev->retired,
			       (uint32_t)v->regs->rax | v->regs->rdx << 32);
	else
		v->ev->time.offset += offset - v->host_offset;
	v->host_offset = offset;
}

void vpt_clock_stepped(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	uint32_t msr = (uint32_t)v->regs->rcx;

	if (insn->cls == VPT_INSN_RDTSC || (insn->cls == VPT_INSN_RDMSR && msr == VPT_MSR_TSC))
		tell(v);
	else if (insn->cls == VPT_INSN_WRMSR)
		wrote(v, msr);
}

static void change(struct vpt_vcpu *v, const struct vpt_cbr_change *to)
{
	uint64_t ip = v->hv ? vpt_hv_where(v) : v->regs->rip;
	const struct vpt_event event = {
		.kind = VPT_EV_CBR,
		.flags = to->stopped ? VPT_EVF_STOPPED : 0,
		.from = ip,
		.to = ip,
	};
	struct vpt_time *t = &v->ev->time;

	/* MTCs up to here come before it. */
	vpt_tracer_tick(&v->tracer, ip);
	vpt_time_ratio(t, v->ev->retired, t->ticks, to->cbr, to->stopped);
	vpt_tracer_event(&v->tracer, &event, v->cpl);
}

void vpt_clock_look(struct vpt_vcpu *v)
{
	while (v->cbr_next < v->cbr_count && v->cbr[v->cbr_next].at <= v->ev->retired)
		change(v, &v->cbr[v->cbr_next++]);
}

uint64_t vpt_clock_next(const struct vpt_vcpu *v)
{
	return v->cbr_next < v->cbr_count ? v->cbr[v->cbr_next].at - v->ev->retired : UINT64_MAX;
}
