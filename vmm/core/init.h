/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INIT and start-up IPIs of vCPUs other than the first (SDM vol. 3, 9.4 and 11.4.7.3). */
#ifndef VMM_CORE_INIT_H
#define VMM_CORE_INIT_H

#include <stdbool.h>

struct core_vcpu;

/* Returns true if an INIT, or a start-up IPI that the vCPU waits for, is pending. */
bool core_init_pending(const struct core_vcpu *v);
/*
 * Handle a pending INIT and then a pending start-up IPI. Returns false if the vCPU waits for a
 * start-up IPI after that.
 */
bool core_init_poll(struct core_vcpu *v);

#endif /* VMM_CORE_INIT_H */
