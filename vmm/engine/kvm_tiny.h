/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VM with one page of code, for the tests of the probe. */
#ifndef VMM_ENGINE_KVM_TINY_H
#define VMM_ENGINE_KVM_TINY_H

#include "engine/kvm.h"

#define ENGINE_TINY_RAM	     0x20000u
#define ENGINE_TINY_CODE     0x10000u /* the code of a test */
#define ENGINE_TINY_HANDLER  0x11000u /* HLT, reached by SYSCALL and the IDT */
#define ENGINE_TINY_STACK    0x1f000u
#define ENGINE_TINY_UNMAPPED 0x200000u

struct engine_tiny {
	uint8_t *ram;
	struct engine_vm *vm;
	struct engine_kvm_vcpu *v;
};

/*
 * Create a VM with the features in `probe`, stopped before `code` in this ring. Returns 0 or
 * -errno.
 */
int engine_tiny_create(struct engine_tiny *t, const struct engine_probe *probe, unsigned int ring,
		       const void *code, size_t len);
void engine_tiny_destroy(struct engine_tiny *t);

#endif /* VMM_ENGINE_KVM_TINY_H */
