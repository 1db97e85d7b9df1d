/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A software vCPU about to run arbitrary bytes in an arbitrary mode and state, as a hostile guest
 * might have set them up. A few numbers determine the whole machine, so the same machine can be
 * made again.
 */
#ifndef TESTS_LIB_HOSTILE_H
#define TESTS_LIB_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

enum hostile_layout {
	HOSTILE_RAM = 1 << 20,
	HOSTILE_CODE = 0x10000, /* and up to a page more */
	HOSTILE_CODE_BYTES = 0x2000,
	HOSTILE_DATA = 0x30000,
	HOSTILE_TOPA = 0x40000,
	HOSTILE_TRACE = 0x50000,
};

enum hostile_mode {
	HOSTILE_LONG = 0,
	HOSTILE_COMPAT32,
	HOSTILE_COMPAT16,
	HOSTILE_PROTECTED32, /* without paging */
	HOSTILE_PAGED32,
	HOSTILE_PAE32,
	HOSTILE_PROTECTED16,
	HOSTILE_REAL,
	HOSTILE_MODES
};

/* The parts of the state that differ from those of a well-behaved system. */
enum hostile_how {
	HOSTILE_USER = 1 << 0,	   /* CPL 3 */
	HOSTILE_SEGMENTS = 1 << 1, /* bases, limits, types */
	HOSTILE_CONTROL = 1 << 2,  /* CR0, CR4, EFER */
	HOSTILE_TABLES = 1 << 3,   /* GDT, LDT, IDT, TSS */
	HOSTILE_DEBUG = 1 << 4,	   /* breakpoints */
	HOSTILE_VECTORS = 1 << 5,  /* XCR0, MXCSR, registers */
	HOSTILE_FLAGS = 1 << 6,	   /* RFLAGS, TF too */
	HOSTILE_PAGES = 1 << 7,	   /* permissions; page tables are mapped */
};

struct hostile {
	uint64_t seed;
	enum hostile_mode mode;
	unsigned int how;   /* enum hostile_how */
	unsigned int start; /* offset of the code in its page */
	const uint8_t *code;
	size_t len;
};

/* Fill RAM. */
void hostile_ram(const struct hostile *h, uint8_t ram[HOSTILE_RAM]);
/* Put a new vCPU into this state. The vCPU steps some setup instructions for that. */
void hostile_vcpu(const struct hostile *h, struct engine_vcpu *v);

#endif /* TESTS_LIB_HOSTILE_H */
