// SPDX-License-Identifier: GPL-2.0-or-later
/* The side-band of a vCPU, which a decoder needs. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <x86intrin.h>

#include "tests.h"
#include "vm.h"
#include "vpt/tsc.h"

/*
 * Check the TSC offset and multiplier of the side-band: the guest's TSC must lie between two
 * readings of the host's.
 */
static void bracket(struct vm *vm, const char *what)
{
	struct kvm_x86_pt_sideband sideband = vm_sideband(vm);
	struct vpt_tsc tsc = {sideband.tsc_offset, sideband.tsc_multiplier};
	uint64_t first, last, before, after;
	struct kvm_regs regs;

	vm_start(vm, guest_tsc, 0);
	before = __rdtsc();
	vm_run(vm);
	after = __rdtsc();
	vm_regs(vm, &regs);
	if (!CHECK(vpt_tsc_host(&tsc, regs.rax, &first, &last) == VPT_OK, "%s: no host TSC", what))
		return;
	CHECK(first >= before && last <= after, "%s: host TSC %llu to %llu is not in %llu to %llu",
	      what, (unsigned long long)first, (unsigned long long)last, (unsigned long long)before,
	      (unsigned long long)after);
	CHECK(vpt_tsc_guest(&tsc, before) < regs.rax && regs.rax < vpt_tsc_guest(&tsc, after),
	      "%s: the guest's TSC", what);
	printf("# %s: offset 0x%llx, multiplier 0x%llx, %llu host clocks around the guest\n", what,
	       (unsigned long long)sideband.tsc_offset, (unsigned long long)sideband.tsc_multiplier,
	       (unsigned long long)(after - before));
}

void test_sideband(void)
{
	struct kvm_x86_pt_sideband sideband;
	struct kvm_msrs *head;
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entries[1];
	} msrs = {.head.nmsrs = 1, .entries = {{.index = 0x10, .data = 0x123456789abcdef}}};
	long khz;
	struct vm vm;

	vm_open(&vm, false);
	sideband = vm_sideband(&vm);
	CHECK(sideband.vcpu_id == 0 && !sideband.flags, "vCPU %u, flags 0x%x", sideband.vcpu_id,
	      sideband.flags);
	CHECK(sideband.vmcs && !(sideband.vmcs & 0xfff) && sideband.vmcs >> 52 == 0, "VMCS 0x%llx",
	      (unsigned long long)sideband.vmcs);
	bracket(&vm, "as it was");

	head = &msrs.head;
	CHECK(ioctl(vm.vcpu, KVM_SET_MSRS, head) == 1, "KVM_SET_MSRS");
	bracket(&vm, "TSC written");

	khz = ioctl(vm.vcpu, KVM_GET_TSC_KHZ, 0);
	CHECK(khz > 0 && !ioctl(vm.vcpu, KVM_SET_TSC_KHZ, khz / 3), "KVM_SET_TSC_KHZ of %ld", khz);
	CHECK(vm_sideband(&vm).tsc_multiplier < VPT_TSC_ONE, "not scaled");
	bracket(&vm, "scaled down");
	CHECK(!ioctl(vm.vcpu, KVM_SET_TSC_KHZ, khz + khz / 7), "KVM_SET_TSC_KHZ");
	bracket(&vm, "scaled up");
	vm_close(&vm);
}
