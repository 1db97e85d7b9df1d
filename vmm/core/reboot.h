/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restart a machine after a reset, on an engine with save() and load(). */
#ifndef VMM_CORE_REBOOT_H
#define VMM_CORE_REBOOT_H

#include "core/vcpu.h"
#include "core/vcpu_save.h"

/* The state of the vCPUs at power-on. Zeroed, no reset restarts the machine. */
struct core_reboot {
	struct core_reboot_cpu {
		void *engine; /* the bytes of save() */
		size_t bytes;
		struct core_vcpu_state vcpu;
	} cpu[DEV_PLATFORM_CPUS];
};

/*
 * Keep the state of a new machine, before its guest is loaded. Returns 0, -ENOTSUP if the engine
 * has no snapshots or the machine traces VM entries, or -ENOMEM. Call core_reboot_free() after it.
 */
int core_reboot_keep(struct core_reboot *r, struct core_vm *vm);
void core_reboot_free(struct core_reboot *r);

/* Returns true if the guest has stopped by a reset after which it can restart. */
bool core_reboot_is_due(const struct core_reboot *r, const struct core_vm *vm);
/*
 * Reset the vCPUs and the devices. The guest is no longer stopped. The caller loads the guest again,
 * calls core_reboot_loaded(), and starts the trace. Returns 0 or -errno.
 */
int core_reboot(const struct core_reboot *r, struct core_vm *vm);
/* Report to the engine that the guest was loaded again. */
void core_reboot_loaded(struct core_vm *vm);

#endif /* VMM_CORE_REBOOT_H */
