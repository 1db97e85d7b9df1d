/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common parts of hostile guests on a PC: interrupts of all kinds, addresses without memory, flow
 * through all modes. See guest/bare/topa_*.c.
 */
#ifndef GUEST_PT_HOSTILE_H
#define GUEST_PT_HOSTILE_H

#include "lib/rand.h"

struct hostile_counts {
	volatile uint32_t nmis;
	volatile uint32_t interrupts;
};

extern struct hostile_counts hostile_counts;

/*
 * APIC, 8259s, gates for all interrupts, ring 3, some address spaces. `on_pmi` (NULL:
 * nobody) is called in each interrupt.
 */
void hostile_init(void (*on_pmi)(void));

/* Where no RAM is: devices, the APIC, holes, past what can be addressed. */
uint64_t hostile_no_ram(struct rng *rng);
/* ... and ROM. Read as a table it could name any memory. */
uint64_t hostile_read_only(struct rng *rng);

#define HOSTILE_LVT_SMI (2u << 8)

/* LVTPC as nobody would set it: masked or not, NMI, SMI, ExtINT, a vector. */
uint32_t hostile_lvtpc(struct rng *rng);
void hostile_set_lvtpc(uint32_t value);

/* A CTL that is mostly one that traces; ToPA is always set. */
uint64_t hostile_ctl(struct rng *rng);

/* Branches, interrupts, another ring, another mode or another address space. */
void hostile_flow(struct rng *rng);

#endif /* GUEST_PT_HOSTILE_H */
