// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turns of several vCPUs. An actor is a vCPU, or the devices that all vCPUs share. It has the time
 * at which it acts next. This is the clock of a running vCPU, the next timer of a halted one, or the
 * next event of the devices. The earliest actor acts. A vCPU runs to the end of its turn, or until
 * another actor must act first.
 */
#include "core/turns.h"
#include "core/clock.h"
#include "core/devices.h"
#include "core/init.h"
#include "core/input.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/switch.h"
#include "core/wait.h"

#define NEVER UINT64_MAX

/* A halted first vCPU looks for input from outside after this number of turns. */
#define INPUT_TURNS 64u

struct turns {
	struct core_vm *vm;
	struct core_loop loop;
	struct core_vcpu *next; /* the vCPU that acts next */
	uint64_t at;		/* its time */
	uint64_t second;	/* the time of the next other vCPU */
	uint64_t shared;	/* the time of the next event of the shared devices */
	uint64_t count;		/* the number of turns */
};

static uint64_t clock_of(const struct core_vcpu *v)
{
	return engine_time_tsc(&v->ev->time, v->ev->retired);
}

static bool stands(const struct core_vcpu *v)
{
	return v->pending & (CORE_VCPU_HALTED | CORE_VCPU_WAIT_SIPI);
}

/* Returns true if the reason for which a vCPU stands is over. */
static bool wakes(const struct core_vcpu *v)
{
	if (core_init_pending(v))
		return true;
	return !(v->pending & CORE_VCPU_WAIT_SIPI) && core_wait_is_over(v);
}

static uint64_t time_of(const struct core_vcpu *v)
{
	uint64_t clocks;

	if (!stands(v) || wakes(v))
		return clock_of(v);
	if (v->pending & CORE_VCPU_WAIT_SIPI)
		return NEVER;
	clocks = core_wait_clocks(v);
	return clocks == NEVER ? NEVER : engine_time_tsc(&v->ev->time, v->ev->retired + clocks);
}

/* Find the next actor. Of several at the same time, the one after the last that ran is first. */
static void choose(struct turns *t)
{
	const struct core_vm *vm = t->vm;
	unsigned int i;

	t->next = NULL;
	t->at = t->second = NEVER;
	for (i = 1; i <= vm->cpus; i++) {
		struct core_vcpu *v = vm->cpu[(vm->current->index + i) % vm->cpus];
		const uint64_t at = time_of(v);

		if (at < t->at) {
			t->second = t->at;
			t->at = at;
			t->next = v;
		} else if (at < t->second) {
			t->second = at;
		}
	}
	t->shared = core_devices_shared_next(vm);
}

/* Let a vCPU's time pass without an instruction, if it is behind. */
static void pass_until(struct core_vcpu *v, uint64_t tsc)
{
	const uint64_t clocks = engine_time_reach(&v->ev->time, tsc) - v->ev->retired;

	if (tsc > clock_of(v))
		core_devices_idle(v, clocks);
}

/*
 * The vCPUs that an actor at this time has woken do not run before it. Their clocks change once, or
 * others that spin would always be first.
 */
static void wake(const struct core_vm *vm, uint64_t tsc)
{
	unsigned int i;

	for (i = 0; i < vm->cpus; i++) {
		struct core_vcpu *v = vm->cpu[i];

		if (v->pending & CORE_VCPU_WOKEN || !stands(v) || !wakes(v))
			continue;
		pass_until(v, tsc);
		v->pending |= CORE_VCPU_WOKEN;
	}
}

static void poll(struct turns *t)
{
	struct core_vm *vm = t->vm;
	unsigned int i;

	core_loop_poll_host(vm->vcpu);
	for (i = 1; i < vm->cpus; i++)
		core_loop_poll_trace(vm->cpu[i]);
}

/* The end of the turn that a clock is in, or the next event of the shared devices. */
static uint64_t end_of_turn(const struct turns *t, uint64_t now)
{
	const uint64_t end = (now / CORE_TURN_TICKS + 1) * CORE_TURN_TICKS;

	return end < t->shared ? end : t->shared;
}

