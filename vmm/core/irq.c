// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two interrupt sources of abi/boot.h. While instructions are stepped the
 * timer counts them; else it runs on the host's clock at a nominal rate.
 */
#include "core/vcpu.h"

#include <time.h>

#define NS_PER_INSN 500u

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

	irq->timer_due = false;
	irq->timer_armed = n;
	irq->timer_vector = (uint8_t)(value >> 24);
	/* The OUT itself retires after this and is not one of the n. */
	irq->timer_left = v->untraced ? n : n + 1;
	irq->timer_set = vpt_now();
	v->kick_armed = false;
}

static void due(struct vpt_irq *irq)
{
	irq->timer_armed = false;
	irq->timer_due = true;
}

void vpt_irq_retired(struct vpt_vcpu *v)
{
	if (vpt_likely(!v->irq.timer_armed) || v->untraced)
		return;
	if (!--v->irq.timer_left)
		due(&v->irq);
}

void vpt_irq_poll(struct vpt_vcpu *v)
{
	struct vpt_irq *irq = &v->irq;

	if (!irq->timer_armed || !v->untraced)
		return;
	if (v->halted || vpt_now() - irq->timer_set >= (uint64_t)irq->timer_left * NS_PER_INSN)
		due(irq);
}

uint64_t vpt_irq_wait(const struct vpt_vcpu *v, uint64_t most)
{
	uint64_t wait = (uint64_t)v->irq.timer_left * NS_PER_INSN;
	uint64_t passed = vpt_now() - v->irq.timer_set;

	if (!v->irq.timer_armed)
		return most;
	wait = wait > passed ? wait - passed : 1;
	return wait < most ? wait : most;
}

void vpt_irq_enter_untraced(struct vpt_vcpu *v)
{
	v->untraced = true;
	v->kick_armed = false;
	v->irq.timer_set = vpt_now();
}

void vpt_irq_leave_untraced(struct vpt_vcpu *v)
{
	uint64_t passed = (vpt_now() - v->irq.timer_set) / NS_PER_INSN;

	v->untraced = false;
	if (v->irq.timer_armed)
		v->irq.timer_left =
			passed < v->irq.timer_left ? v->irq.timer_left - (uint32_t)passed : 1;
}

bool vpt_irq_pending(const struct vpt_vcpu *v)
{
	return v->irq.timer_due || v->irq.pmi_due;
}

bool vpt_irq_deliver(struct vpt_vcpu *v)
{
	struct vpt_irq *irq = &v->irq;
	struct vpt_event event = {.kind = VPT_EV_ASYNC, .from = v->regs->rip};
	struct vpt_exception e;
	uint8_t cpl = v->cpl;

	if (!vpt_irq_pending(v) || v->shadow || !(v->regs->rflags & VPT_FL_IF) || !v->long_mode)
		return false;
	e = vpt_fault_plain(irq->pmi_due ? irq->pmi_vector : irq->timer_vector);
	if (irq->pmi_due)
		irq->pmi_due = false;
	else
		irq->timer_due = false;
	v->halted = false;
	if (!vpt_deliver(v, &e, VPT_SOURCE_EXTERNAL, event.from)) {
		vpt_vm_stop(v->vm, VPT_STOP_TRIPLE_FAULT, "delivering an interrupt at %#llx",
			    (unsigned long long)event.from);
		return true;
	}
	v->arrived = true;
	event.to = v->regs->rip;
	event.vector = e.vector;
	vpt_tracer_event(&v->tracer, &event, cpl);
	return true;
}
