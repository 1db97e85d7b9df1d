/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a guest in the process of its VMM. No file of /proc maps it to guest-physical
 * addresses. The mapping and the layout are therefore guesses, which the guest's page tables
 * confirm or refute.
 */
#ifndef VMM_HOST_VMM_H
#define VMM_HOST_VMM_H

#include <stdbool.h>
#include <stdio.h>

#include "host/memory.h"

/* A smaller mapping is not a guest's RAM, and one above 4 TiB is only reserved address space. */
#define HOST_VMM_RAM_MIN (1ull << 20)
#define HOST_VMM_RAM_MAX (1ull << 42)

/*
 * Find the largest readable and writable mapping in the text of /proc/PID/maps. Returns false if
 * there is none of that size.
 */
bool host_vmm_ram(FILE *maps, struct host_range *ram);

/* Number of layouts of RAM above 4 GiB, in this order: q35, pc, Firecracker, no split. */
#define HOST_VMM_LAYOUTS 4

/*
 * Return how many bytes of RAM are below 4 GiB with layout @number. The rest begins at 4 GiB.
 * Returns 0 if an earlier layout is the same.
 */
uint64_t host_vmm_low(uint64_t bytes, unsigned int number);

#endif /* VMM_HOST_VMM_H */
