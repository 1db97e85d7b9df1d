// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts: from the devices, and from the two sources of abi/boot.h. While
 * instructions are counted the timer counts them; else it runs on the host's clock at a
 * nominal rate.
 */
#include "core/clock.h"
#include "core/deliver.h"
#include "core/devices.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/wait.h"

#include <time.h>

#define NS_PER_INSN 500u
/* The longest that a HLT waits for the host's clock before it is looked at again. */
#define NAP_NS 10000000u
#define NEVER  UINT64_MAX

uint64_t vpt_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void vpt_irq_set_timer(struct vpt_vcpu *v, uint32_t value)
{
	struct vpt_irq *irq = &v->irq;
	uint32_t n = value & 0xffffff;

	irq->pending &= ~VPT_IRQ_TIMER_DUE;
	vpt_put_bit(&irq->pending, VPT_IRQ_TIMER_ARMED, n);
	irq->timer_vector = (uint8_t)(value >> 24);
	/* The OUT itself retires after this and is not one of the n. */
	irq->timer_at = v->ev->retired + n + 1;
	irq->timer_left = v->way & VPT_WAY_UNTRACED ? n : n + 1;
	irq->timer_set = vpt_now();
	v->pending &= ~VPT_VCPU_KICK_ARMED;
	v->ev->attention = true;
}

static void due(struct vpt_irq *irq)
{
	irq->pending &= ~VPT_IRQ_TIMER_ARMED;
	irq->pending |= VPT_IRQ_TIMER_DUE;
}

/* [PMI-LVT] */
void vpt_irq_pmi(struct vpt_vcpu *v)
{
	vpt_perfmon_topa(v);
	v->irq.pending |= VPT_IRQ_PMI_RAISED;
	vpt_put_bit(&v->irq.pending, VPT_IRQ_PMI_DUE, v->irq.pmi_vector);
	if (!v->irq.pmi_vector)
		vpt_platform_pmi(&v->vm->platform);
	v->ev->attention = true;
}

void vpt_irq_retired(struct vpt_vcpu *v)
{
	if (vpt_likely(!(v->irq.pending & VPT_IRQ_TIMER_ARMED)) || v->way & VPT_WAY_UNTRACED ||
	    vpt_vcpu_counts(v))
		return;
	if (!--v->irq.timer_left)
		due(&v->irq);
}

void vpt_irq_poll(struct vpt_vcpu *v)
{
	struct vpt_irq *irq = &v->irq;

	vpt_devices_advance(v);
	if (!(irq->pending & VPT_IRQ_TIMER_ARMED) || !(v->way & VPT_WAY_UNTRACED) ||
	    vpt_vcpu_counts(v))
		return;
	if (v->pending & VPT_VCPU_HALTED ||
	    vpt_now() - irq->timer_set >= (uint64_t)irq->timer_left * NS_PER_INSN)
		due(irq);
}

uint64_t vpt_irq_wait(const struct vpt_vcpu *v, uint64_t most)
{
	uint64_t wait = (uint64_t)v->irq.timer_left * NS_PER_INSN;
	uint64_t passed = vpt_now() - v->irq.timer_set, next = vpt_devices_next(v);

	if (next < most)
		most = next ? next : 1;
	if (!(v->irq.pending & VPT_IRQ_TIMER_ARMED))
		return most;
	wait = wait > passed ? wait - passed : 1;
	return wait < most ? wait : most;
}

void vpt_irq_enter_untraced(struct vpt_vcpu *v)
{
	v->way |= VPT_WAY_UNTRACED;
	v->pending &= ~VPT_VCPU_KICK_ARMED;
	v->irq.timer_set = vpt_now();
}

void vpt_irq_leave_untraced(struct vpt_vcpu *v)
{
	uint64_t passed = (vpt_now() - v->irq.timer_set) / NS_PER_INSN;

	v->way &= ~VPT_WAY_UNTRACED;
	vpt_clock_hold(v);
	if (v->irq.pending & VPT_IRQ_TIMER_ARMED)
		v->irq.timer_left =
			passed < v->irq.timer_left ? v->irq.timer_left - (uint32_t)passed : 1;
}

void vpt_irq_advance(struct vpt_vcpu *v)
{
	if (v->irq.pending & VPT_IRQ_TIMER_ARMED && vpt_vcpu_counts(v) &&
	    v->ev->retired >= v->irq.timer_at)
		due(&v->irq);
	vpt_perfmon_advance(v);
	vpt_devices_advance(v);
}

static uint64_t timer_next(const struct vpt_vcpu *v)
{
	if (!(v->irq.pending & VPT_IRQ_TIMER_ARMED) || !vpt_vcpu_counts(v))
		return NEVER;
	return v->irq.timer_at > v->ev->retired ? v->irq.timer_at - v->ev->retired : 0;
}

