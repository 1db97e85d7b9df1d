/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that may fault. FIXUP(from, to) in an asm statement declares: if the instruction at
 * label `from` raises #GP, #PF or #UD, continue at label `to`.
 */
#ifndef GUEST_LIB_FIXUP_H
#define GUEST_LIB_FIXUP_H

#include "vpt/base.h"

#define FIXUP(from, to)                 \
	".pushsection .fixups, \"a\"\n" \
	".quad " #from ", " #to "\n"    \
	".popsection\n"

struct fixup {
	uint64_t from;
	uint64_t to;
};

/* Return the address to continue at after a fault at `rip`, or 0 if there is none. */
uint64_t fixup_find(uint64_t rip);

#endif /* GUEST_LIB_FIXUP_H */
