// SPDX-License-Identifier: GPL-2.0-or-later
/* Creation of a vCPU, and its view of the system state. */
#include "core/clock.h"
#include "core/hv.h"
#include "core/irq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void derive(struct core_vcpu *v)
{
	/* The CPL is SS.DPL, because the DPL of conforming code can differ from it. */
	uint8_t cpl = v->s.cr0 & X86_CR0_PE ? x86_segment_dpl(&v->s.ss) : 0;

	if (cpl != v->cpl)
		core_perfmon_advance(v);
	v->cpl = cpl;
	if (core_vcpu_long_mode(v) && v->s.cs.ar & X86_AR_L)
		v->bits = 64;
	else
		v->bits = v->s.cs.ar & X86_AR_DB ? 32 : 16;
	v->paging = (struct x86_paging){
		.cr0 = v->s.cr0,
		.cr3 = v->s.cr3,
		.cr4 = v->s.cr4,
		.efer = v->s.efer,
		.cpl = v->cpl,
		.max_phy_addr = v->vm->caps.max_phy_addr,
	};
}

void core_vcpu_load(struct core_vcpu *v)
{
	(void)v->engine->get_sregs(v->ev, &v->s);
	derive(v);
}

void core_vcpu_store(struct core_vcpu *v)
{
	(void)v->engine->set_sregs(v->ev, &v->s);
	v->ev->state |= ENGINE_REGS_DIRTY;
	derive(v);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	struct core_vcpu *v = opaque;

	struct vpt_clock now;
	uint64_t tsc;

	core_clock_now(v, &now, &tsc);
	*ctx = (struct vpt_context){
		.cr3 = v->s.cr3,
		.tsc = tsc,
		.cs_base = v->bits == 64 ? 0 : v->s.cs.base,
		.cpl = v->cpl,
		.cbr = core_clock_cbr(v),
		.paging = v->s.cr0 & X86_CR0_PG,
		.cs_l = !!(v->s.cs.ar & X86_AR_L),
		.cs_d = !!(v->s.cs.ar & X86_AR_DB),
		.lma = core_vcpu_long_mode(v),
		.wait_for_sipi = v->pending & CORE_VCPU_WAIT_SIPI,
		.pae = v->s.cr0 & X86_CR0_PG && v->s.cr4 & X86_CR4_PAE && !core_vcpu_long_mode(v),
		.intr_flag = v->regs->rflags & X86_FL_IF,
	};
	if (v->hv)
		core_hv_adjust(v, ctx);
}

static void clock_now(void *opaque, struct vpt_clock *now)
{
	uint64_t tsc;

	core_clock_now(opaque, now, &tsc);
}

/* The run() of an engine that reports to an observer also keeps the due times of its gate. */
static bool keeps_due(void *opaque, bool whole)
{
	const struct core_vcpu *v = opaque;
	const struct engine_time *time = &v->ev->time;

	return v->engine->can & ENGINE_REPORTS && !(v->way & CORE_WAY_STEP_ALWAYS) &&
	       (!whole || !time->clocks || time->ticks % time->clocks == 0);
}

/* Raise the PMI of a full ToPA region with INT set (33.2.7.2). */
static void pmi(void *opaque)
{
	struct core_vcpu *v = opaque;

	core_irq_pmi(v);
	v->ev->state |= ENGINE_ATTENTION;
}

/* Report PT's output to the engine, because the guest may direct it to its own code. */
static void wrote(void *opaque, uint64_t gpa, uint64_t len)
{
	struct core_vcpu *v = opaque;

	if (v->engine->vm_wrote)
		v->engine->vm_wrote(v->vm->machine, gpa, len);
}

