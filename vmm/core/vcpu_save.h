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

enum vpt_vcpu_state_flags {
	VPT_VCPU_HALTED = 1 << 0,
	VPT_VCPU_SHADOW = 1 << 1,
	VPT_VCPU_ARRIVED = 1 << 2,
	VPT_VCPU_NMI_BLOCKED = 1 << 3,
	VPT_VCPU_AFTER_SS = 1 << 4,
	VPT_VCPU_TIMER_DUE = 1 << 5,
	VPT_VCPU_PMI_RAISED = 1 << 6,
	VPT_VCPU_PMI_DUE = 1 << 7,
	VPT_VCPU_FLAGS = (1 << 8) - 1,
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
