/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes random programs of plain instructions, those that the software CPU compiles to host code.
 * Other instructions are mixed in. The program's blocks branch to each other in endless loops.
 */
#ifndef TESTS_LIB_PLAIN_H
#define TESTS_LIB_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory layout; plain_machine.c maps the pages. */
enum plain_layout {
	PLAIN_CODE = 0x10000,
	PLAIN_CODE_BYTES = 0x2000,
	PLAIN_STACK = 0x18000, /* in the middle of two pages */
	PLAIN_DATA = 0x20000,
	PLAIN_DATA_PAGES = 12,
	PLAIN_READ_ONLY = PLAIN_DATA + 0x8000,
	PLAIN_NOTHING = PLAIN_DATA + 0x9000,
	/* More pages, which share TLB entries with PLAIN_DATA. */
	PLAIN_AGAIN = PLAIN_DATA + 0x100000,
	PLAIN_BLOCKS = 6
};

struct plain_program {
	uint8_t code[PLAIN_CODE_BYTES];
	uint32_t first, end;	      /* offsets in `code` */
	uint32_t block[PLAIN_BLOCKS]; /* where they begin */
	unsigned int blocks, insns;
};

uint64_t plain_next(uint64_t *state);
/* Make a program for 64-bit or 32-bit mode. */
void plain_program(uint64_t *state, unsigned int bits, struct plain_program *p);
/* Return a value for a general register, given by its number in encodings. */
uint64_t plain_value(uint64_t *state, unsigned int reg);

#endif /* TESTS_LIB_PLAIN_H */
