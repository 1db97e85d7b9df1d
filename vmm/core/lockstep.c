// SPDX-License-Identifier: GPL-2.0-or-later
/* Lockstep: two virtual machines, and the loop that steps and compares them. */
#include "core/fetch.h"
#include "core/lockstep.h"

#include <errno.h>
#include <string.h>

#include "trace/crc32c.h"

#define STEPS_PER_TICK 64u /* a step can take 0.2 ms, and signals need a prompt answer */

/*
 * State for step_or_not(). It is global, because an operation of an engine has no argument for it.
 */
static struct {
	const struct engine *second;
	/*
	 * The registers after a step that the second engine must not execute. NULL: it executes the
	 * step.
	 */
	const struct x86_regs *instead;
	const struct engine_exception *fault; /* the exception of that step instead, if not NULL */
} now;

static void step_or_not(struct engine_vcpu *ev, const struct engine_step_hint *hint,
			struct engine_exit *exit)
{
	if (!now.instead) {
		now.second->step(ev, hint, exit);
		return;
	}
	if (now.fault) {
		exit->kind = ENGINE_EXIT_FAULT;
		exit->fault = *now.fault;
		return;
	}
	*ev->regs = *now.instead;
	ev->state |= ENGINE_REGS_DIRTY;
	exit->kind = ENGINE_EXIT_NONE;
}

static void console(void *opaque, char c)
{
	struct core_lockstep_side *side = opaque;

	side->printed++;
	side->printed_crc = trace_crc32c(side->printed_crc, &c, 1);
	if (side->console)
		side->console(side->console_to, c);
}

/* Get the CPUID that an engine offers. It can be read only from a VM. */
static int supported(const struct engine *engine, const struct engine_probe *probe,
		     struct engine_cpuid_entry *entries, size_t *count)
{
	struct engine_vm *machine;
	int error = engine->vm_create(probe, &machine);

	if (error)
		return error;
	*count = CORE_CPUID_ROOM;
	error = engine->supported_cpuid(machine, entries, count);
	engine->vm_destroy(machine);
	return error;
}

static int common_cpuid(const struct core_lockstep_config *config,
			struct engine_cpuid_entry *entries, size_t *count)
{
	struct engine_cpuid_entry other[CORE_CPUID_ROOM];
	size_t other_count;
	int error = supported(config->engine[0], config->probe[0], entries, count);

	if (!error)
		error = supported(config->engine[1], config->probe[1], other, &other_count);
	if (!error)
		core_cpuid_common(entries, count, other, other_count);
	return error;
}

static int create_side(struct core_lockstep *l, unsigned int i,
		       const struct engine_cpuid_entry *cpuid, size_t count)
{
	const struct core_lockstep_config *config = &l->config;
	struct core_lockstep_side *side = &l->side[i];
	const struct core_vm_config vm = {
		.engine = config->engine[i],
		.probe = config->probe[i],
		.caps = config->caps,
		.owner = config->owner,
		.mem_bytes = config->mem_bytes,
		.hooks = {.console = console, .opaque = side},
		.cpuid = cpuid,
		.cpuid_count = count,
		.counted = true,
	};
	int error = core_vm_create(&side->vm, &vm);

	if (error)
		return error;
	side->console = i ? NULL : config->console;
	side->console_to = config->console_to;
	side->ops = *config->engine[i];
	if (i)
		side->ops.step = step_or_not;
	side->vm.vcpu->engine = &side->ops;
	side->vm.vcpu->way |= CORE_WAY_STEP_ALWAYS;
	return 0;
}

int core_lockstep_create(struct core_lockstep *l, const struct core_lockstep_config *config)
{
	struct engine_cpuid_entry cpuid[CORE_CPUID_ROOM];
	size_t count;
	int error;

	memset(l, 0, sizeof(*l));
	l->config = *config;
	error = common_cpuid(config, cpuid, &count);
	if (!error)
		error = create_side(l, 0, cpuid, count);
	if (error)
		return error;
	error = create_side(l, 1, cpuid, count);
	if (error)
		core_vm_destroy(&l->side[0].vm);
	return error;
}

void core_lockstep_destroy(struct core_lockstep *l)
{
	core_vm_destroy(&l->side[0].vm);
	core_vm_destroy(&l->side[1].vm);
}

static bool is_unable(const struct core_vm *vm)
{
	switch (vm->stop.kind) {
	case TRACE_STOP_UNABLE:
	case TRACE_STOP_UNTRACEABLE:
	case TRACE_STOP_UNEXPLAINED:
	case TRACE_STOP_HOST:
		return true;
	default:
		return false;
	}
}

/*
 * Step @a once more if @b has stepped two instructions. Some hosts do this if the first one loads
 * SS.
 */
static void catch_up(struct core_vcpu *a, struct core_vcpu *b)
{
	if (a->retired < b->retired && a->deliveries == b->deliveries && !a->vm->stop.kind)
		core_vcpu_step(a);
}

/* Fetch the next instruction on both sides, because a fetch sets accessed bits. */
static void inspect(struct core_lockstep *l, struct core_fetched *f,
		    struct core_lockstep_step *step)
{
	struct core_vcpu *a = l->side[0].vm.vcpu, *b = l->side[1].vm.vcpu;
	struct core_fetched unused;

