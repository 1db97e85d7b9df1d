/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The test bed's control port (vpt/abi/boot.h). On other machines these functions have no effect.
 */
#ifndef GUEST_VMX_BED_H
#define GUEST_VMX_BED_H

#include "lib/cpu.h"
#include "vpt/abi/boot.h"

static inline bool bed_present(void)
{
	return inl(VPT_PORT_BED) == VPT_BED_ID;
}

static inline void bed_command(enum vpt_bed command)
{
	if (bed_present())
		outl(VPT_PORT_BED, command);
}

/* Write a line to the oracle log. */
static inline void bed_mark(const char *text)
{
	if (!bed_present())
		return;
	while (*text)
		outb(VPT_PORT_BED_TEXT, (uint8_t)*text++);
	outl(VPT_PORT_BED, VPT_BED_MARK);
}

#endif /* GUEST_VMX_BED_H */