static int init_tracer(struct core_vcpu *v, struct trace_writer *writer, uint32_t oracle,
		       const struct vpt_caps *caps)
{
	const struct tracer_config config = {
		.system = v->vm->system,
		.caps = caps,
		.owner = v->vm->owner,
		.mem = &v->vm->mem,
		.writer = writer,
		.vcpu = v->index,
		.flags = oracle | (core_vcpu_counts(v) ? TRACER_CONFIG_CALLER_SYNCS : 0) |
			 (v->vm->vmx ? TRACER_CONFIG_VMX : 0),
		.urged = &v->urged,
		.engine = v->engine,
		.ev = v->ev,
		.context = context,
		.clock = clock_now,
		.keeps_due = keeps_due,
		.pmi = pmi,
		.wrote = wrote,
		.opaque = v,
	};

	return tracer_init(&v->tracer, &config);
}

int core_vcpu_make(struct core_vcpu *v, const struct engine *engine, struct engine_vm *machine,
		   struct engine_vcpu **ev)
{
	const struct vpt_caps *caps = &v->vm->caps;
	int error = engine->vcpu_create(machine, v->index, v->vm->cpuid, v->vm->cpuid_count, ev);

	if (error)
		return error;
	core_put_bit(&(*ev)->state, ENGINE_PTWRITE, vpt_caps_has(caps, VPT_CAP_PTWRITE));
	core_clock_init(&(*ev)->time, caps);
	return 0;
}

int core_vcpu_create(struct core_vm *vm, unsigned int index, struct core_vcpu **out)
{
	struct core_vcpu *v = calloc(1, sizeof(*v));
	int error;

	if (!v)
		return -ENOMEM;
	v->vm = vm;
	v->index = index;
	v->engine = vm->engine;
	v->way |= CORE_WAY_UNTRACED;
	v->pause_at = v->visit_at = v->turn_end = UINT64_MAX;
	/* The host's local APIC has this state itself. */
	core_put_bit(&v->pending, CORE_VCPU_WAIT_SIPI, index && !vm->apic.host);
	v->input.at = UINT64_MAX;
	v->insns = core_insn_cache_create();
	error = v->insns ? 0 : -ENOMEM;
	if (!error)
		error = core_vcpu_make(v, vm->engine, vm->machine, &v->ev);
	if (!error)
		error = init_tracer(v, NULL, false, &vm->caps);
	if (error) {
		core_vcpu_destroy(v);
		return error;
	}
	v->regs = v->ev->regs;
	core_perfmon_init(&v->perfmon);
	core_vcpu_load(v);
	*out = v;
	return 0;
}

void core_vcpu_destroy(struct core_vcpu *v)
{
	if (!v)
		return;
	core_hv_destroy(v);
	tracer_free(&v->tracer);
	if (v->ev)
		v->engine->vcpu_destroy(v->ev);
	core_insn_cache_destroy(v->insns);
	free(v);
}

int core_vcpu_record(struct core_vcpu *v, struct trace_writer *writer, uint32_t oracle,
		     const struct vpt_caps *tracer_caps)
{
	tracer_free(&v->tracer);
	return init_tracer(v, writer, oracle, tracer_caps);
}

void core_vcpu_ask(struct core_vcpu *v)
{
	v->pending |= CORE_VCPU_ASKED;
	v->ev->state |= ENGINE_ATTENTION;
}

void core_vcpu_pause(struct core_vcpu *v)
{
	const uint64_t others = core_vm_retired(v->vm) - v->ev->retired, at = v->vm->pause_at;

	v->pause_at = at == UINT64_MAX ? at : at - others;
}

int core_vcpu_watch(struct core_vcpu *v, const uint64_t *ips, size_t count)
{
	int error;

	if (count > CORE_MAX_WATCHES) {
		v->way |= CORE_WAY_STEP_ALWAYS;
		return 0;
	}
	error = v->engine->watch(v->ev, ips, count);
	if (error == -E2BIG) {
		v->way |= CORE_WAY_STEP_ALWAYS;
		return 0;
	}
	memcpy(v->watch, ips, count * sizeof(*ips));
	v->watches = count;
	return error;
}

int core_vcpu_watch_data(struct core_vcpu *v, const struct engine_data_watch *watches,
			 uint32_t count)
{
	if (!v->engine->watch_data)
		return -ENOTSUP;
	v->data = watches;
	v->datas = count;
	v->engine->watch_data(v->ev, watches, count);
	return 0;
}
