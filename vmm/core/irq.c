// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts of the devices and of the two sources of abi/boot.h. The timer counts instructions
 * while they are counted. Otherwise it runs on the host's clock at a nominal rate.
 */
#include "core/apic.h"
#include "core/clock.h"
#include "core/deliver.h"
#include "core/devices.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/threads.h"
#include "core/wait.h"

#include <time.h>

#define NS_PER_INSN 500u
/* The longest wait of a HLT for the host's clock before the state is checked again. */
#define NAP_NS 10000000u
#define NEVER  UINT64_MAX

uint64_t core_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void core_irq_set_timer(struct core_vcpu *v, uint32_t value)
{
	struct core_irq *irq = &v->irq;
	uint32_t n = value & 0xffffff;

	irq->pending &= ~CORE_IRQ_TIMER_DUE;
	core_put_bit(&irq->pending, CORE_IRQ_TIMER_ARMED, n);
	irq->timer_vector = (uint8_t)(value >> 24);
	/* The OUT itself retires later, and is not one of the n instructions. */
	irq->timer_at = v->ev->retired + n + 1;
	irq->timer_left = v->way & CORE_WAY_UNTRACED ? n : n + 1;
	irq->timer_set = core_now();
	v->pending &= ~CORE_VCPU_KICK_ARMED;
	v->ev->state |= ENGINE_ATTENTION;
}

static void due(struct core_irq *irq)
{
	irq->pending &= ~CORE_IRQ_TIMER_ARMED;
	irq->pending |= CORE_IRQ_TIMER_DUE;
}

/* [PMI-LVT] */
void core_irq_pmi(struct core_vcpu *v)
{
	core_perfmon_topa(v);
	v->irq.pending |= CORE_IRQ_PMI_RAISED;
	core_put_bit(&v->irq.pending, CORE_IRQ_PMI_DUE, v->irq.pmi_vector);
	if (!v->irq.pmi_vector)
		dev_platform_pmi(&v->vm->platform, v->index);
	v->ev->state |= ENGINE_ATTENTION;
}

void core_irq_retired(struct core_vcpu *v)
{
	if (vpt_likely(!(v->irq.pending & CORE_IRQ_TIMER_ARMED)) || v->way & CORE_WAY_UNTRACED ||
	    core_vcpu_counts(v))
		return;
	if (!--v->irq.timer_left)
		due(&v->irq);
}

void core_irq_poll(struct core_vcpu *v)
{
	struct core_irq *irq = &v->irq;

	core_devices_advance(v);
	if (!(irq->pending & CORE_IRQ_TIMER_ARMED) || !(v->way & CORE_WAY_UNTRACED) ||
	    core_vcpu_counts(v))
		return;
	if (v->pending & CORE_VCPU_HALTED ||
	    core_now() - irq->timer_set >= (uint64_t)irq->timer_left * NS_PER_INSN)
		due(irq);
}

uint64_t core_irq_wait(const struct core_vcpu *v, uint64_t most)
{
	uint64_t wait = (uint64_t)v->irq.timer_left * NS_PER_INSN;
	uint64_t passed = core_now() - v->irq.timer_set, next = core_devices_next(v);

	if (next < most)
		most = next ? next : 1;
	if (!(v->irq.pending & CORE_IRQ_TIMER_ARMED))
		return most;
	wait = wait > passed ? wait - passed : 1;
	return wait < most ? wait : most;
}

void core_irq_enter_untraced(struct core_vcpu *v)
{
	v->way |= CORE_WAY_UNTRACED;
	v->pending &= ~CORE_VCPU_KICK_ARMED;
	v->irq.timer_set = core_now();
}

void core_irq_leave_untraced(struct core_vcpu *v)
{
	uint64_t passed = (core_now() - v->irq.timer_set) / NS_PER_INSN;

	v->way &= ~CORE_WAY_UNTRACED;
	core_clock_hold(v);
	if (v->irq.pending & CORE_IRQ_TIMER_ARMED)
		v->irq.timer_left =
			passed < v->irq.timer_left ? v->irq.timer_left - (uint32_t)passed : 1;
}

void core_irq_advance(struct core_vcpu *v)
{
	if (v->irq.pending & CORE_IRQ_TIMER_ARMED && core_vcpu_counts(v) &&
	    v->ev->retired >= v->irq.timer_at)
		due(&v->irq);
	core_perfmon_advance(v);
	core_devices_advance(v);
}

static uint64_t timer_next(const struct core_vcpu *v)
{
	if (!(v->irq.pending & CORE_IRQ_TIMER_ARMED) || !core_vcpu_counts(v))
		return NEVER;
	return v->irq.timer_at > v->ev->retired ? v->irq.timer_at - v->ev->retired : 0;
}

static bool nmi_pending(const struct core_vcpu *v)
{
	return !(v->shadowed & CORE_VCPU_NMI_BLOCKED) &&
	       dev_platform_nmi(&v->vm->platform, v->index);
}

bool core_irq_in_nmi(const struct core_vcpu *v)
{
	return v->shadowed & CORE_VCPU_NMI_BLOCKED || nmi_pending(v);
}

