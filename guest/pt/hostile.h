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
 * Set up the APIC, 8259s, gates for all interrupts, ring 3 and some address spaces. Each interrupt
 * calls `on_pmi`, which may be NULL.
 */
void hostile_init(void (*on_pmi)(void));

/* Return an address without RAM: devices, the APIC, holes, or beyond the address width. */
uint64_t hostile_no_ram(struct rng *rng);
/* The same, or ROM. Read as a table, ROM could name any memory. */
uint64_t hostile_read_only(struct rng *rng);

#define HOSTILE_LVT_SMI (2u << 8)

/* Return an unusual LVTPC: masked or not, NMI, SMI, ExtINT, a vector. */
uint32_t hostile_lvtpc(struct rng *rng);
void hostile_set_lvtpc(uint32_t value);

/* Return a CTL that usually enables tracing; ToPA is always set. */
uint64_t hostile_ctl(struct rng *rng);

/* Execute branches, interrupts, another ring, another mode or another address space. */
void hostile_flow(struct rng *rng);

#endif /* GUEST_PT_HOSTILE_H */
