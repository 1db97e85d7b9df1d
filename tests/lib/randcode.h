/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of random code for tests of decoders, and the random numbers of these tests. */
#ifndef TESTS_LIB_RANDCODE_H
#define TESTS_LIB_RANDCODE_H

#include <stdbool.h>
#include <stdint.h>

#define RANDCODE_PAGE 4096u

/* The state of the random numbers. Set it to a value other than 0. */
extern uint64_t randcode_seed;

/* Return a random number below @n. */
unsigned int randcode_below(unsigned int n);

/*
 * Fill adjacent pages with branches of each kind and other instructions, and mark some pages as
 * missing, but not the first one. Branches stay near the pages.
 */
void randcode_fill(uint8_t (*page)[RANDCODE_PAGE], bool *missing, unsigned int pages);

#endif /* TESTS_LIB_RANDCODE_H */
