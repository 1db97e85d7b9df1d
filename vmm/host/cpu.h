/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PT capabilities of this processor. */
#ifndef VMM_HOST_CPU_H
#define VMM_HOST_CPU_H

#include "vpt/caps.h"

/* Read the capabilities from CPUID, and others from /sys. Returns false if CPUID has no PT. */
bool host_caps(const char *sysfs, struct vpt_caps *caps);

/* Return the TSC frequency from leaf 15H, or 0 if the leaf lacks it. */
uint64_t host_tsc_hz(const struct vpt_caps *caps);

/*
 * Parse a list as in /sys/devices/system/cpu/online, "0-3,8". Returns the number of CPUs, or 0 if
 * it is not a list or has more than `room`.
 */
unsigned int host_cpu_list(const char *text, unsigned int *cpus, unsigned int room);

#endif /* VMM_HOST_CPU_H */
