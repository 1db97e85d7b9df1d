/* SPDX-License-Identifier: GPL-2.0-or-later */
/* XSAVES and XRSTORS of PT's component alone (33.3.5.2). */
#ifndef GUEST_PT_XSTATE_H
#define GUEST_PT_XSTATE_H

#include "lib/fixup.h"

#define MSR_XSS	      0xda0u
#define XSTATE_PT     (1u << 8)
#define XSTATE_HEADER 512u
#define XSTATE_FIRST  576u /* offset of the first component in a compacted area */

struct xstate {
	uint8_t bytes[1024] __attribute__((aligned(64)));
};

static inline uint64_t *xstate_slot(struct xstate *area, unsigned int at)
{
	return (uint64_t *)(area->bytes + at);
}

/* Returns true, or false if it raised #GP. */
static inline bool xsaves(void *area, uint64_t components)
{
	int fault = 1;

	__asm__ volatile("1: xsaves64 (%1)\n"
			 "xorl %0, %0\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "+r"(fault)
			 : "r"(area), "a"((uint32_t)components), "d"((uint32_t)(components >> 32))
			 : "memory");
	return !fault;
}

static inline bool xrstors(const void *area, uint64_t components)
{
	int fault = 1;

	__asm__ volatile("1: xrstors64 (%1)\n"
			 "xorl %0, %0\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "+r"(fault)
			 : "r"(area), "a"((uint32_t)components), "d"((uint32_t)(components >> 32))
			 : "memory");
	return !fault;
}

#endif /* GUEST_PT_XSTATE_H */
