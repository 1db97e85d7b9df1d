/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VM of one page of code, in which the probe tries things out. */
#ifndef VMM_ENGINE_KVM_TINY_H
#define VMM_ENGINE_KVM_TINY_H

#include "engine/kvm.h"

#define ENGINE_TINY_RAM	     0x20000u
#define ENGINE_TINY_CODE     0x10000u /* where a try's code lies */
#define ENGINE_TINY_HANDLER  0x11000u /* HLT, reached by SYSCALL and the IDT */
#define ENGINE_TINY_STACK    0x1f000u
#define ENGINE_TINY_UNMAPPED 0x200000u

struct engine_tiny {
	uint8_t *ram;
	struct engine_vm *vm;
	struct engine_kvm_vcpu *v;
};

/* A VM as `probe` says so far, stopped before `code` in this ring. */
int engine_tiny_create(struct engine_tiny *t, const struct engine_probe *probe, unsigned int ring,
		       const void *code, size_t len);
void engine_tiny_destroy(struct engine_tiny *t);

#endif /* VMM_ENGINE_KVM_TINY_H */
