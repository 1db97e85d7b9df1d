// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose trace is known beforehand.
 * usage: steps COUNT WORK
 *
 * COUNT times it calls the next of four functions, and does WORK before each call: it reads
 * so many bytes with one instruction.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK_MAX 65536

/* Reads the bytes that it is given. */
void steps(uint64_t count, uint64_t work, const uint8_t *bytes);

static const uint8_t bytes[WORK_MAX];

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t work = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;

	if (!count || argc != 3 || work > WORK_MAX) {
		fprintf(stderr, "usage: steps COUNT WORK\n");
		return 2;
	}
	steps(count, work, bytes);
	return 0;
}
