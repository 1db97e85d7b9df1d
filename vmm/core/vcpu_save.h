/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core itself knows of a vCPU between two instructions, as plain data. Devices
 * and their time are not part of it: see vpt_devices_save().
 */
#ifndef VMM_CORE_VCPU_SAVE_H
#define VMM_CORE_VCPU_SAVE_H

#include "core/devices.h"
#include "core/vcpu.h"
#include "core/wait.h"

/* Bits of vpt_vcpu_state.flags: vpt_vcpu.pending and .shadowed, and vpt_irq.pending. */
enum vpt_vcpu_state_flags {
	VPT_VCPU_FLAGS = VPT_VCPU_PENDING_SAVED | VPT_VCPU_SHADOWED_SAVED | VPT_IRQ_SAVED,
};

struct vpt_vcpu_state {
	uint32_t flags; /* enum vpt_vcpu_state_flags */
	uint8_t timer_vector, pmi_vector;
	uint16_t reserved;
	uint64_t debug_pending;
	uint64_t steps;
	struct vpt_perfmon_state perfmon;
	struct vpt_wait_state wait;
};

void vpt_vcpu_save(struct vpt_vcpu *v, struct vpt_vcpu_state *state);
/* After the engine has its state. False: not a state of a vCPU; nothing changed. */
bool vpt_vcpu_restore(struct vpt_vcpu *v, const struct vpt_vcpu_state *state);

#endif /* VMM_CORE_VCPU_SAVE_H */
