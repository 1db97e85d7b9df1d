/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PT of this processor. */
#ifndef VMM_HOST_CPU_H
#define VMM_HOST_CPU_H

#include "vpt/caps.h"

/* From CPUID, and /sys for what that does not tell. False: there is no PT in CPUID. */
bool host_caps(const char *sysfs, struct vpt_caps *caps);

/* From leaf 15H, 0: it does not tell. */
uint64_t host_tsc_hz(const struct vpt_caps *caps);

/* Parse a list as in /sys/devices/system/cpu/online, "0-3,8". Returns how many, 0: not a
 * list, or more than `room`. */
unsigned int host_cpu_list(const char *text, unsigned int *cpus, unsigned int room);

#endif /* VMM_HOST_CPU_H */
