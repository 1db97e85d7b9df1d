/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random programs: machine code generated from a seed, run in ring 0 with excursions to ring 3. It
 * always terminates, and its only side effects are on its data page and registers. A function calls
 * only functions that were generated before it. Every function entry and every iteration of a loop
 * takes one unit of fuel from R15. When no fuel is left, functions return at once and loops end, so
 * the fuel limits the length of a run. Branches depend on a generator in R14 and on the values that
 * the code computes.
 */
#ifndef GUEST_RANDOM_PROGRAM_H
#define GUEST_RANDOM_PROGRAM_H

#include "lib/rand.h"
#include "lib/twin.h"

#define PROGRAM_FUNCTIONS 16
#define PROGRAM_CODE	  (256ull << 10)

/* Offsets in the programs' data page, whose address is in R13. */
#define DATA_BYTES	4096u
#define DATA_STRINGS	0u    /* 1 KiB that string instructions use */
#define DATA_VALUES	1024u /* 64 quadwords for loads and stores */
#define DATA_CR3	1536u /* the two address spaces */
#define DATA_DEPTH	1552u /* counter of deep recursions */
#define DATA_FUNCTIONS	1600u /* PROGRAM_FUNCTIONS pointers */
#define DATA_TABLES	2048u /* jump tables of four */
#define DATA_TABLES_END DATA_BYTES

/* Vectors that programs use. random.c describes their handlers. */
#define PROGRAM_VEC_SOFT  0x50u /* four of them */
#define PROGRAM_VEC_TIMER 0x58u
#define PROGRAM_VEC_USER  0x5c /* from ring 3 */

/* An address that faults on a read. */
#define PROGRAM_BAD_ADDRESS 0x9000000000ull

struct program {
	uint8_t *code;
	uint64_t code_bytes;
	uint8_t *data;
	uint8_t *function[PROGRAM_FUNCTIONS];
	bool user; /* the program may use ring 3, after ring3_init() */
};

/* Create the program of this seed; several can use the same memory in turn. */
void program_make(struct program *program, uint64_t seed, const struct twin *twin);

struct program_state {
	uint64_t fuel;	 /* R15 in and out; negative: used up */
	uint64_t random; /* R14 in and out */
	uint64_t sum;	 /* sum of the other registers after the last call */
};

/* Call one function of a program (program_call.S). */
void program_call(const void *function, void *data, struct program_state *state);

#endif /* GUEST_RANDOM_PROGRAM_H */