/* Returns true if the vCPU, which has begun its turn, goes on with it. */
static bool is_turn(const struct core_vcpu *v)
{
	return !v->vm->stop.kind && !(v->pending & CORE_VCPU_YIELDS) && clock_of(v) < v->turn_end &&
	       (!stands(v) || wakes(v));
}

/* A snapshot may be taken at each poll, and at the start of core_loop_exact(). */
static void play_turn(struct turns *t)
{
	struct core_vcpu *v = t->vm->current;

	while (is_turn(v))
		if (v->urged == CORE_URGED_NOW || core_loop_exact(v, &t->loop))
			poll(t);
	wake(t->vm, clock_of(v));
}

static void run(struct turns *t)
{
	struct core_vm *vm = t->vm;
	struct core_vcpu *v = t->next;

	vm->current = v;
	v->pending &= ~(uint32_t)CORE_VCPU_WOKEN;
	if (!core_init_poll(v))
		return;
	v->turn_end = end_of_turn(t, clock_of(v));
	v->ev->tsc_limit = t->second;
	core_vcpu_pause(v);
	v->pending &= ~(uint32_t)CORE_VCPU_YIELDS;
	play_turn(t);
}

/* Resume the turn in which a snapshot was taken. */
static void resume(struct turns *t)
{
	if (t->vm->current->turn_end == UINT64_MAX)
		return;
	core_vcpu_pause(t->vm->current);
	play_turn(t);
}

/*
 * The first vCPU receives input. It is the machine's input also if this vCPU is halted, so its
 * clock follows the others'.
 */
static bool take_input(struct turns *t, uint64_t until)
{
	struct core_vcpu *v = t->vm->vcpu;
	bool taken = false;

	if (v->input.mode == CORE_INPUT_OFF || !stands(v))
		return false;
	/* The interrupt of an input may be another vCPU's, so that more come in the same wait. */
	if (v->ev->retired >= v->input.at)
		taken = core_input_deliver(v) || t->vm->stop.kind;
	if (!taken &&
	    !core_input_halted(v, engine_time_reach(&v->ev->time, until) - v->ev->retired))
		return false;
	wake(t->vm, clock_of(v));
	return true;
}

/* Returns true if the next vCPU has instructions to execute. */
static bool runs(const struct turns *t)
{
	return t->next && (!stands(t->next) || wakes(t->next));
}

/* No vCPU runs before the next event: let the time pass until then. */
static void idle(struct turns *t)
{
	const uint64_t until = t->at < t->shared ? t->at : t->shared;
	struct core_vm *vm = t->vm;
	struct core_vcpu *v = t->next;

	/* No turn is to be resumed. */
	vm->current->turn_end = 0;
	if (core_loop_is_due(&t->loop))
		poll(t);
	if (!runs(t) && take_input(t, until))
		return;
	if (until == NEVER) {
		core_vm_stop(vm, TRACE_STOP_HALTED, "at %#llx, and nothing wakes a processor",
			     (unsigned long long)vm->vcpu->regs->rip);
		return;
	}
	if (vm->vcpu->input.mode != CORE_INPUT_OFF && stands(vm->vcpu))
		pass_until(vm->vcpu, until);
	if (until == t->shared) {
		core_devices_shared_advance(vm, until);
		wake(vm, until);
	} else {
		vm->current = v;
		core_loop_wait(v);
	}
}

static void turn(struct turns *t)
{
	choose(t);
	if (t->at < t->shared && runs(t)) {
		if (++t->count % INPUT_TURNS == 0 && t->vm->vcpu->input.mode != CORE_INPUT_OFF &&
		    stands(t->vm->vcpu) && !wakes(t->vm->vcpu)) {
			pass_until(t->vm->vcpu, t->at);
			(void)core_input_deliver(t->vm->vcpu);
		}
		run(t);
	} else {
		idle(t);
	}
}

void core_turns_loop(struct core_vm *vm)
{
	struct turns t = {.vm = vm};
	unsigned int i;

	for (i = 0; i < vm->cpus; i++) {
		core_loop_begin(vm->cpu[i]);
		core_irq_advance(vm->cpu[i]);
	}
	resume(&t);
	while (!vm->stop.kind && !core_switch_is_due(vm))
		turn(&t);
	for (i = 0; vm->stop.kind && i < vm->cpus; i++)
		core_loop_end(vm->cpu[i]);
}
