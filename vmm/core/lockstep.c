// SPDX-License-Identifier: GPL-2.0-or-later
/* Lockstep: two virtual machines, and the loop that steps and compares them. */
#include "core/lockstep.h"

#include <errno.h>
#include <string.h>

#include "trace/crc32c.h"

#define STEPS_PER_TICK 4096u

/*
 * The time that PT of both sees: the first engine's, as it was when the step began.
 * An engine's operation knows nothing of who calls it, so it is here.
 */
static uint64_t time_of_step;

static uint64_t common_tsc(struct vpt_engine_vcpu *ev)
{
	(void)ev;
	return time_of_step;
}

static void console(void *opaque, char c)
{
	struct vpt_lockstep_side *side = opaque;

	side->printed++;
	side->printed_crc = vpt_crc32c(side->printed_crc, &c, 1);
	if (side->console)
		putc(c, side->console);
}

/* What an engine would give; it can be asked only when there is a VM. */
static int supported(const struct vpt_engine *engine, const struct vpt_probe *probe,
		     struct vpt_cpuid_entry *entries, size_t *count)
{
	struct vpt_engine_vm *machine;
	int error = engine->vm_create(probe, &machine);

	if (error)
		return error;
	*count = VPT_CPUID_ROOM;
	error = engine->supported_cpuid(machine, entries, count);
	engine->vm_destroy(machine);
	return error;
}

static int common_cpuid(const struct vpt_lockstep_config *config, struct vpt_cpuid_entry *entries,
			size_t *count)
{
	struct vpt_cpuid_entry other[VPT_CPUID_ROOM];
	size_t other_count;
	int error = supported(config->engine[0], config->probe[0], entries, count);

	if (!error)
		error = supported(config->engine[1], config->probe[1], other, &other_count);
	if (!error)
		vpt_lockstep_cpuid(entries, count, other, other_count);
	return error;
}

static int create_side(struct vpt_lockstep *l, unsigned int i, const struct vpt_cpuid_entry *cpuid,
		       size_t count)
{
	const struct vpt_lockstep_config *config = &l->config;
	struct vpt_lockstep_side *side = &l->side[i];
	const struct vpt_vm_config vm = {
		.engine = config->engine[i],
		.probe = config->probe[i],
		.caps = config->caps,
		.owner = config->owner,
		.mem_bytes = config->mem_bytes,
		.hooks = {.console = console, .opaque = side},
		.cpuid = cpuid,
		.cpuid_count = count,
	};
	int error = vpt_vm_create(&side->vm, &vm);

	if (error)
		return error;
	side->console = i ? NULL : config->console;
	side->ops = *config->engine[i];
	side->ops.tsc = common_tsc;
	side->vm.vcpu->engine = &side->ops;
	side->vm.vcpu->step_always = true;
	return 0;
}

int vpt_lockstep_create(struct vpt_lockstep *l, const struct vpt_lockstep_config *config)
{
	struct vpt_cpuid_entry cpuid[VPT_CPUID_ROOM];
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
		vpt_vm_destroy(&l->side[0].vm);
	return error;
}

void vpt_lockstep_destroy(struct vpt_lockstep *l)
{
	vpt_vm_destroy(&l->side[0].vm);
	vpt_vm_destroy(&l->side[1].vm);
}

static bool is_unable(const struct vpt_vm *vm)
{
	switch (vm->stop.kind) {
	case VPT_STOP_UNABLE:
	case VPT_STOP_UNTRACEABLE:
	case VPT_STOP_UNEXPLAINED:
	case VPT_STOP_HOST:
		return true;
	default:
		return false;
	}
}

/*
 * Some hosts step two instructions where the first loads SS; then the other engine
 * has one more to do.
 */
static void catch_up(struct vpt_vcpu *a, struct vpt_vcpu *b)
{
	if (a->retired < b->retired && a->deliveries == b->deliveries && !a->vm->stop.kind)
		vpt_vcpu_step(a);
}

/* Both look, since looking sets accessed bits. */
static void look(struct vpt_lockstep *l, struct vpt_fetched *f, struct vpt_lockstep_step *step)
{
	struct vpt_vcpu *a = l->side[0].vm.vcpu, *b = l->side[1].vm.vcpu;
	struct vpt_fetched unused;

	vpt_fetch(b, b->regs->rip, &unused);
	vpt_fetch(a, a->regs->rip, f);
	*step = (struct vpt_lockstep_step){
		.insns = a->retired,
		.ip = a->regs->rip,
		.bytes = f->bytes,
		.bits = a->bits,
		.cpl = a->cpl,
		.len = f->insn ? f->insn->len : 0,
	};
}

static void override(struct vpt_lockstep *l, const struct vpt_lockstep_override *row,
		     const struct vpt_lockstep_step *step)
{
	struct vpt_vcpu *a = l->side[0].vm.vcpu, *b = l->side[1].vm.vcpu;
	size_t count;

	/* Not if it faulted, on one side or on both. */
	if (a->retired == step->insns || b->retired == step->insns)
		return;
	vpt_lockstep_override(row, &step->bytes, step->bits, a->regs, b->regs);
	b->ev->regs_dirty = true;
	l->overridden[row - vpt_lockstep_overrides(&count)]++;
}

/* One instruction, or the delivery of an interrupt. True: it is one for the system. */
static bool step(struct vpt_lockstep *l)
{
	struct vpt_vcpu *a = l->side[0].vm.vcpu, *b = l->side[1].vm.vcpu;
	struct vpt_lockstep_step *now = &l->history[l->steps++ % VPT_LOCKSTEP_HISTORY];
	const struct vpt_lockstep_override *row = NULL;
	struct vpt_fetched f;
	bool system;

	look(l, &f, now);
	system = !f.insn || f.insn->flags & (VPT_INSN_SYSTEM | VPT_INSN_DEBUG_REGS) ||
		 f.insn->cls == VPT_INSN_WRMSR;
	if (f.insn)
		row = vpt_lockstep_override_for(&now->bytes, now->bits, a->regs);
	time_of_step = l->config.engine[0]->tsc(a->ev);
	vpt_vcpu_step(a);
	vpt_vcpu_step(b);
	catch_up(a, b);
	catch_up(b, a);
	if (row)
		override(l, row, now);
	return system;
}

static void compare(struct vpt_lockstep *l, bool most, bool all)
{
	vpt_lockstep_capture(&l->side[0], most, &l->state[0]);
	vpt_lockstep_capture(&l->side[1], most, &l->state[1]);
	if (all)
		l->memory_differs =
			vpt_lockstep_memory(&l->side[0].vm.mem, &l->side[1].vm.mem, &l->gpa);
	if (l->memory_differs || !vpt_lockstep_equal(&l->state[0], &l->state[1]))
		l->end = VPT_LOCKSTEP_DIVERGED;
	else if (all)
		l->all_good = l->steps;
}

/* The guest is at its end: nothing may be left uncompared. */
static void finish(struct vpt_lockstep *l)
{
	compare(l, true, true);
	if (!l->end)
		l->end = VPT_LOCKSTEP_DONE;
}

static bool is_over(struct vpt_lockstep *l)
{
	const struct vpt_lockstep_config *c = &l->config;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (!is_unable(&l->side[i].vm))
			continue;
		l->end = VPT_LOCKSTEP_UNABLE;
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
		if (l->end == VPT_LOCKSTEP_DONE)
			l->end = VPT_LOCKSTEP_LIMIT;
	}
	return l->end;
}

void vpt_lockstep_run(struct vpt_lockstep *l)
{
	const struct vpt_lockstep_config *c = &l->config;

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
