// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: get and set the register state. */
#include "engine/kvm.h"

#include <string.h>
#include <x86intrin.h>

/* The registers are used in place, in the run page. */
_Static_assert(sizeof(struct x86_regs) == sizeof(struct kvm_regs), "x86_regs is kvm_regs");
_Static_assert(offsetof(struct x86_regs, rsp) == offsetof(struct kvm_regs, rsp) &&
		       offsetof(struct x86_regs, r8) == offsetof(struct kvm_regs, r8) &&
		       offsetof(struct x86_regs, rflags) == offsetof(struct kvm_regs, rflags),
	       "x86_regs is kvm_regs");

static uint32_t bit(uint8_t attribute, uint32_t mask)
{
	return attribute ? mask : 0;
}

static struct x86_segment segment_from(const struct kvm_segment *in)
{
	return (struct x86_segment){
		.base = in->base,
		.limit = in->limit,
		.selector = in->selector,
		.ar = (in->type & 15u) | bit(in->s, X86_AR_S) | (in->dpl & 3u) << X86_AR_DPL_SHIFT |
		      bit(in->present, X86_AR_P) | bit(in->avl, X86_AR_AVL) | bit(in->l, X86_AR_L) |
		      bit(in->db, X86_AR_DB) | bit(in->g, X86_AR_G) |
		      bit(in->unusable, X86_AR_UNUSABLE),
	};
}

static struct kvm_segment segment_to(const struct x86_segment *in)
{
	return (struct kvm_segment){
		.base = in->base,
		.limit = in->limit,
		.selector = in->selector,
		.type = x86_segment_type(in),
		.dpl = x86_segment_dpl(in),
		.s = !!(in->ar & X86_AR_S),
		.present = !!(in->ar & X86_AR_P),
		.l = !!(in->ar & X86_AR_L),
		.db = !!(in->ar & X86_AR_DB),
		.g = !!(in->ar & X86_AR_G),
		.avl = !!(in->ar & X86_AR_AVL),
		.unusable = !!(in->ar & X86_AR_UNUSABLE),
	};
}

int engine_kvm_get_sregs(struct engine_vcpu *vcpu, struct x86_sregs *out)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	const struct kvm_sregs *in = &v->run->s.regs.sregs;
	const struct kvm_dtable *idt = v->state & ENGINE_KVM_IDT_HIDDEN ? &v->idt : &in->idt;

	*out = (struct x86_sregs){
		.cs = segment_from(&in->cs),
		.ds = segment_from(&in->ds),
		.es = segment_from(&in->es),
		.fs = segment_from(&in->fs),
		.gs = segment_from(&in->gs),
		.ss = segment_from(&in->ss),
		.tr = segment_from(&in->tr),
		.ldt = segment_from(&in->ldt),
		.gdt = {in->gdt.base, in->gdt.limit},
		.idt = {idt->base, idt->limit},
		.cr0 = in->cr0,
		.cr2 = in->cr2,
		.cr3 = in->cr3,
		.cr4 = in->cr4,
		.efer = in->efer,
	};
	return 0;
}

int engine_kvm_set_sregs(struct engine_vcpu *vcpu, const struct x86_sregs *in)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct kvm_sregs *out = &v->run->s.regs.sregs;
	struct kvm_dtable *idt = v->state & ENGINE_KVM_IDT_HIDDEN ? &v->idt : &out->idt;

	out->cs = segment_to(&in->cs);
	out->ds = segment_to(&in->ds);
	out->es = segment_to(&in->es);
	out->fs = segment_to(&in->fs);
	out->gs = segment_to(&in->gs);
	out->ss = segment_to(&in->ss);
	out->tr = segment_to(&in->tr);
	out->ldt = segment_to(&in->ldt);
	out->gdt.base = in->gdt.base;
	out->gdt.limit = in->gdt.limit;
	idt->base = in->idt.base;
	idt->limit = in->idt.limit;
	out->cr0 = in->cr0;
	out->cr2 = in->cr2;
	out->cr3 = in->cr3;
	out->cr4 = in->cr4;
	out->efer = in->efer;
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
	return 0;
}

