// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the address where execution continues after an instruction that may fault. */
#include "fixup.h"

extern const struct fixup fixups_start[], fixups_end[];

uint64_t fixup_find(uint64_t rip)
{
	const struct fixup *fixup;

	for (fixup = fixups_start; fixup < fixups_end; fixup++)
		if (fixup->from == rip)
			return fixup->to;
	return 0;
}
