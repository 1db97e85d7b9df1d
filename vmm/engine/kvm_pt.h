/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine "kvm-pt": KVM with the processor's own PT. It runs guests at full speed, also while
 * they are traced.
 */
#ifndef VMM_ENGINE_KVM_PT_H
#define VMM_ENGINE_KVM_PT_H

#include "engine/engine.h"

extern const struct engine engine_kvm_pt_engine;

struct engine_kvm_pt_buffer;

/* kvm_pt_buffer.c: a host-owned trace. */
int engine_kvm_pt_start(struct engine_vcpu *vcpu, const struct vpt_rtit *rtit);
int engine_kvm_pt_read(struct engine_vcpu *vcpu, struct engine_trace *trace);
int engine_kvm_pt_stop(struct engine_vcpu *vcpu);
void engine_kvm_pt_free(struct engine_kvm_pt_buffer *buffer);

/* kvm_writes.c: see struct engine_pt. */
int engine_kvm_pt_log_writes(struct engine_vcpu *vcpu);
void engine_kvm_pt_watch_writes(struct engine_vcpu *vcpu, uint64_t gpa, bool on);
int engine_kvm_pt_written(struct engine_vcpu *vcpu, const struct engine_writes_sink *sink);

/* kvm_pt_probe.c */
void engine_kvm_pt_probe(struct engine_probe *probe, bool with_costs);

#endif /* VMM_ENGINE_KVM_PT_H */
