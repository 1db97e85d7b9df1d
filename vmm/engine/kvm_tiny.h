/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VM of one page of code, in which the probe tries things out. */
#ifndef VMM_ENGINE_KVM_TINY_H
#define VMM_ENGINE_KVM_TINY_H

#include "engine/kvm.h"

#define VPT_TINY_RAM	  0x20000u
#define VPT_TINY_CODE	  0x10000u /* where a try's code lies */
#define VPT_TINY_HANDLER  0x11000u /* HLT, reached by SYSCALL and the IDT */
#define VPT_TINY_STACK	  0x1f000u
#define VPT_TINY_UNMAPPED 0x200000u

struct vpt_tiny {
	uint8_t *ram;
	struct vpt_engine_vm *vm;
	struct vpt_kvm_vcpu *v;
};

/* A VM as `probe` says so far, stopped before `code` in this ring. */
int vpt_tiny_create(struct vpt_tiny *t, const struct vpt_probe *probe, unsigned int ring,
		    const void *code, size_t len);
void vpt_tiny_destroy(struct vpt_tiny *t);

#endif /* VMM_ENGINE_KVM_TINY_H */
