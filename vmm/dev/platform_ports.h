/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions shared by the parts of the platform. */
#ifndef VMM_DEV_PLATFORM_PORTS_H
#define VMM_DEV_PLATFORM_PORTS_H

#include "dev/platform.h"

/* Propagate a change in one device to the others. Call it after each access to a device. */
void dev_platform_update(struct dev_platform *p);

/* Set IA32_TSC_DEADLINE to `tsc`. Does nothing without a TSC deadline mode. */
void dev_platform_set_deadline(struct dev_platform *p, unsigned int cpu, uint64_t tsc);

#endif /* VMM_DEV_PLATFORM_PORTS_H */
