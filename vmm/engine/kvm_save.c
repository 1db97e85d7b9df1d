// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: save and load the state of a vCPU, between two instructions. */
#include "engine/kvm.h"

#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "engine/kvm_xstate.h"
#include "engine/state.h"

/*
 * Returns true if KVM is in the middle of an exit, or of the delivery of an event. Where the engine
 * emulates SYSCALL, a signal can come between SYSCALL and the fault at its target. KVM then has a
 * fault that its events do not show.
 */
static bool is_busy(const struct engine_kvm_vcpu *v)
{
	const struct kvm_vcpu_events *e = &v->run->s.regs.events;

	if (engine_kvm_assists(v->vm) && v->base.regs->rip == ENGINE_KVM_SYSCALL_TRAP)
		return true;
	return v->state & ENGINE_KVM_IN_EXIT || e->exception.injected || e->exception.pending ||
	       e->interrupt.injected || e->nmi.injected || e->nmi.pending;
}

static int save_debug(struct engine_kvm_vcpu *v, struct engine_state *to)
{
	struct kvm_debugregs dr;

	if (ioctl(v->fd, KVM_GET_DEBUGREGS, &dr))
		return -errno;
	memcpy(to->dr, dr.db, sizeof(dr.db));
	to->dr[6] = (uint32_t)dr.dr6;
	to->dr[7] = (uint32_t)dr.dr7;
	return 0;
}

static int load_debug(struct engine_kvm_vcpu *v, const struct engine_state *from)
{
	struct kvm_debugregs dr = {.dr6 = from->dr[6], .dr7 = from->dr[7]};

	memcpy(dr.db, from->dr, sizeof(dr.db));
	v->dr6 = dr.dr6;
	return ioctl(v->fd, KVM_SET_DEBUGREGS, &dr) ? -errno : 0;
}

static uint32_t save_msrs(struct engine_kvm_vcpu *v, struct engine_state_msr *to)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < engine_state_msr_count; i++) {
		to[n] = (struct engine_state_msr){.index = engine_state_msr[i]};
		n += !engine_kvm_get_msr(&v->base, engine_state_msr[i], &to[n].value);
	}
	return n;
}

/* Load the MSRs. KVM may lack an MSR whose value is 0. */
static int load_msrs(struct engine_kvm_vcpu *v, const struct engine_state_msr *from, uint32_t count)
{
	uint32_t i;
	int error;

	for (i = 0; i < count; i++) {
		error = engine_kvm_set_msr(&v->base, from[i].index, from[i].value);
		if (error && from[i].value)
			return error;
	}
	return 0;
}

/*
 * Let the guest's TSC continue from the time of the state. Some KVMs accept an offset and ignore it.
 * Their guests read the host's TSC. Returns -EAGAIN while that TSC is less than the state's.
 */
static int load_time(struct engine_kvm_vcpu *v, const struct engine_state *from)
{
	const uint64_t now = engine_time_read(&from->time, from->retired);
	const uint64_t moment = v->vm->moment ? v->vm->moment : __rdtsc();
	uint64_t offset = now - moment;
	const struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)&offset,
	};
	int error = 0;

	if (ioctl(v->fd, KVM_SET_DEVICE_ATTR, &attr))
		error = engine_kvm_set_msr(&v->base, X86_MSR_TSC, __rdtsc() + offset);
	offset = engine_kvm_tsc_offset(v);
	v->tsc_offset = offset - from->time.offset;
	if (!error && (int64_t)(__rdtsc() + offset - now) < 0)
		error = -EAGAIN;
	return error;
}

static int load_shadow(struct engine_kvm_vcpu *v, const struct engine_state *from)
{
	struct kvm_vcpu_events events;

	if (ioctl(v->fd, KVM_GET_VCPU_EVENTS, &events))
		return -errno;
	events.interrupt.shadow = from->shadow ? KVM_X86_SHADOW_INT_STI : 0;
	events.flags = KVM_VCPUEVENT_VALID_SHADOW;
	if (ioctl(v->fd, KVM_SET_VCPU_EVENTS, &events))
		return -errno;
	v->run->s.regs.events = events;
	return 0;
}

