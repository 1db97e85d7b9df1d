/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is not 64-bit code at CPL 0: ring 3 with 32-bit code, another processor. */
#ifndef GUEST_PT_MODES_H
#define GUEST_PT_MODES_H

#include "vpt/base.h"

/* For ring3_call(): branches in 64-bit and in 32-bit code. */
uint64_t modes_ring3(uint64_t rounds);

#define MODES_OTHER_BASES 16u

/*
 * The page of the other processor, with its requests and answers at the end. It stays in real mode,
 * writes random values to the RTIT MSRs, and branches in between. It always sets CTL.ToPA, and
 * takes OUTPUT_BASE from the list.
 */
struct modes_other {
	uint32_t seed;
	volatile uint32_t lvtpc;
	uint16_t gdt_limit;
	uint32_t gdt_base;
	uint16_t unused;
	volatile uint32_t rounds;
	volatile uint32_t refused; /* #GP */
	volatile uint32_t traced;  /* writes that set TraceEn */
	volatile uint32_t stop;	   /* set: disable the trace, clear this, and halt */
	volatile uint64_t bases[MODES_OTHER_BASES];
} __attribute__((packed));

/*
 * Start the other processor, if there is one. Low memory then no longer belongs to the BIOS: its
 * interrupt table is the other processor's.
 */
struct modes_other *modes_start_other(uint32_t seed);

#endif /* GUEST_PT_MODES_H */
