// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PT's component of the XSAVE feature set, for an engine that executes XSAVES and XRSTORS itself.
 * The engine calls these functions during a step, when vcpu->report describes the instruction. The
 * tracer counts the instruction.
 */
#include "core/exec.h"
#include "core/vcpu.h"
#include "vpt/xsave.h"

static struct core_vcpu *of(void *opaque)
{
	return (struct core_vcpu *)opaque;
}

static bool initial(void *opaque)
{
	return vpt_xsave_is_initial(&of(opaque)->tracer.pt);
}

static void save(void *opaque, void *state)
{
	struct core_vcpu *v = of(opaque);

	tracer_xsaves(&v->tracer, state, &v->report);
}

static bool check(void *opaque, const void *state)
{
	return vpt_pt_xrstors_check(&of(opaque)->tracer.pt, state) == VPT_FAULT_NONE;
}

static void restore(void *opaque, const void *state)
{
	struct core_vcpu *v = of(opaque);

	tracer_xrstors(&v->tracer, state, &v->report);
}

const struct engine_xstate *core_vcpu_xstate(const struct core_vcpu *v)
{
	static const struct engine_xstate xstate = {initial, save, check, restore};
	const struct core_vm *vm = v->vm;

	if (!(v->engine->can & ENGINE_BUS) || vm->owner != TRACE_OWNER_GUEST || vm->vmx)
		return NULL;
	return vpt_xsave_bytes(&vm->guest_caps) ? &xstate : NULL;
}
