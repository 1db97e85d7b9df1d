/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's state of a vCPU between two instructions, as plain data. Devices and their time are
 * separate: see core_devices_save().
 */
#ifndef VMM_CORE_VCPU_SAVE_H
#define VMM_CORE_VCPU_SAVE_H

#include "core/devices.h"
#include "core/vcpu.h"
#include "core/wait.h"

/* Bits of core_vcpu_state.flags: core_vcpu.pending and .shadowed, and core_irq.pending. */
enum core_vcpu_state_flags {
	CORE_VCPU_FLAGS = CORE_VCPU_PENDING_SAVED | CORE_VCPU_SHADOWED_SAVED | CORE_IRQ_SAVED,
};

struct core_vcpu_state {
	uint32_t flags; /* enum core_vcpu_state_flags */
	uint8_t timer_vector, pmi_vector;
	uint16_t reserved;
	uint64_t debug_pending;
	uint64_t steps;
	uint64_t turn_end; /* the TSC at which the turn ends, if it is this vCPU's turn */
	uint64_t tsc_limit;
	struct core_perfmon_state perfmon;
	struct core_wait_state wait;
};

void core_vcpu_save(struct core_vcpu *v, struct core_vcpu_state *state);
/* Restore the state after the engine's load(). Returns false if the state is impossible. */
bool core_vcpu_restore(struct core_vcpu *v, const struct core_vcpu_state *state);

#endif /* VMM_CORE_VCPU_SAVE_H */
