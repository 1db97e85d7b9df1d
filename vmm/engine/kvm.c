// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM as an engine: the table of its operations. */
#include "engine/kvm.h"

#include "engine/kvm_engine.h"

const struct vpt_engine vpt_kvm_engine = {
	.name = "kvm",
	.probe = vpt_kvm_probe,
	.vm_create = vpt_kvm_vm_create,
	.vm_destroy = vpt_kvm_vm_destroy,
	.vm_map = vpt_kvm_vm_map,
	.vm_trap_msrs = vpt_kvm_trap_msrs,
	.supported_cpuid = vpt_kvm_supported_cpuid,
	.vcpu_create = vpt_kvm_vcpu_create,
	.vcpu_destroy = vpt_kvm_vcpu_destroy,
	.get_sregs = vpt_kvm_get_sregs,
	.set_sregs = vpt_kvm_set_sregs,
	.get_msr = vpt_kvm_get_msr,
	.set_msr = vpt_kvm_set_msr,
	.get_dr = vpt_kvm_get_dr,
	.set_dr = vpt_kvm_set_dr,
	.clock = vpt_kvm_clock,
	.tsc_hz = vpt_kvm_tsc_hz,
	.run = vpt_kvm_run,
	.step = vpt_kvm_step,
	.watch = vpt_kvm_watch,
	.complete = vpt_kvm_complete,
	.kick_after = vpt_kvm_kick_after,
	.interrupt = vpt_kvm_interrupt,
};
