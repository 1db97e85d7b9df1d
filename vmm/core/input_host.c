// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input at the host's times, for a machine whose engine counts no instructions. The owner of the VM
 * watches the sources of input, and interrupts the first vCPU. That vCPU takes the input before it
 * runs on.
 */
#include "core/input.h"
#include "core/irq.h"
#include "core/vcpu.h"

/* The longest time until a guest that did not take all of the input is asked again. */
#define AGAIN_NS 10000000u

void core_input_host(struct core_vcpu *v)
{
	v->input.mode = CORE_INPUT_HOST;
	v->input.flags = 0;
	v->input.at = UINT64_MAX;
	v->input.arrived = 1;
}

void core_input_notify(struct core_vm *vm)
{
	struct core_vcpu *v = vm->vcpu;

	v->input.arrived = 1;
	/* An engine that counts would end an instruction in the middle. Its loop looks often. */
	if (!vm->threads && !(v->engine->can & ENGINE_COUNTS))
		v->engine->interrupt(v->ev);
}

bool core_input_is_due(struct core_vcpu *v)
{
	if (v->input.mode != CORE_INPUT_HOST)
		return false;
	return v->input.arrived || (v->input.flags & CORE_INPUT_LEFT && core_input_is_wanted(v));
}

/* Returns true if there are bytes or a frame, which the guest may not want yet. */
static bool has_more(const struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	return (hooks->input_wait &&
		hooks->input_wait(hooks->opaque, 0, true) == CORE_INPUT_READY) ||
	       (hooks->frame && hooks->frame(hooks->opaque, NULL, 0));
}

void core_input_serve(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;
	struct core_input *in = &v->input;
	const uint64_t again = core_now() + AGAIN_NS;

	in->arrived = 0;
	/* Behind a command there may be another one, which has been read already. */
	if (core_input_take(v))
		in->arrived = 1;
	core_put_bit(&in->flags, CORE_INPUT_LEFT, has_more(v));
	if (in->flags & CORE_INPUT_LEFT && again < v->next_tick)
		v->next_tick = again;
	if (hooks->watch)
		hooks->watch(hooks->opaque);
}

bool core_input_can_wake(const struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	return v->input.mode == CORE_INPUT_HOST && hooks->input_wait &&
	       hooks->input_wait(hooks->opaque, 0, true) != CORE_INPUT_ENDED;
}
