/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stop the only vCPU of a machine before it writes to watched pages. */
#ifndef VMM_ENGINE_KVM_GUARD_H
#define VMM_ENGINE_KVM_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct engine_kvm_guard;
struct engine_kvm_vcpu;
struct engine_kvm_vm;
struct engine_writes_sink;

/* Get the descriptor of userfaultfd that a machine needs, or -1. Call this before the sandbox. */
int engine_kvm_guard_open(void);
/* Begin, with no watched page. Returns 0, or -errno if the machine cannot have this. */
int engine_kvm_guard_start(struct engine_kvm_vcpu *v);
/* End the protection of all pages. The machine may have no guard. */
void engine_kvm_guard_free(struct engine_kvm_vm *vm);

/*
 * These are as in struct engine_pt. The function written() reports a page before the guest writes to
 * it, and again at the next exit. Up to there the guest can write to it without an exit.
 */
void engine_kvm_guard_watch(struct engine_kvm_guard *g, uint64_t gpa, bool on);
void engine_kvm_guard_written(struct engine_kvm_guard *g, const struct engine_writes_sink *sink);

/* Note that KVM_RUN is called. */
void engine_kvm_guard_entered(struct engine_kvm_guard *g);

#endif /* VMM_ENGINE_KVM_GUARD_H */
