/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KVM: the state that XSAVE saves, in the form of engine/state.h. */
#ifndef VMM_ENGINE_KVM_XSTATE_H
#define VMM_ENGINE_KVM_XSTATE_H

#include "engine/kvm.h"
#include "engine/state.h"

/* Get and set XCR0, x87, MXCSR, the vector registers and PKRU. Return 0 or -errno. */
int engine_kvm_save_xstate(struct engine_kvm_vcpu *v, struct engine_state *to);
int engine_kvm_load_xstate(struct engine_kvm_vcpu *v, const struct engine_state *from);

#endif /* VMM_ENGINE_KVM_XSTATE_H */