static bool nmi_pending(const struct vpt_vcpu *v)
{
	return !(v->shadowed & VPT_VCPU_NMI_BLOCKED) && vpt_platform_nmi(&v->vm->platform);
}

uint64_t vpt_irq_next(const struct vpt_vcpu *v)
{
	uint64_t timer = timer_next(v), devices = vpt_devices_next(v);
	uint64_t counter = vpt_perfmon_next(v);

	/* Held back by a shadow only, whatever RFLAGS.IF. */
	if (nmi_pending(v))
		return 1;
	if (counter < devices)
		devices = counter;
	return timer < devices ? timer : devices;
}

static void nap(struct vpt_vcpu *v, uint64_t ns)
{
	struct timespec t = {.tv_nsec = (long)(ns < NAP_NS ? ns : NAP_NS)};
	uint64_t began = vpt_now();

	nanosleep(&t, NULL);
	vpt_clock_slept(v, vpt_now() - began);
}

void vpt_irq_skip_to_next(struct vpt_vcpu *v)
{
	uint64_t timer = timer_next(v), devices = vpt_devices_next(v);

	if (!vpt_vcpu_counts(v) && v->irq.pending & VPT_IRQ_TIMER_ARMED) {
		vpt_time_idle(&v->ev->time, v->ev->retired, v->irq.timer_left);
		due(&v->irq);
	} else if (!vpt_vcpu_counts(v)) {
		nap(v, devices);
		vpt_devices_advance(v);
	} else if (timer <= devices && timer != NEVER) {
		due(&v->irq);
		vpt_devices_idle(v, timer);
	} else if (devices != NEVER) {
		vpt_devices_idle(v, devices);
	}
}

bool vpt_irq_listen(struct vpt_vcpu *v)
{
	if (!vpt_platform_listens(&v->vm->platform))
		return false;
	nap(v, NAP_NS);
	vpt_irq_poll(v);
	return true;
}

static bool maskable_pending(const struct vpt_vcpu *v)
{
	return v->irq.pending & VPT_IRQ_TIMER_DUE || v->irq.pending & VPT_IRQ_PMI_DUE ||
	       vpt_platform_pending(&v->vm->platform);
}

bool vpt_irq_pending(const struct vpt_vcpu *v)
{
	return maskable_pending(v) || nmi_pending(v);
}

/* The vector that is delivered now, in the order of priority. */
static uint8_t take(struct vpt_vcpu *v, enum vpt_event_source source)
{
	struct vpt_irq *irq = &v->irq;

	if (source == VPT_SOURCE_NMI) {
		vpt_platform_ack_nmi(&v->vm->platform);
		return VPT_VEC_NMI;
	}
	if (irq->pending & VPT_IRQ_PMI_DUE) {
		irq->pending &= ~VPT_IRQ_PMI_DUE;
		return irq->pmi_vector;
	}
	if (irq->pending & VPT_IRQ_TIMER_DUE) {
		irq->pending &= ~VPT_IRQ_TIMER_DUE;
		return irq->timer_vector;
	}
	return vpt_platform_ack(&v->vm->platform);
}

static bool can_take(const struct vpt_vcpu *v, enum vpt_event_source source)
{
	/* Other engines' guests are the core's in long mode only. */
	if (v->shadowed & VPT_VCPU_SHADOW || (!v->long_mode && !vpt_vcpu_counts(v)))
		return false;
	return source == VPT_SOURCE_NMI || (v->regs->rflags & VPT_FL_IF && maskable_pending(v));
}

bool vpt_irq_deliver(struct vpt_vcpu *v)
{
	enum vpt_event_source source = nmi_pending(v) ? VPT_SOURCE_NMI : VPT_SOURCE_EXTERNAL;
	struct vpt_event event = {.kind = VPT_EV_ASYNC, .from = v->regs->rip};
	struct vpt_exception e;
	bool arrived = v->pending & VPT_VCPU_ARRIVED;
	uint8_t cpl = v->cpl;

	if (!can_take(v, source))
		return false;
	if (v->hv && !vpt_hv_interrupt(v, source))
		return true;
	vpt_wait_end(v, VPT_WAKE_INTERRUPT);
	e = vpt_fault_plain(take(v, source));
	if (!vpt_deliver(v, &e, source, event.from)) {
		vpt_exec_shutdown(v, event.from);
		vpt_vm_stop(v->vm, VPT_STOP_TRIPLE_FAULT, "delivering an interrupt at %#llx",
			    (unsigned long long)event.from);
		return true;
	}
	v->pending |= VPT_VCPU_ARRIVED;
	event.to = v->regs->rip;
	event.vector = e.vector;
	vpt_tracer_event_at(&v->tracer, &event, cpl, arrived);
	return true;
}