	core_fetch(b, b->regs->rip, &unused);
	core_fetch(a, a->regs->rip, f);
	*step = (struct core_lockstep_step){
		.insns = a->retired,
		.ip = a->regs->rip,
		.bytes = f->bytes,
		.bits = a->bits,
		.cpl = a->cpl,
		.len = f->insn ? f->insn->len : 0,
	};
}

static void override(struct core_lockstep *l, const struct core_lockstep_override *row,
		     const struct core_lockstep_step *step, uint64_t deliveries)
{
	struct core_vcpu *a = l->side[0].vm.vcpu, *b = l->side[1].vm.vcpu;
	bool done = false;
	size_t count;

	if (a->deliveries == deliveries && b->deliveries == deliveries)
		done = core_lockstep_override(row, &step->bytes, step->bits, a->regs, b->regs);
	else if (a->deliveries == b->deliveries)
		done = core_lockstep_override_fault(row, a, b);
	if (!done)
		return;
	b->ev->state |= ENGINE_REGS_DIRTY;
	l->overridden[row - core_lockstep_overrides(&count)]++;
}

/*
 * Step both sides by one instruction or one delivery of an interrupt. Returns true if the
 * instruction can change MSRs or debug registers.
 */
static bool step(struct core_lockstep *l)
{
	struct core_vcpu *a = l->side[0].vm.vcpu, *b = l->side[1].vm.vcpu;
	struct core_lockstep_step *this = &l->history[l->steps++ % CORE_LOCKSTEP_HISTORY];
	const struct core_lockstep_override *row = NULL;
	uint64_t deliveries = a->deliveries;
	struct core_fetched f;
	bool system;

	inspect(l, &f, this);
	system = !f.insn || f.insn->flags & (CORE_INSN_SYSTEM | CORE_INSN_DEBUG_REGS) ||
		 f.insn->cls == CORE_INSN_WRMSR;
	if (f.insn)
		row = core_lockstep_override_for(&this->bytes, this->bits, a->regs);
	now.second = l->config.engine[1];
	core_vcpu_step(a);
	now.instead = row && core_lockstep_instead(row) ? a->regs : NULL;
	now.fault = a->deliveries != deliveries ? &a->delivered : NULL;
	core_vcpu_step(b);
	catch_up(a, b);
	catch_up(b, a);
	a->ev->retired = a->retired;
	b->ev->retired = b->retired;
	if (row)
		override(l, row, this, deliveries);
	return system;
}

static void compare(struct core_lockstep *l, bool most, bool all)
{
	core_lockstep_capture(&l->side[0], most, &l->state[0]);
	core_lockstep_capture(&l->side[1], most, &l->state[1]);
	if (all)
		l->memory_differs =
			core_lockstep_memory(&l->side[0].vm.mem, &l->side[1].vm.mem, &l->gpa);
	if (l->memory_differs || !core_lockstep_equal(&l->state[0], &l->state[1]))
		l->end = CORE_LOCKSTEP_DIVERGED;
	else if (all)
		l->all_good = l->steps;
}

/* Compare everything, because the run ends here. */
static void finish(struct core_lockstep *l)
{
	compare(l, true, true);
	if (!l->end)
		l->end = CORE_LOCKSTEP_DONE;
}

/*
 * Stop for data breakpoints on a KVM side. KVM does not check them for instructions that it
 * emulates.
 */
static void check_breakpoints(struct core_lockstep_side *side)
{
	struct core_vcpu *v = side->vm.vcpu;
	uint64_t dr7 = 0;
	unsigned int n;

	if (v->engine->can & ENGINE_DEBUG || !(v->way & CORE_WAY_BREAKPOINTS) ||
	    v->engine->get_dr(v->ev, 7, &dr7))
		return;
	for (n = 0; n < 4; n++)
		if (dr7 >> (2 * n) & 3 && dr7 >> (16 + 4 * n) & 1)
			core_vm_stop(&side->vm, TRACE_STOP_UNTRACEABLE,
				     "breakpoints on data, DR7 %#llx, set before %#llx",
				     (unsigned long long)dr7, (unsigned long long)v->regs->rip);
}

static bool is_over(struct core_lockstep *l)
{
	const struct core_lockstep_config *c = &l->config;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		check_breakpoints(&l->side[i]);
		if (!is_unable(&l->side[i].vm))
			continue;
		l->end = CORE_LOCKSTEP_UNABLE;
		l->unable = i;
		return true;
	}
	if (l->side[0].vm.stop.kind || l->side[1].vm.stop.kind) {
		finish(l);
		return true;
	}
	if ((c->max_insns && l->side[0].vm.vcpu->retired >= c->max_insns) ||
	    (c->tick && l->steps % STEPS_PER_TICK == 0 && c->tick(l))) {
		finish(l);
		if (l->end == CORE_LOCKSTEP_DONE)
			l->end = CORE_LOCKSTEP_LIMIT;
	}
	return l->end;
}

void core_lockstep_run(struct core_lockstep *l)
{
	const struct core_lockstep_config *c = &l->config;

	compare(l, true, true);
	while (!l->end) {
		bool system = step(l), all;

		if (is_over(l))
			return;
		all = l->steps % c->every_all == 0 || l->steps > c->exact_from;
		if (all || l->steps % c->every == 0)
			compare(l, system || all, all);
	}
}
