/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of a hostile guest for the machine of lib/hostile.h: a list of short acts, each of a kind. A
 * seed determines the code.
 */
#ifndef TESTS_LIB_HOSTILE_ACTS_H
#define TESTS_LIB_HOSTILE_ACTS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/hostile.h"

enum hostile_act {
	HOSTILE_ACT_BYTES,   /* random bytes */
	HOSTILE_ACT_TEXT,    /* code bits of this program */
	HOSTILE_ACT_PAGES,   /* page tables that lead to themselves, INVLPG, CR3 */
	HOSTILE_ACT_TABLES,  /* GDT, IDT, LDT, TSS and segments in odd places */
	HOSTILE_ACT_CONTROL, /* CR0, CR2, CR4, CR8 */
	HOSTILE_ACT_MSR,     /* with any value */
	HOSTILE_ACT_XCR,     /* XCR0, and XRSTOR of random memory */
	HOSTILE_ACT_DEBUG,   /* DR0 to DR7 */
	HOSTILE_ACT_STRING,  /* REP over borders of pages, RAM and devices */
	HOSTILE_ACT_PATCH,   /* a write to code that follows */
	HOSTILE_ACT_PORT,    /* PIC, PIT, RTC, serial port, PCI; single and REP */
	HOSTILE_ACT_DEVICE,  /* local APIC, I/O APIC, and addresses without a device */
	HOSTILE_ACT_EVENT,   /* exceptions, interrupts, NMIs, returns */
	HOSTILE_ACT_TRIPLE,  /* a fault without an IDT */
	HOSTILE_ACTS
};

/* The name of a kind, for messages. */
extern const char *const hostile_act_name[HOSTILE_ACTS];

struct hostile_acts {
	uint8_t code[HOSTILE_CODE_BYTES];
	size_t len;
	uint8_t kind[HOSTILE_CODE_BYTES]; /* enum hostile_act of each byte */
};

/* Make the code of a guest in this mode. */
void hostile_acts_make(struct hostile_acts *a, uint64_t seed, enum hostile_mode mode);

#endif /* TESTS_LIB_HOSTILE_ACTS_H */
