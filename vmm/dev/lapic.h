/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local APIC of a processor (SDM vol. 3, chapter 11): xAPIC and x2APIC. This code calls no
 * other device. It leaves the external effects of an access in `state` for the owner, with the
 * fields that belong to each bit. The state is part of a snapshot, so it has no bool and no pointer.
 */
#ifndef VMM_DEV_LAPIC_H
#define VMM_DEV_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

/* The address after a reset. */
#define DEV_LAPIC_ADDRESS 0xfee00000ull

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

/* The destination shorthand of ICR. */
enum dev_apic_to {
	DEV_APIC_TO_DEST,
	DEV_APIC_TO_SELF,
	DEV_APIC_TO_ALL,
	DEV_APIC_TO_OTHERS,
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

/*
 * A message from the I/O APIC, a device, or another processor. The I/O APIC and devices have
 * destinations of eight bits, in each mode of the APICs.
 */
struct dev_apic_message {
	uint32_t dest;
	uint8_t vector;
	uint8_t mode; /* enum dev_apic_delivery */
	uint8_t logical, level;
	uint8_t wide; /* `dest` is that of an x2APIC */
};

/* Bits of dev_lapic.state. The owner of the APIC handles and clears those from NMI on. */
enum dev_lapic_state {
	DEV_LAPIC_ARMED = 1 << 0,      /* the timer is running */
	DEV_LAPIC_ERROR_SENT = 1 << 1, /* set until the next write to ESR: no further interrupt */
	DEV_LAPIC_NMI = 1 << 2,	       /* an NMI is pending */
	DEV_LAPIC_INIT = 1 << 3,       /* an INIT is pending */
	DEV_LAPIC_EOI = 1 << 4,	       /* a level-triggered vector was ended */
	DEV_LAPIC_SENT = 1 << 5,       /* an IPI to other processors is in `icr` */
	DEV_LAPIC_STARTUP = 1 << 6,    /* a start-up IPI with the vector `startup` is pending */
};

struct dev_lapic {
	uint64_t now;
	uint64_t base; /* IA32_APIC_BASE */
	uint64_t hz;   /* the frequency of the timer before division */
	/* The timer: the next expiry in its ticks and in ns, or the TSC deadline. */
	uint64_t expiry, due;
	uint64_t deadline;
	uint32_t irr[8], isr[8], tmr[8];
	uint32_t lvt[DEV_LVT_COUNT];
	uint32_t id, ldr, dfr, svr;
	/* the value that reads return; the errors since the last write to ESR */
	uint32_t esr, errors;
	uint32_t icr[2];
	uint32_t initial, divide;
	uint8_t tpr;
	uint8_t state; /* enum dev_lapic_state */
	uint8_t lint;  /* the levels of LINT0 and LINT1 */
	uint8_t has_x2apic, has_deadline;
	uint8_t max_phy_addr;
	uint8_t eoi;	 /* the vector of DEV_LAPIC_EOI */
	uint8_t startup; /* the vector of DEV_LAPIC_STARTUP */
};

struct dev_lapic_config {
	uint64_t hz;
	uint32_t id; /* 0 is the bootstrap processor */
	uint8_t max_phy_addr;
	bool x2apic, deadline; /* the features of the APIC */
};

void dev_lapic_init(struct dev_lapic *l, const struct dev_lapic_config *config);
/* Reset by an INIT. The base address, the mode and the id stay (11.4.7.3). */
void dev_lapic_reset(struct dev_lapic *l);

static inline bool dev_lapic_on(const struct dev_lapic *l)
{
	return l->base & DEV_APIC_BASE_ENABLE;
}

static inline bool dev_lapic_x2(const struct dev_lapic *l)
{
	return l->base & DEV_APIC_BASE_X2;
}

/* lapic.c: interrupts. */
/* Returns true if a message has this APIC as a destination. */
bool dev_lapic_is_dest(const struct dev_lapic *l, const struct dev_apic_message *message);
/*
 * Deliver a message, whose destination must be this APIC. Returns false if it was not accepted. The
 * I/O APIC then repeats a level-triggered message.
 */
bool dev_lapic_message(struct dev_lapic *l, const struct dev_apic_message *message);
/*
 * Deliver the interrupt of a local source by its LVT entry. Returns true if an interrupt was
 * delivered.
 */
bool dev_lapic_local(struct dev_lapic *l, enum dev_lvt source);
/* Deliver the performance monitoring interrupt. The delivery masks LVTPC (11.5.1). */
void dev_lapic_pmi(struct dev_lapic *l);
/* Set the level of pin 0 or 1. */
void dev_lapic_lint(struct dev_lapic *l, unsigned int pin, bool level);
/* Returns true if LINT0 accepts interrupts of the 8259s. */
bool dev_lapic_takes_extint(const struct dev_lapic *l);
uint8_t dev_lapic_ppr(const struct dev_lapic *l);
/* Return the vector that the processor would receive now, or -1 if there is none. */
int dev_lapic_pending(const struct dev_lapic *l);
/* Acknowledge that vector and return it. Returns the spurious vector if there is none. */
uint8_t dev_lapic_ack(struct dev_lapic *l);
void dev_lapic_eoi(struct dev_lapic *l);
/*
 * Send an IPI, as the low half of ICR describes it. One to the sender alone is delivered here. Any
 * other leaves DEV_LAPIC_SENT.
 */
void dev_lapic_send(struct dev_lapic *l, uint32_t icr);
enum dev_apic_error {
	DEV_APIC_SEND_VECTOR = 1 << 5,
	DEV_APIC_RECEIVE_VECTOR = 1 << 6,
	DEV_APIC_REGISTER = 1 << 7,
};
void dev_lapic_error(struct dev_lapic *l, uint32_t error);

/* lapic_timer.c */
void dev_lapic_advance(struct dev_lapic *l, uint64_t now);
/* Return the time of the next interrupt, or DEV_NEVER. */
uint64_t dev_lapic_next(const struct dev_lapic *l);
uint32_t dev_lapic_count(const struct dev_lapic *l);
void dev_lapic_set_count(struct dev_lapic *l, uint32_t initial);
void dev_lapic_set_divide(struct dev_lapic *l, uint32_t value);
void dev_lapic_set_timer(struct dev_lapic *l, uint32_t lvt);
bool dev_lapic_in_deadline_mode(const struct dev_lapic *l);
/* Set IA32_TSC_DEADLINE. `due` is the time at which the TSC reaches this value. */
void dev_lapic_set_deadline(struct dev_lapic *l, uint64_t tsc, uint64_t due);

/* lapic_regs.c: accesses. */
/* Returns true if this address is in the APIC's current page. */
bool dev_lapic_at(const struct dev_lapic *l, uint64_t gpa);
/* Access the registers at `offset` in the page. Offsets without a register read as zero. */
void dev_lapic_read(struct dev_lapic *l, uint32_t offset, uint32_t len, void *data);
void dev_lapic_write(struct dev_lapic *l, uint32_t offset, uint32_t len, const void *data);
/* Set IA32_APIC_BASE. Returns false, for #GP, unless 11.12.5 allows the change of mode. */
bool dev_lapic_set_base(struct dev_lapic *l, uint64_t value);
/* Access an MSR of x2APIC mode. Returns false for #GP. */
bool dev_lapic_rdmsr(struct dev_lapic *l, uint32_t msr, uint64_t *value);
bool dev_lapic_wrmsr(struct dev_lapic *l, uint32_t msr, uint64_t value);

#endif /* VMM_DEV_LAPIC_H */
