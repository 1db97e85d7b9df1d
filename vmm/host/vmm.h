/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a guest in the process of its VMM. No file of /proc tells which part of it is at
 * which guest-physical address. The mapping and the layout are therefore guesses, which the guest's
 * page tables confirm or refute.
 */
#ifndef VMM_HOST_VMM_H
#define VMM_HOST_VMM_H

#include <stdbool.h>
#include <stdio.h>

#include "host/memory.h"

/* Less is no guest's RAM, and more than 4 TiB is an address space that is only reserved. */
#define HOST_VMM_RAM_MIN (1ull << 20)
#define HOST_VMM_RAM_MAX (1ull << 42)

/*
 * Find the largest mapping that can be read and written, by the text of /proc/PID/maps. Returns false
 * if there is none of that size.
 */
bool host_vmm_ram(FILE *maps, struct host_range *ram);

/* Where RAM continues above 4 GiB, one after the other: q35, pc, Firecracker, nowhere. */
#define HOST_VMM_LAYOUTS 4

/*
 * Returns how many bytes of RAM of this size are below 4 GiB with layout @number. The rest begins at
 * 4 GiB. 0: the layout is the same as one before.
 */
uint64_t host_vmm_low(uint64_t bytes, unsigned int number);

#endif /* VMM_HOST_VMM_H */
