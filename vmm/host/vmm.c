// SPDX-License-Identifier: GPL-2.0-or-later
/* Guesses the layout of a guest's memory in its VMM's process. */
#include "host/vmm.h"

#include <inttypes.h>
#include <string.h>

bool host_vmm_ram(FILE *maps, struct host_range *ram)
{
	char line[4096 + 128], rights[5];
	struct host_range r;
	uint64_t most = 0;

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &r.start, &r.end, rights) != 3 ||
		    strncmp(rights, "rw", 2) || r.end <= r.start)
			continue;
		if (r.end - r.start > most && r.end - r.start <= HOST_VMM_RAM_MAX) {
			most = r.end - r.start;
			*ram = r;
		}
	}
	return most >= HOST_VMM_RAM_MIN;
}

uint64_t host_vmm_low(uint64_t bytes, unsigned int number)
{
	/* RAM of at least `least` bytes is split at `low`. */
	static const struct {
		uint64_t least, low;
	} layouts[HOST_VMM_LAYOUTS] = {
		{0xb0000000, 0x80000000},
		{0xe0000000, 0xc0000000},
		{0xd0000001, 0xd0000000},
		{UINT64_MAX, 0},
	};

	if (number >= HOST_VMM_LAYOUTS)
		return 0;
	if (bytes >= layouts[number].least)
		return layouts[number].low;
	/* Without a split, return a layout only for the last number. */
	return number + 1 == HOST_VMM_LAYOUTS ? bytes : 0;
}
