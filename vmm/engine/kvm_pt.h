/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM with the processor's own PT, as an engine: "kvm-pt". It runs guests as KVM does,
 * at full speed also while they are traced.
 */
#ifndef VMM_ENGINE_KVM_PT_H
#define VMM_ENGINE_KVM_PT_H

#include "engine/engine.h"

extern const struct vpt_engine vpt_kvm_pt_engine;

struct vpt_kvm_pt_buffer;

/* kvm_pt_buffer.c: a trace that is the host's. */
int vpt_kvm_pt_start(struct vpt_engine_vcpu *vcpu, const struct vpt_rtit *rtit);
int vpt_kvm_pt_read(struct vpt_engine_vcpu *vcpu, struct vpt_engine_trace *trace);
int vpt_kvm_pt_stop(struct vpt_engine_vcpu *vcpu);
void vpt_kvm_pt_free(struct vpt_kvm_pt_buffer *buffer);

/* kvm_pt_probe.c */
void vpt_kvm_pt_probe(struct vpt_probe *probe, bool with_costs);

#endif /* VMM_ENGINE_KVM_PT_H */
