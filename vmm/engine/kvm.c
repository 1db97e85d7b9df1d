// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM as an engine: the table of its operations. */
#include "engine/kvm.h"

#include "engine/kvm_engine.h"

const struct engine engine_kvm_engine = {
	.name = "kvm",
	.probe = engine_kvm_probe,
	.vm_create = engine_kvm_vm_create,
	.vm_destroy = engine_kvm_vm_destroy,
	.vm_map = engine_kvm_vm_map,
	.vm_trap_msrs = engine_kvm_trap_msrs,
	.supported_cpuid = engine_kvm_supported_cpuid,
	.vcpu_create = engine_kvm_vcpu_create,
	.vcpu_destroy = engine_kvm_vcpu_destroy,
	.get_sregs = engine_kvm_get_sregs,
	.set_sregs = engine_kvm_set_sregs,
	.get_msr = engine_kvm_get_msr,
	.set_msr = engine_kvm_set_msr,
	.get_dr = engine_kvm_get_dr,
	.set_dr = engine_kvm_set_dr,
	.clock = engine_kvm_clock,
	.tsc_hz = engine_kvm_tsc_hz,
	.run = engine_kvm_run,
	.step = engine_kvm_step,
	.watch = engine_kvm_watch,
	.complete = engine_kvm_complete,
	.kick_after = engine_kvm_kick_after,
	.interrupt = engine_kvm_interrupt,
};
