/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A still vCPU with flat segments, in protected or in 64-bit mode. */
#ifndef TESTS_LIB_FLAT_H
#define TESTS_LIB_FLAT_H

#include "lib/still.h"

/* Where flat_protect() puts things. */
enum flat_layout {
	IDT = 0x1000,
	GDT = 0x2000,
	TSS = 0x3000,
	HANDLER = 0x10000,
	STACK0 = 0x20000, /* of ring 0, in the TSS */
	STACK = 0x40000,  /* of what runs */
	CODE = 0x50000,
	RAM = 0x100000
};

/* Its GDT, all flat if not said otherwise; no accessed bit is set. */
enum flat_selectors {
	KCODE = 0x08,
	KDATA = 0x10,
	UCODE = 0x1b,
	UDATA = 0x23,
	CONFORMING = 0x28, /* code of ring 0 */
	KCODE16 = 0x30,
	KDATA16 = 0x38,
	GONE = 0x40, /* code that is not present */
	READ_ONLY = 0x48,
	SMALL_DATA = 0x50, /* 32-bit stack of 4 KiB */
	SMALL_CODE = 0x58, /* likewise code */
	UDATA16 = 0x63,
	GONE_DATA = 0x68,
	KCODE64 = 0x70,
	UCODE64 = 0x7b,
	EXECUTE_ONLY = 0x80,
	SPARE = 0x88 /* to 0xff: zero, for gates */
};

/*
 * In 32-bit protected mode without paging, ring 0, with a GDT, a 32-bit TSS and an
 * empty IDT; the stack and RIP as above, IF and ZF set.
 */
void flat_protect(void);
/* In 64-bit mode, the first 4 GiB mapped one to one for everybody. */
void flat_long(void);
/* CS and SS of a ring, loaded as after a long time. */
void flat_ring(uint8_t cpl);
/* A descriptor; `access`: P, DPL, S, type; `flags`: G, D/B, L, AVL. */
uint64_t descriptor_bits(uint32_t base, uint32_t limit, uint8_t access, uint8_t flags);
/* A gate of 8 bytes, of a call, an interrupt or a trap. */
uint64_t gate_bits(uint16_t selector, uint32_t offset, uint8_t access, uint8_t count);
/* A gate of the IDT, in the mode of now. */
void set_gate(uint8_t vector, uint16_t selector, uint32_t offset, uint8_t access);

#endif /* TESTS_LIB_FLAT_H */
