/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local APIC of the one processor (SDM vol. 3, chapter 11): xAPIC and x2APIC. It
 * calls nobody: what an access leads to outside is left in `nmi`, `init` and `eoi`
 * for its owner to take. As part of a snapshot the state has no bool and no pointer.
 */
#ifndef VMM_DEV_LAPIC_H
#define VMM_DEV_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/msr.h"

#define DEV_APIC_BASE_BSP    (1ull << 8)
#define DEV_APIC_BASE_X2     (1ull << 10)
#define DEV_APIC_BASE_ENABLE (1ull << 11)

enum dev_apic_delivery {
	DEV_APIC_FIXED = 0,
	DEV_APIC_LOWEST = 1,
	DEV_APIC_SMI = 2,
	DEV_APIC_NMI = 4,
	DEV_APIC_INIT = 5,
	DEV_APIC_STARTUP = 6,
	DEV_APIC_EXTINT = 7,
};

enum dev_lvt {
	DEV_LVT_TIMER,
	DEV_LVT_THERMAL,
	DEV_LVT_PMC,
	DEV_LVT_LINT0,
	DEV_LVT_LINT1,
	DEV_LVT_ERROR,
	DEV_LVT_COUNT
};

#define DEV_LVT_MASKED (1u << 16)

/* A message from the I/O APIC. */
struct dev_apic_message {
	uint8_t dest;
	uint8_t vector;
	uint8_t mode; /* enum dev_apic_delivery */
	uint8_t logical, level;
};

struct dev_lapic {
	uint64_t now;
	uint64_t base; /* IA32_APIC_BASE */
	uint64_t hz;   /* of the timer before it is divided */
	/* Timer: when it fires next, in its ticks and in ns; or the TSC it waits for. */
	uint64_t expiry, due;
	uint64_t deadline;
	uint32_t irr[8], isr[8], tmr[8];
	uint32_t lvt[DEV_LVT_COUNT];
	uint32_t id, ldr, dfr, svr;
	uint32_t esr, errors; /* as read; since the last write to it */
	uint32_t icr[2];
	uint32_t initial, divide;
	uint8_t tpr;
	uint8_t armed;
	uint8_t error_sent; /* and ESR not written since: no further interrupt */
	uint8_t lint;	    /* levels of LINT0 and LINT1 */
	uint8_t has_x2apic, has_deadline;
	uint8_t max_phy_addr;
	/* For the owner: */
	uint8_t nmi, init;    /* arrived */
	uint8_t has_eoi, eoi; /* a level-triggered vector ended */
	uint8_t spare[6];
};

struct dev_lapic_config {
	uint64_t hz;
	uint8_t max_phy_addr;
	bool x2apic, deadline; /* are they there? */
};

void dev_lapic_init(struct dev_lapic *l, const struct dev_lapic_config *config);

static inline bool dev_lapic_on(const struct dev_lapic *l)
{
	return l->base & DEV_APIC_BASE_ENABLE;
}

static inline bool dev_lapic_x2(const struct dev_lapic *l)
{
	return l->base & DEV_APIC_BASE_X2;
}

/* lapic.c: interrupts. */
/* Deliver a message if it is for us. False: not taken, try again later. */
bool dev_lapic_message(struct dev_lapic *l, const struct dev_apic_message *message);
/* A local source fires, as its LVT entry says. True if something was delivered. */
bool dev_lapic_local(struct dev_lapic *l, enum dev_lvt source);
/* The performance monitoring interrupt: LVTPC is masked by its delivery (11.5.1). */
void dev_lapic_pmi(struct dev_lapic *l);
/* Level of pin 0 or 1. */
void dev_lapic_lint(struct dev_lapic *l, unsigned int pin, bool level);
/* Does LINT0 pass interrupts of the 8259s on? */
bool dev_lapic_takes_extint(const struct dev_lapic *l);
uint8_t dev_lapic_ppr(const struct dev_lapic *l);
/* The vector the processor would get now, -1 if none. */
int dev_lapic_pending(const struct dev_lapic *l);
/* It gets it; the spurious vector if there is none. */
uint8_t dev_lapic_ack(struct dev_lapic *l);
void dev_lapic_eoi(struct dev_lapic *l);
/* An IPI, as the low half of ICR describes it. */
void dev_lapic_send(struct dev_lapic *l, uint32_t icr);
enum dev_apic_error {
	DEV_APIC_SEND_VECTOR = 1 << 5,
	DEV_APIC_RECEIVE_VECTOR = 1 << 6,
	DEV_APIC_REGISTER = 1 << 7,
};
void dev_lapic_error(struct dev_lapic *l, uint32_t error);

/* lapic_timer.c */
void dev_lapic_advance(struct dev_lapic *l, uint64_t now);
/* When it will interrupt, DEV_NEVER if not. */
uint64_t dev_lapic_next(const struct dev_lapic *l);
uint32_t dev_lapic_count(const struct dev_lapic *l);
void dev_lapic_set_count(struct dev_lapic *l, uint32_t initial);
void dev_lapic_set_divide(struct dev_lapic *l, uint32_t value);
void dev_lapic_set_timer(struct dev_lapic *l, uint32_t lvt);
bool dev_lapic_in_deadline_mode(const struct dev_lapic *l);
/* IA32_TSC_DEADLINE, with the time at which the TSC gets there. */
void dev_lapic_set_deadline(struct dev_lapic *l, uint64_t tsc, uint64_t due);

/* lapic_regs.c: accesses. */
/* Is this address in the APIC's page now? */
bool dev_lapic_at(const struct dev_lapic *l, uint64_t gpa);
/* `offset` into the page; an access that is none to a register reads as zero. */
void dev_lapic_read(struct dev_lapic *l, uint32_t offset, uint32_t len, void *data);
void dev_lapic_write(struct dev_lapic *l, uint32_t offset, uint32_t len, const void *data);
/* Set IA32_APIC_BASE. Returns false, for #GP, unless 11.12.5 allows the change of mode. */
bool dev_lapic_set_base(struct dev_lapic *l, uint64_t value);
/* Access an MSR of x2APIC mode. Returns false for #GP. */
bool dev_lapic_rdmsr(struct dev_lapic *l, uint32_t msr, uint64_t *value);
bool dev_lapic_wrmsr(struct dev_lapic *l, uint32_t msr, uint64_t value);

#endif /* VMM_DEV_LAPIC_H */
