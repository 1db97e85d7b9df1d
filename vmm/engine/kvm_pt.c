// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KVM with the processor's own PT.
 *
 * Guest-owned: KVM switches the guest's IA32_RTIT_*. Only a write to IA32_RTIT_CTL exits to vpt,
 * and KVM intercepts it in any case. That write starts or stops a trace, so vpt must read the
 * guest's code and buffer then.
 *
 * Host-owned: the guest has no PT. KVM traces the guest into a buffer that vpt maps.
 */
#include "engine/kvm_pt.h"

#include "engine/kvm.h"
#include "engine/kvm_guard.h"
#include "engine/kvm_pt_abi.h"
#include "vpt/rtit.h"

#include <stdlib.h>
#include <string.h>

static int vm_create(const struct engine_probe *probe, struct engine_vm **vm)
{
	int error = engine_kvm_vm_create(probe, vm);

	if (error)
		return error;
	(*vm)->engine = &engine_kvm_pt_engine;
	engine_kvm_vm(*vm)->uffd = engine_kvm_guard_open();
	return 0;
}

/*
 * Choose the owner of PT. KVM that was loaded with pt_mode=1 gives PT to all guests, but a guest
 * that its host traces must not have it.
 */
static int owner(struct engine_vm *base, bool guest)
{
	struct engine_kvm_vm *vm = engine_kvm_vm(base);
	struct kvm_x86_pt_usage off = {.usage = KVM_X86_PT_OFF};
	struct kvm_x86_pt_usage owned = {.usage = KVM_X86_PT_OWNED, .flags = KVM_X86_PT_NOTIFY_PMI};

	vm->pt_owned = guest;
	if (ioctl(vm->dev, KVM_CHECK_EXTENSION, KVM_CAP_X86_PT) <= 0)
		return 0;
	if (!guest)
		return ioctl(vm->fd, KVM_X86_PT_SET_USAGE, &off) ? -errno : 0;
	/* Without exits at PMIs, the reads of the buffer find them later. */
	(void)ioctl(vm->fd, KVM_X86_PT_SET_USAGE, &owned);
	return 0;
}

/* A guest that owns PT has its MSRs in the processor. Only writes to IA32_RTIT_CTL exit. */
static int trap_msrs(struct engine_vm *base, const struct engine_msr_range *ranges, size_t count)
{
	static const struct engine_msr_range owned[] = {
		{VPT_MSR_FIRST, VPT_MSR_LAST - VPT_MSR_FIRST + 1, false, false},
		{VPT_MSR_CTL, 1, false, true},
	};
	struct engine_msr_range *all;
	int error;

	if (!engine_kvm_vm(base)->pt_owned)
		return engine_kvm_trap_msrs(base, ranges, count);
	all = malloc(count * sizeof(*all) + sizeof(owned));
	if (!all)
		return -ENOMEM;
	memcpy(all, ranges, count * sizeof(*all));
	memcpy(all + count, owned, sizeof(owned));
	error = engine_kvm_trap_msrs(base, all, count + sizeof(owned) / sizeof(owned[0]));
	free(all);
	return error;
}

static int get(struct engine_vcpu *vcpu, struct vpt_rtit *rtit)
{
	const struct {
		uint32_t msr;
		uint64_t *to;
		bool must;
	} all[] = {
		{VPT_MSR_CTL, &rtit->ctl, true},
		{VPT_MSR_STATUS, &rtit->status, true},
		{VPT_MSR_OUTPUT_BASE, &rtit->output_base, true},
		{VPT_MSR_OUTPUT_MASK_PTRS, &rtit->output_mask_ptrs, true},
		{VPT_MSR_CR3_MATCH, &rtit->cr3_match, false},
	};
	unsigned int i;
	int error;

	vpt_rtit_reset(rtit);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		error = engine_kvm_get_msr(vcpu, all[i].msr, all[i].to);
		if (error && all[i].must)
			return error;
	}
	/* KVM has as many address MSRs as the guest's CPUID allows. */
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		if (engine_kvm_get_msr(vcpu, VPT_MSR_ADDR0_A + i, &rtit->addr[i]))
			break;
	return 0;
}

static int set_ctl(struct engine_vcpu *vcpu, uint64_t value)
{
	return engine_kvm_set_msr(vcpu, VPT_MSR_CTL, value);
}

/* The host does not step while a trace is on, so KVM delivers NMIs. */
static int nmi(struct engine_vcpu *vcpu)
{
	return ioctl(engine_kvm_vcpu(vcpu)->fd, KVM_NMI) ? -errno : 0;
}

static void vcpu_destroy(struct engine_vcpu *vcpu)
{
	if (vcpu)
		engine_kvm_pt_free(engine_kvm_vcpu(vcpu)->pt);
	engine_kvm_vcpu_destroy(vcpu);
}

static const struct engine_pt pt = {
	.owner = owner,
	.get = get,
	.set_ctl = set_ctl,
	.start = engine_kvm_pt_start,
	.read = engine_kvm_pt_read,
	.stop = engine_kvm_pt_stop,
	.log_writes = engine_kvm_pt_log_writes,
	.watch_writes = engine_kvm_pt_watch_writes,
	.written = engine_kvm_pt_written,
};

const struct engine engine_kvm_pt_engine = {
	.name = "kvm-pt",
	.pt = &pt,
	.probe = engine_kvm_pt_probe,
	.vm_create = vm_create,
	.vm_trap_msrs = trap_msrs,
	.vcpu_destroy = vcpu_destroy,
	.nmi = nmi,
	ENGINE_KVM_OPERATIONS,
};
