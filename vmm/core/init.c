// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * INIT and start-up IPIs. INIT keeps x87, SSE and most MSRs; the core sets the rest of the state
 * itself, because the engine's load() would also reset those.
 */
#include "core/init.h"
#include "core/vcpu.h"
#include "core/wait.h"

#include <string.h>

#define CR0_INIT (1ull << 4)
#define CR0_KEPT (3ull << 29) /* CD and NW */
#define DR6_INIT 0xffff0ff0ull
#define DR7_INIT 0x400ull
#define LIMIT	 0xffffu

bool core_init_pending(const struct core_vcpu *v)
{
	const struct dev_platform *p = &v->vm->platform;

	if (dev_platform_has_init(p, v->index))
		return true;
	return v->pending & CORE_VCPU_WAIT_SIPI && dev_platform_has_startup(p, v->index);
}

static void reset_system(struct core_vcpu *v)
{
	const struct x86_segment data = {.limit = LIMIT, .ar = X86_AR_DATA};
	struct x86_sregs *s = &v->s;

	s->ds = s->es = s->fs = s->gs = s->ss = s->cs = data;
	s->cs.ar = X86_AR_CODE;
	s->cs.selector = 0xf000;
	s->cs.base = 0xffff0000;
	s->ldt = (struct x86_segment){.limit = LIMIT, .ar = X86_AR_P | 2};
	s->tr = (struct x86_segment){.limit = LIMIT, .ar = X86_AR_TSS};
	s->gdt = s->idt = (struct x86_table){.limit = LIMIT};
	s->cr0 = (s->cr0 & CR0_KEPT) | CR0_INIT;
	s->cr2 = s->cr3 = s->cr4 = s->efer = 0;
	core_vcpu_store(v);
}

static void reset_registers(struct core_vcpu *v)
{
	unsigned int n;

	memset(v->regs, 0, sizeof(*v->regs));
	v->regs->rdx = v->vm->caps.signature;
	v->regs->rflags = X86_FL_FIXED;
	v->regs->rip = 0xfff0;
	v->ev->state |= ENGINE_REGS_DIRTY;
	v->ev->state &= ~(uint32_t)ENGINE_SHADOW;
	if (v->engine->drop_events)
		(void)v->engine->drop_events(v->ev);
	for (n = 0; n < 4; n++)
		(void)v->engine->set_dr(v->ev, n, 0);
	(void)v->engine->set_dr(v->ev, 6, DR6_INIT);
	(void)v->engine->set_dr(v->ev, 7, DR7_INIT);
}

/* [SYS-INIT-WAIT] An INIT changes a processor that already waits no further. */
static void init(struct core_vcpu *v)
{
	const struct vpt_event event = {
		.kind = VPT_EV_INIT,
		.flags = VPT_EVF_WAIT | (v->s.cr3 ? VPT_EVF_CR3 : 0),
		.from = v->regs->rip,
	};
	const uint8_t cpl = v->cpl;

	dev_lapic_reset(&v->vm->platform.lapic[v->index]);
	if (v->pending & CORE_VCPU_WAIT_SIPI)
		return;
	core_wait_end(v, VPT_WAKE_INTERRUPT);
	reset_registers(v);
	reset_system(v);
	v->shadowed = 0;
	v->debug_pending = 0;
	v->wait.flags = 0;
	v->pending &= ~(uint32_t)CORE_VCPU_PENDING_SAVED;
	v->pending |= CORE_VCPU_WAIT_SIPI;
	tracer_event(&v->tracer, &event, cpl);
}

static void start(struct core_vcpu *v, uint8_t vector)
{
	const struct vpt_event event = {.kind = VPT_EV_SIPI, .to = 0, .vector = vector};

	v->s.cs.selector = (uint16_t)(vector << 8);
	v->s.cs.base = (uint64_t)vector << 12;
	v->regs->rip = 0;
	core_vcpu_store(v);
	v->pending &= ~(uint32_t)CORE_VCPU_WAIT_SIPI;
	v->pending |= CORE_VCPU_ARRIVED;
	tracer_event(&v->tracer, &event, v->cpl);
}

bool core_init_poll(struct core_vcpu *v)
{
	struct dev_platform *p = &v->vm->platform;
	uint8_t vector;

	if (dev_platform_take_init(p, v->index))
		init(v);
	/* A running processor ignores a start-up IPI. */
	if (dev_platform_take_startup(p, v->index, &vector) && v->pending & CORE_VCPU_WAIT_SIPI)
		start(v, vector);
	return !(v->pending & CORE_VCPU_WAIT_SIPI);
}
