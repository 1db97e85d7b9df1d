/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of a fuzzer as numbers and bytes, and the check that ends a fuzzer. */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The part of the input that has not been taken. */
struct input {
	const uint8_t *at;
	size_t left;
};

/* Take a number of @bytes bytes, the most significant first. Bytes beyond the input are 0. */
static inline uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--) {
		value <<= 8;
		if (in->left) {
			value |= *in->at++;
			in->left--;
		}
	}
	return value;
}

/* Take *n bytes. Where fewer are left, set *n to that number and take them all. */
static inline const uint8_t *some(struct input *in, size_t *n)
{
	const uint8_t *bytes = in->at;

	if (*n > in->left)
		*n = in->left;
	in->at += *n;
	in->left -= *n;
	return bytes;
}

#endif /* TESTS_FUZZ_BYTES_H */