struct one_msr {
	struct kvm_msrs head;
	struct kvm_msr_entry entry;
};

static bool is_hidden_msr(const struct engine_kvm_vcpu *v, uint32_t index)
{
	return index == X86_MSR_LSTAR && engine_kvm_assists(v->vm);
}

int engine_kvm_get_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t *value)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct one_msr msr = {.head.nmsrs = 1, .entry.index = index};
	int n;

	if (is_hidden_msr(v, index)) {
		*value = v->lstar;
		return 0;
	}
	n = ioctl(v->fd, KVM_GET_MSRS, &msr);
	if (n != 1)
		return n < 0 ? -errno : -ENOENT;
	*value = msr.entry.data;
	return 0;
}

int engine_kvm_set_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t value)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct one_msr msr = {.head.nmsrs = 1, .entry = {.index = index, .data = value}};
	int n;

	if (is_hidden_msr(v, index)) {
		v->lstar = value;
		msr.entry.data = ENGINE_KVM_SYSCALL_TRAP;
	}
	n = ioctl(v->fd, KVM_SET_MSRS, &msr);
	if (n != 1)
		return n < 0 ? -errno : -ENOENT;
	return 0;
}

int engine_kvm_get_dr(struct engine_vcpu *vcpu, unsigned int n, uint64_t *value)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct kvm_debugregs dr;

	if (ioctl(v->fd, KVM_GET_DEBUGREGS, &dr))
		return -errno;
	if (n == 6)
		*value = v->state & ENGINE_KVM_STEPPING ? v->dr6 : dr.dr6;
	else if (n == 7)
		*value = dr.dr7;
	else
		*value = dr.db[n & 3];
	return 0;
}

int engine_kvm_set_dr(struct engine_vcpu *vcpu, unsigned int n, uint64_t value)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct kvm_debugregs dr;

	if (ioctl(v->fd, KVM_GET_DEBUGREGS, &dr))
		return -errno;
	if (n == 6)
		dr.dr6 = v->dr6 = value;
	else if (n == 7)
		dr.dr7 = value;
	else
		dr.db[n & 3] = value;
	return ioctl(v->fd, KVM_SET_DEBUGREGS, &dr) ? -errno : 0;
}

uint64_t engine_kvm_tsc_offset(struct engine_kvm_vcpu *v)
{
	uint64_t offset = 0, tsc;
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)&offset,
	};

	if (!ioctl(v->fd, KVM_GET_DEVICE_ATTR, &attr))
		return offset;
	return engine_kvm_get_msr(&v->base, X86_MSR_TSC, &tsc) ? 0 : tsc - __rdtsc();
}

void engine_kvm_clock(struct engine_vcpu *vcpu, struct vpt_clock *now, uint64_t *tsc)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	uint64_t offset = engine_kvm_tsc_offset(v), host = __rdtsc();

	now->cycles = now->tsc = host + v->tsc_offset;
	*tsc = host + offset;
}

uint64_t engine_kvm_tsc_hz(struct engine_vcpu *vcpu, uint64_t *offset)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	long khz = ioctl(v->fd, KVM_GET_TSC_KHZ, 0);

	*offset = v->tsc_offset;
	return khz > 0 ? (uint64_t)khz * 1000 : 0;
}

int engine_kvm_drop_events(struct engine_vcpu *vcpu)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct kvm_vcpu_events events = {
		.flags = KVM_VCPUEVENT_VALID_NMI_PENDING | KVM_VCPUEVENT_VALID_SHADOW,
	};

	if (ioctl(v->fd, KVM_SET_VCPU_EVENTS, &events))
		return -errno;
	v->run->s.regs.events = events;
	return 0;
}
