/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random programs of plain instructions: those that the software CPU makes host code
 * of, with others between them, in blocks that branch to each other without end.
 */
#ifndef TESTS_LIB_PLAIN_H
#define TESTS_LIB_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What addresses there are; the pages are plain_pages()'s to map. */
enum plain_layout {
	PLAIN_CODE = 0x10000,
	PLAIN_CODE_BYTES = 0x2000,
	PLAIN_STACK = 0x18000, /* in the middle of two pages */
	PLAIN_DATA = 0x20000,
	PLAIN_DATA_PAGES = 12,
	PLAIN_READ_ONLY = PLAIN_DATA + 0x8000,
	PLAIN_NOTHING = PLAIN_DATA + 0x9000,
	/* More of them, in the same places of a TLB. */
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
/* A program in 64-bit or in 32-bit mode. */
void plain_program(uint64_t *state, unsigned int bits, struct plain_program *p);
/* A value for a general register, by its number in encodings. */
uint64_t plain_value(uint64_t *state, unsigned int reg);

#endif /* TESTS_LIB_PLAIN_H */
