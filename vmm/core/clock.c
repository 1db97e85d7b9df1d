// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time that the guest's PT sees. Time is virtual (engine/time.h) for instructions that are
 * stepped and for an engine that counts.
 *
 * A guest that KVM steps has virtual time, too, because each packet would contain the cost of a
 * step otherwise. If the guest has seen the host's TSC, its TSC continues from there by
 * instructions. RDTSC returns the same value.
 */
#include "core/clock.h"
#include "core/hv.h"
#include "dev/clock.h"

#define BUS_HZ 100000000ull

void core_clock_init(struct engine_time *t, const struct vpt_caps *caps)
{
	t->ticks = t->clocks = caps->max_nonturbo;
}

uint64_t core_clock_tsc_hz(const struct vpt_caps *caps)
{
	if (caps->l15_eax && caps->l15_ebx && caps->l15_ecx)
		return (uint64_t)caps->l15_ecx * caps->l15_ebx / caps->l15_eax;
	return caps->max_nonturbo ? caps->max_nonturbo * BUS_HZ : BUS_HZ;
}

uint8_t core_clock_cbr(const struct core_vcpu *v)
{
	return (uint8_t)v->ev->time.clocks;
}

void core_clock_set_cbr(struct core_vcpu *v, uint8_t cbr)
{
	if (v->ev->time.ticks)
		engine_time_ratio(&v->ev->time, v->ev->retired, v->ev->time.ticks, cbr, 0);
}

/* Returns the offset that software has added to the host's TSC. */
static uint64_t host_offset(struct core_vcpu *v, struct vpt_clock *now)
{
	uint64_t tsc;

	v->engine->clock(v->ev, now, &tsc);
	return tsc - now->tsc;
}

void core_clock_hold(struct core_vcpu *v)
{
	struct engine_time *t = &v->ev->time;
	struct vpt_clock host;
	uint64_t is;

	if (v->way & CORE_WAY_HELD || core_vcpu_counts(v) || v->engine->pt)
		return;
	v->way |= CORE_WAY_HELD;
	if (!(v->way & CORE_WAY_RAN_FREE))
		return;
	v->host_offset = t->offset = host_offset(v, &host);
	is = engine_time_tsc(t, v->ev->retired);
	if (host.tsc > is)
		engine_time_ratio(t, v->ev->retired, t->ticks, t->clocks, host.tsc - is);
}

void core_clock_release(struct core_vcpu *v)
{
	v->way &= ~CORE_WAY_HELD;
	v->way |= CORE_WAY_RAN_FREE;
}

void core_clock_slept(struct core_vcpu *v, uint64_t ns)
{
	struct engine_time *t = &v->ev->time;

	if (!core_vcpu_counts(v))
		engine_time_ratio(t, v->ev->retired, t->ticks, t->clocks,
				  dev_clock_ticks(ns, core_clock_tsc_hz(&v->vm->caps)));
}

void core_clock_now(struct core_vcpu *v, struct vpt_clock *now, uint64_t *tsc)
{
	/*
	 * Counted instructions are already the clock, so only other vCPUs switch to virtual time.
	 */
	if (vpt_unlikely(v->way & CORE_WAY_UNTRACED && !core_vcpu_counts(v)))
		core_clock_hold(v);
	*now = engine_time_clock(&v->ev->time, v->ev->retired);
	*tsc = now->tsc + v->ev->time.offset;
}

static void report(struct core_vcpu *v)
{
	uint64_t tsc = engine_time_read(&v->ev->time, v->ev->retired);

	v->regs->rax = (uint32_t)tsc;
	v->regs->rdx = tsc >> 32;
	v->ev->state |= ENGINE_REGS_DIRTY;
}

static void wrote(struct core_vcpu *v, uint32_t msr)
{
	struct vpt_clock host;
	uint64_t offset;

	if (msr != X86_MSR_TSC && msr != X86_MSR_TSC_ADJUST)
		return;
	offset = host_offset(v, &host);
	if (msr == X86_MSR_TSC)
		engine_time_write(&v->ev->time, v->ev->retired,
				  (uint32_t)v->regs->rax | v->regs->rdx << 32);
	else
		v->ev->time.offset += offset - v->host_offset;
	v->host_offset = offset;
}

void core_clock_stepped(struct core_vcpu *v, const struct core_insn *insn)
{
	uint32_t msr = (uint32_t)v->regs->rcx;

	if (insn->cls == CORE_INSN_RDTSC || (insn->cls == CORE_INSN_RDMSR && msr == X86_MSR_TSC))
		report(v);
	else if (insn->cls == CORE_INSN_WRMSR)
		wrote(v, msr);
}

void core_clock_read(struct core_vcpu *v)
{
	if (vpt_likely(!tracer_needs_time(&v->tracer)))
		return;
	v->pending |= CORE_VCPU_READ_TIME;
	core_clock_send(v, v->regs->rip);
}

/* [TIME-ASKED] */
void core_clock_send(struct core_vcpu *v, uint64_t ip)
{
	struct vpt_context ctx;

	if (vpt_likely(!(v->pending & CORE_VCPU_READ_TIME)))
		return;
	tracer_context(&v->tracer, &ctx);
	if (tracer_needs_time(&v->tracer) && !vpt_context_en(&v->tracer.pt.rtit, &ctx))
		return;
	v->pending &= ~CORE_VCPU_READ_TIME;
	tracer_timing(&v->tracer, ip);
}

static void change(struct core_vcpu *v, const struct core_cbr_change *to)
{
	uint64_t ip = v->hv ? core_hv_where(v) : v->regs->rip;
	const struct vpt_event event = {
		.kind = VPT_EV_CBR,
		.flags = to->stopped ? VPT_EVF_STOPPED : 0,
		.from = ip,
		.to = ip,
	};
	struct engine_time *t = &v->ev->time;

	/* MTC packets that are due by now precede the CBR. */
	tracer_tick(&v->tracer, ip);
	core_perfmon_advance(v);
	engine_time_ratio(t, v->ev->retired, t->ticks, to->cbr, to->stopped);
	core_perfmon_skip(v);
	tracer_event(&v->tracer, &event, v->cpl);
}

void core_clock_update(struct core_vcpu *v)
{
	while (v->cbr_next < v->cbr_count && v->cbr[v->cbr_next].at <= v->ev->retired)
		change(v, &v->cbr[v->cbr_next++]);
}

uint64_t core_clock_next(const struct core_vcpu *v)
{
	return v->cbr_next < v->cbr_count ? v->cbr[v->cbr_next].at - v->ev->retired : UINT64_MAX;
}
