// SPDX-License-Identifier: GPL-2.0-or-later
/* The operations of the KVM engine. */
#include "engine/kvm.h"

#include "engine/kvm_engine.h"

const struct engine engine_kvm_engine = {
	.name = "kvm",
	.probe = engine_kvm_probe,
	.vm_create = engine_kvm_vm_create,
	.vm_trap_msrs = engine_kvm_trap_msrs,
	.vcpu_destroy = engine_kvm_vcpu_destroy,
	.vm_moment = engine_kvm_vm_moment,
	.vm_forget = engine_kvm_vm_forget,
	.save = engine_kvm_save,
	.load = engine_kvm_load,
	ENGINE_KVM_OPERATIONS,
};
