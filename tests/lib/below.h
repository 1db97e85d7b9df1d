/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers of a test, from the seed that it sets. */
#ifndef TESTS_LIB_BELOW_H
#define TESTS_LIB_BELOW_H

#include <stdint.h>

static uint32_t random_state;

/* Return the next number, less than @n. */
static inline uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

#endif /* TESTS_LIB_BELOW_H */
