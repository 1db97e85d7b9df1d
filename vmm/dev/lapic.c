// SPDX-License-Identifier: GPL-2.0-or-later
/* Local APIC: accept, prioritise and end interrupts. */
#include "dev/lapic.h"

#define ICR_ASSERT    (1u << 14)
#define LVT_LEVEL     (1u << 15)
#define LVT_REMOTE    (1u << 14)
#define SVR_ENABLED   (1u << 8)
#define FIRST_VECTOR  16
#define BROADCAST     0xffu
#define X2_BROADCAST  0xffffffffu
#define CLUSTER_MODEL 0

static bool get(const uint32_t *bits, uint8_t vector)
{
	return bits[vector / 32] >> (vector % 32) & 1;
}

static void put(uint32_t *bits, uint8_t vector, bool value)
{
	uint32_t bit = 1u << (vector % 32);

	bits[vector / 32] = value ? bits[vector / 32] | bit : bits[vector / 32] & ~bit;
}

static int highest(const uint32_t *bits)
{
	int i;

	for (i = 7; i >= 0; i--)
		if (bits[i])
			return 32 * i + 31 - __builtin_clz(bits[i]);
	return -1;
}

/* Report an error with one interrupt until the next write to ESR (11.5.3). */
void dev_lapic_error(struct dev_lapic *l, uint32_t error)
{
	l->errors |= error;
	if (l->state & DEV_LAPIC_ERROR_SENT)
		return;
	l->state |= DEV_LAPIC_ERROR_SENT;
	dev_lapic_local(l, DEV_LVT_ERROR);
}

static bool accept(struct dev_lapic *l, uint8_t vector, bool level)
{
	if (!(l->svr & SVR_ENABLED))
		return false;
	if (vector < FIRST_VECTOR) {
		dev_lapic_error(l, DEV_APIC_RECEIVE_VECTOR);
		return false;
	}
	put(l->irr, vector, true);
	put(l->tmr, vector, level);
	return true;
}

bool dev_lapic_is_dest(const struct dev_lapic *l, const struct dev_apic_message *m)
{
	uint32_t ldr = l->ldr, dest = m->dest;

	if (!dev_lapic_on(l))
		return false;
	if (dest == (m->wide ? X2_BROADCAST : BROADCAST))
		return true;
	if (!m->logical)
		return dest == l->id;
	if (dev_lapic_x2(l))
		return dest >> 16 == ldr >> 16 && dest & ldr & 0xffff;
	ldr >>= 24;
	if (l->dfr >> 28 == CLUSTER_MODEL)
		return dest >> 4 == ldr >> 4 && dest & ldr & 15;
	return dest & ldr;
}

static bool deliver(struct dev_lapic *l, uint8_t mode, uint8_t vector, bool level)
{
	switch (mode) {
	case DEV_APIC_FIXED:
	case DEV_APIC_LOWEST:
		return accept(l, vector, level);
	case DEV_APIC_NMI:
		l->state |= DEV_LAPIC_NMI;
		return true;
	case DEV_APIC_INIT:
		l->state |= DEV_LAPIC_INIT;
		return true;
	case DEV_APIC_STARTUP:
		l->startup = vector;
		l->state |= DEV_LAPIC_STARTUP;
		return true;
	default:
		/* SMM does not exist, and the 8259s supply the vector of an ExtINT. */
		return false;
	}
}

bool dev_lapic_message(struct dev_lapic *l, const struct dev_apic_message *m)
{
	return deliver(l, m->mode, m->vector, m->level);
}

bool dev_lapic_local(struct dev_lapic *l, enum dev_lvt source)
{
	uint32_t lvt = l->lvt[source];
	bool level = source == DEV_LVT_LINT0 && lvt & LVT_LEVEL;

	if (!dev_lapic_on(l) || lvt & DEV_LVT_MASKED || (level && lvt & LVT_REMOTE))
		return false;
	if (!deliver(l, lvt >> 8 & 7, (uint8_t)lvt, level))
		return false;
	if (level && (lvt >> 8 & 7) == DEV_APIC_FIXED)
		l->lvt[source] |= LVT_REMOTE;
	return true;
}

void dev_lapic_pmi(struct dev_lapic *l)
{
	if (dev_lapic_local(l, DEV_LVT_PMC))
		l->lvt[DEV_LVT_PMC] |= DEV_LVT_MASKED;
}

void dev_lapic_lint(struct dev_lapic *l, unsigned int pin, bool level)
{
	uint8_t bit = (uint8_t)(1u << (pin & 1)), old = l->lint & bit;

	l->lint = (uint8_t)(level ? l->lint | bit : l->lint & ~bit);
	if (level && (!old || (!pin && l->lvt[DEV_LVT_LINT0] & LVT_LEVEL)))
		dev_lapic_local(l, pin & 1 ? DEV_LVT_LINT1 : DEV_LVT_LINT0);
}

bool dev_lapic_takes_extint(const struct dev_lapic *l)
{
	uint32_t lvt = l->lvt[DEV_LVT_LINT0];

	return !dev_lapic_on(l) || (!(lvt & DEV_LVT_MASKED) && (lvt >> 8 & 7) == DEV_APIC_EXTINT);
}

/* Return the processor priority (11.8.3.1). */
uint8_t dev_lapic_ppr(const struct dev_lapic *l)
{
	int in_service = highest(l->isr);

	if (in_service < 0 || l->tpr >> 4 >= in_service >> 4)
		return l->tpr;
	return (uint8_t)(in_service & 0xf0);
}

int dev_lapic_pending(const struct dev_lapic *l)
{
	int vector = highest(l->irr);

	if (vector < 0 || !dev_lapic_on(l) || vector >> 4 <= dev_lapic_ppr(l) >> 4)
		return -1;
	return vector;
}

uint8_t dev_lapic_ack(struct dev_lapic *l)
{
	int vector = dev_lapic_pending(l);

	if (vector < 0)
		return (uint8_t)l->svr;
	put(l->irr, (uint8_t)vector, false);
	put(l->isr, (uint8_t)vector, true);
	return (uint8_t)vector;
}

void dev_lapic_eoi(struct dev_lapic *l)
{
	uint32_t *lint0 = &l->lvt[DEV_LVT_LINT0];
	int vector = highest(l->isr);

	if (vector < 0)
		return;
	put(l->isr, (uint8_t)vector, false);
	if (!get(l->tmr, (uint8_t)vector))
		return;
	l->eoi = (uint8_t)vector;
	l->state |= DEV_LAPIC_EOI;
	if (*lint0 & LVT_REMOTE && (uint8_t)*lint0 == vector) {
		*lint0 &= ~LVT_REMOTE;
		if (l->lint & 1)
			dev_lapic_local(l, DEV_LVT_LINT0);
	}
}

void dev_lapic_send(struct dev_lapic *l, uint32_t icr)
{
	uint8_t mode = icr >> 8 & 7, vector = (uint8_t)icr;

	if (mode <= DEV_APIC_LOWEST && vector < FIRST_VECTOR) {
		dev_lapic_error(l, DEV_APIC_SEND_VECTOR);
		return;
	}
	/* INIT level de-assert only concerns arbitration IDs. */
	if (mode == DEV_APIC_INIT && !(icr & ICR_ASSERT))
		return;
	if ((icr >> 18 & 3) == DEV_APIC_TO_SELF)
		deliver(l, mode, vector, false);
	else
		l->state |= DEV_LAPIC_SENT;
}