static int save(struct engine_kvm_vcpu *v, struct engine_state *to)
{
	struct x86_sregs sregs;
	int error = v->state & ENGINE_KVM_STEPPING ? engine_kvm_step_end(v) : 0;

	if (!error)
		error = engine_kvm_get_sregs(&v->base, &sregs);
	if (!error)
		error = save_debug(v, to);
	if (!error)
		error = engine_kvm_save_xstate(v, to);
	if (error)
		return error;
	engine_state_put_sregs(to, &sregs);
	to->magic = ENGINE_STATE_MAGIC;
	to->regs = *v->base.regs;
	to->shadow = v->run->s.regs.events.interrupt.shadow || v->base.state & ENGINE_SHADOW;
	to->retired = v->base.retired;
	to->time = v->base.time;
	to->random = v->base.random;
	to->msrs = save_msrs(v, (struct engine_state_msr *)(to + 1));
	to->bytes = (uint32_t)(sizeof(*to) + to->msrs * sizeof(struct engine_state_msr));
	return 0;
}

size_t engine_kvm_save(struct engine_vcpu *vcpu, void *to, size_t room)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct engine_state *s;
	size_t bytes = 0;

	if (is_busy(v))
		return 0;
	s = calloc(1, sizeof(*s) + ENGINE_STATE_MSRS * sizeof(struct engine_state_msr));
	if (s && !save(v, s))
		bytes = s->bytes;
	if (bytes && bytes <= room)
		memcpy(to, s, bytes);
	free(s);
	return bytes;
}

static bool sizes_ok(const struct engine_state *s, size_t bytes)
{
	const size_t head = sizeof(*s) + s->msrs * sizeof(struct engine_state_msr);

	return s->magic == ENGINE_STATE_MAGIC && s->bytes == bytes &&
	       s->msrs <= ENGINE_STATE_MSRS && bytes >= head &&
	       (bytes - head) / sizeof(struct engine_state_tlb) == s->entries &&
	       (bytes - head) % sizeof(struct engine_state_tlb) == 0;
}

/*
 * Load the system registers at once, because KVM_RUN would otherwise be the first to refuse them.
 * KVM refuses some that a processor can have, such as CS.L outside long mode.
 */
static int load_sregs(struct engine_kvm_vcpu *v, const struct engine_state *from)
{
	struct x86_sregs sregs;

	engine_state_get_sregs(from, &sregs);
	(void)engine_kvm_set_sregs(&v->base, &sregs);
	if (!ioctl(v->fd, KVM_SET_SREGS, &v->run->s.regs.sregs))
		return 0;
	return errno == EINVAL ? -ENOTSUP : -errno;
}

static int load(struct engine_kvm_vcpu *v, const struct engine_state *from)
{
	int error = load_time(v, from);

	if (error)
		return error;
	*v->base.regs = from->regs;
	v->base.state |= ENGINE_REGS_DIRTY;
	v->base.state &= ~(uint32_t)ENGINE_SHADOW;
	v->base.retired = from->retired;
	v->base.time = from->time;
	v->base.random = from->random;
	error = load_sregs(v, from);
	if (!error)
		error = engine_kvm_load_xstate(v, from);
	if (!error)
		error = load_msrs(v, (const struct engine_state_msr *)(from + 1), from->msrs);
	if (!error)
		error = load_debug(v, from);
	return error ? error : load_shadow(v, from);
}

int engine_kvm_load(struct engine_vcpu *vcpu, const void *from, size_t bytes)
{
	struct engine_state *aligned;
	int error = -EINVAL;

	if (bytes < sizeof(*aligned))
		return -EINVAL;
	aligned = malloc(bytes);
	if (!aligned)
		return -ENOMEM;
	memcpy(aligned, from, bytes);
	if (sizes_ok(aligned, bytes) && engine_state_time_ok(aligned, &vcpu->time) &&
	    engine_state_msrs_ok((const struct engine_state_msr *)(aligned + 1), aligned->msrs))
		error = load(engine_kvm_vcpu(vcpu), aligned);
	free(aligned);
	return error;
}
