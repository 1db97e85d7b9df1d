/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damage for the stream of a trace in memory. */
#ifndef TESTS_LIB_DAMAGE_H
#define TESTS_LIB_DAMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* Change @n places of a stream. The reader owns the bytes and does not use them. */
static inline void damage(uint8_t *stream, size_t len, unsigned int n, uint32_t random)
{
	size_t at;

	for (; n && len > 128; n--) {
		at = next_random(&random) % (len - 64);
		if (random & 1024)
			stream[at] = (uint8_t)next_random(&random);
		else
			memmove(stream + at, stream + next_random(&random) % (len - 64), 64);
	}
}

#endif /* TESTS_LIB_DAMAGE_H */
