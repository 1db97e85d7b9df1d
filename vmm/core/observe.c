// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The observer of an engine with ENGINE_REPORTS, which passes the engine's reports to the tracer.
 * The tracer receives the same reports as from exec.c for single steps.
 */
#include "core/exec.h"
#include "core/vcpu.h"
#include "pt/code_pages.h"

/* A gate that is never open, so that the engine reports each branch. */
static struct vpt_gate closed;

/* Returns the reports that the oracle and the trace unit need. */
static uint32_t wants(const struct core_vcpu *v)
{
	const uint32_t state = v->tracer.unit.gate->state;
	const uint32_t oracle = v->tracer.config.flags;
	const bool blocks = v->tracer.recorder.wants & TRACER_RECORDER_WORDS;
	const bool every = (oracle & TRACER_CONFIG_ORACLE && !blocks) || state & VPT_GATE_EACH_INSN;

	return ENGINE_WANTS_CODE |
	       (every	 ? ENGINE_WANTS_INSNS
		: blocks ? ENGINE_WANTS_LOG
			 : 0) |
	       (state & VPT_GATE_INTR_FLAG ? ENGINE_WANTS_INTR_FLAG : 0);
}

/*
 * Update the gate after an event that may have started or ended a trace. A change of `wants` ends
 * run(), because `wants` is constant during run().
 */
static void aim(struct core_vcpu *v)
{
	const bool every = v->observer.wants & ENGINE_WANTS_INSNS;

	v->observer.gate = tracer_on(&v->tracer) ? every ? &closed : v->tracer.unit.gate : NULL;
	if (v->observer.wants != wants(v) || tracer_is_full(&v->tracer))
		v->ev->state |= ENGINE_ATTENTION;
}

/* Complete the report of one instruction with what only the core knows. */
static void complete(struct core_vcpu *v, struct engine_report *r)
{
	const uint8_t kind = r->event.kind;

	r->cpl = v->cpl;
	r->about = (uint16_t)((v->pending & CORE_VCPU_ARRIVED ? TRACE_ORACLE_ARRIVED : 0) |
			      (kind == VPT_EV_COND ? TRACE_ORACLE_COND : 0));
	core_put_bit(&v->pending, CORE_VCPU_ARRIVED,
		     kind == VPT_EV_COND ? r->event.flags & VPT_EVF_TAKEN : kind < VPT_EV_FAR);
}

static void report(void *opaque, struct engine_report *r)
{
	struct core_vcpu *v = opaque;

	if (r->flags & ENGINE_REPORT_INSN)
		complete(v, r);
	tracer_report(&v->tracer, r);
	if (r->event.kind == VPT_EV_COUNT)
		return;
	if (r->event.kind != VPT_EV_INSN)
		aim(v);
	else if (vpt_unlikely(tracer_recorder_at_limit(&v->tracer.recorder)))
		tracer_limit(&v->tracer, r->next);
}

/* The recorder's tables of code are bounded. */
static void check_forgotten(struct core_vcpu *v)
{
	struct tracer_code_pages *pages = v->tracer.recorder.pages;

	if (pages && vpt_unlikely(tracer_code_pages_forgot(pages)))
		v->ev->state |= ENGINE_CODE_AGAIN;
}

static void code(void *opaque, uint64_t lin, unsigned int len, uint64_t gpa, uint64_t gpa2)
{
	struct core_vcpu *v = opaque;

	tracer_code(&v->tracer, v->s.cr3, lin, len, gpa, gpa2);
	check_forgotten(v);
	if (vpt_unlikely(tracer_recorder_at_limit(&v->tracer.recorder))) {
		tracer_limit(&v->tracer, v->regs->rip);
		aim(v);
	}
}

static uint32_t stretch(void *opaque, const struct engine_stretch *s)
{
	struct core_vcpu *v = opaque;

	return tracer_recorder_log_stretch(&v->tracer.recorder, s, *v->tracer.unit.ip_base);
}

static void flush(void *opaque)
{
	struct core_vcpu *v = opaque;

	tracer_recorder_log_flush(&v->tracer.recorder);
}

void core_observe(struct core_vcpu *v)
{
	v->observer = (struct engine_observer){
		.wants = wants(v),
		.report = report,
		.code = code,
		.log = &v->tracer.recorder.log,
		.stretch = stretch,
		.flush = flush,
		.opaque = v,
	};
	aim(v);
	core_put_bit(&v->ev->state, ENGINE_CORE_RDTSC, tracer_needs_time(&v->tracer));
	check_forgotten(v);
	v->ev->observer = &v->observer;
}