uint64_t core_irq_next(const struct core_vcpu *v)
{
	uint64_t timer = timer_next(v), devices = core_devices_next(v);
	uint64_t counter = core_perfmon_next(v);

	/* Only an interrupt shadow delays an NMI, not RFLAGS.IF. */
	if (nmi_pending(v))
		return 1;
	if (counter < devices)
		devices = counter;
	return timer < devices ? timer : devices;
}

uint64_t core_irq_wakeup(const struct core_vcpu *v)
{
	const uint64_t timer = timer_next(v), devices = core_devices_next(v);

	return timer < devices ? timer : devices;
}

static void nap(struct core_vcpu *v, uint64_t ns)
{
	struct timespec t = {.tv_nsec = (long)(ns < NAP_NS ? ns : NAP_NS)};
	uint64_t began = core_now();

	if (core_threads_used(v))
		core_threads_wait(v, ns);
	else
		nanosleep(&t, NULL);
	core_clock_slept(v, core_now() - began);
}

void core_irq_skip_to_next(struct core_vcpu *v)
{
	uint64_t timer = timer_next(v), devices = core_devices_next(v);

	if (!core_vcpu_counts(v) && v->irq.pending & CORE_IRQ_TIMER_ARMED) {
		engine_time_idle(&v->ev->time, v->ev->retired, v->irq.timer_left);
		due(&v->irq);
	} else if (!core_vcpu_counts(v)) {
		nap(v, devices);
		core_devices_advance(v);
	} else if (timer <= devices && timer != NEVER) {
		due(&v->irq);
		core_devices_idle(v, timer);
	} else if (devices != NEVER) {
		core_devices_idle(v, devices);
	}
}

static bool maskable_pending(const struct core_vcpu *v)
{
	return v->irq.pending & CORE_IRQ_TIMER_DUE || v->irq.pending & CORE_IRQ_PMI_DUE ||
	       dev_platform_pending(&v->vm->platform, v->index);
}

bool core_irq_pending(const struct core_vcpu *v)
{
	return maskable_pending(v) || nmi_pending(v);
}

uint8_t core_irq_take(struct core_vcpu *v)
{
	struct core_irq *irq = &v->irq;

	if (irq->pending & CORE_IRQ_PMI_DUE) {
		irq->pending &= ~CORE_IRQ_PMI_DUE;
		return irq->pmi_vector;
	}
	if (irq->pending & CORE_IRQ_TIMER_DUE) {
		irq->pending &= ~CORE_IRQ_TIMER_DUE;
		return irq->timer_vector;
	}
	return dev_platform_ack(&v->vm->platform, v->index);
}

/* Acknowledge the pending event, and return its vector. */
static uint8_t take(struct core_vcpu *v, enum core_event_source source)
{
	if (source != CORE_SOURCE_NMI)
		return core_irq_take(v);
	dev_platform_ack_nmi(&v->vm->platform, v->index);
	return X86_VEC_NMI;
}

static bool can_take(const struct core_vcpu *v, enum core_event_source source)
{
	if (source == CORE_SOURCE_NMI && v->engine->nmi)
		return true;
	/* The core delivers to a KVM guest only in long mode. */
	if (v->shadowed & CORE_VCPU_SHADOW || (!core_vcpu_long_mode(v) && !core_vcpu_counts(v)))
		return false;
	return source == CORE_SOURCE_NMI || (v->regs->rflags & X86_FL_IF && maskable_pending(v));
}

bool core_irq_can_deliver(const struct core_vcpu *v)
{
	return can_take(v, nmi_pending(v) ? CORE_SOURCE_NMI : CORE_SOURCE_EXTERNAL);
}

bool core_irq_pass_nmi(struct core_vcpu *v)
{
	if (!v->engine->nmi || !nmi_pending(v))
		return false;
	core_wait_end(v, VPT_WAKE_INTERRUPT);
	dev_platform_ack_nmi(&v->vm->platform, v->index);
	if (v->engine->nmi(v->ev))
		core_vm_stop(v->vm, TRACE_STOP_HOST, "KVM refuses an NMI");
	return true;
}

bool core_irq_deliver(struct core_vcpu *v)
{
	enum core_event_source source = nmi_pending(v) ? CORE_SOURCE_NMI : CORE_SOURCE_EXTERNAL;
	struct vpt_event event = {.kind = VPT_EV_ASYNC, .from = v->regs->rip};
	struct engine_exception e;
	bool arrived = v->pending & CORE_VCPU_ARRIVED;
	uint8_t cpl = v->cpl;

	if (v->vm->apic.host)
		return core_apic_inject(v);
	if (core_irq_pass_nmi(v))
		return true;
	if (!can_take(v, source))
		return false;
	if (v->hv && !core_hv_interrupt(v, source))
		return true;
	core_wait_end(v, VPT_WAKE_INTERRUPT);
	e = core_fault_plain(take(v, source));
	if (!core_deliver(v, &e, source, event.from)) {
		core_exec_shutdown(v, event.from);
		core_vm_stop(v->vm, TRACE_STOP_TRIPLE_FAULT, "delivering an interrupt at %#llx",
			     (unsigned long long)event.from);
		return true;
	}
	v->pending |= CORE_VCPU_ARRIVED;
	event.to = v->regs->rip;
	event.vector = e.vector;
	core_clock_send(v, event.from);
	tracer_event_at(&v->tracer, &event, cpl, arrived);
	return true;
}
