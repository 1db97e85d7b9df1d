/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A still vCPU with flat segments, in protected or in 64-bit mode. */
#ifndef TESTS_LIB_FLAT_H
#define TESTS_LIB_FLAT_H

#include "lib/still.h"

/* The memory layout of flat_protect(). */
enum flat_layout {
	IDT = 0x1000,
	GDT = 0x2000,
	TSS = 0x3000,
	HANDLER = 0x10000,
	STACK0 = 0x20000, /* of ring 0, in the TSS */
	STACK = 0x40000,  /* of the code under test */
	CODE = 0x50000,
	RAM = 0x100000
};

/* Selectors of its GDT. Segments are flat unless noted, and no accessed bit is set. */
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
 * Enter 32-bit protected mode without paging at ring 0, with a GDT, a 32-bit TSS and an empty IDT.
 * The stack and RIP are as above; IF and ZF are set.
 */
void flat_protect(void);
/* Enter 64-bit mode with the first 4 GiB mapped one to one for all rings. */
void flat_long(void);
/* Load CS and SS of a ring. */
void flat_ring(uint8_t cpl);
/* Return a descriptor. `access` is P, DPL, S and type; `flags` is G, D/B, L and AVL. */
uint64_t descriptor_bits(uint32_t base, uint32_t limit, uint8_t access, uint8_t flags);
/* Return a call, interrupt or trap gate of 8 bytes. */
uint64_t gate_bits(uint16_t selector, uint32_t offset, uint8_t access, uint8_t count);
/* Write a gate of the IDT in the format of the current mode. */
void set_gate(uint8_t vector, uint16_t selector, uint32_t offset, uint8_t access);

#endif /* TESTS_LIB_FLAT_H */
