// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose hot code is far apart: 256 functions, and in each the code that almost never runs stands
 * between the code that always does. A profile tells the optimizers which is which. As the init of a guest
 * it powers the machine off at its end. usage: branchy ROUNDS
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <unistd.h>

#define ROUNDS 300

static uint64_t rare[64];

/* One in 4096 numbers comes here, of which each step needs those before. */
#define RARE(x, n)                                                   \
	do {                                                         \
		rare[(n) % 64] += (x);                               \
		rare[((n) + 7) % 64] ^= rare[(n) % 64] * 3;          \
		rare[((n) + 11) % 64] += rare[((n) + 7) % 64] >> 5;  \
		rare[((n) + 13) % 64] ^= rare[((n) + 11) % 64] * 9;  \
		rare[((n) + 17) % 64] += rare[((n) + 13) % 64] >> 3; \
		rare[((n) + 19) % 64] ^= rare[((n) + 17) % 64] * 5;  \
		(x) += rare[((n) + 19) % 64] | 1;                    \
	} while (0)

#define STEP(n)                                                        \
	__attribute__((noinline)) static uint64_t step_##n(uint64_t x) \
	{                                                              \
		x = x * 0x9e3779b97f4a7c15u + 0x##n;                   \
		if ((x >> 20 & 0xfff) == 0x##n)                        \
			RARE(x, 0x##n);                                \
		x ^= x >> 29;                                          \
		if ((x >> 8 & 0xfff) == 0x##n)                         \
			RARE(x, 0x##n + 1);                            \
		x += x << 7;                                           \
		if ((x >> 33 & 0xfff) == 0x##n)                        \
			RARE(x, 0x##n + 2);                            \
		return x ^ x >> 31;                                    \
	}
#define CALL(n) x = step_##n(x);
#define ROW(do, n)                                                                         \
	do                                                                                 \
	(n##0) do(n##1) do(n##2) do(n##3) do(n##4) do(n##5) do(n##6) do(n##7) do(n##8) do( \
		n##9) do(n##a) do(n##b) do(n##c) do(n##d) do(n##e) do(n##f)
#define ALL(do)                                                                                 \
	ROW(do, 0)                                                                              \
	ROW(do, 1) ROW(do, 2) ROW(do, 3) ROW(do, 4) ROW(do, 5) ROW(do, 6) ROW(do, 7) ROW(do, 8) \
		ROW(do, 9) ROW(do, a) ROW(do, b) ROW(do, c) ROW(do, d) ROW(do, e) ROW(do, f)

ALL(STEP)

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
	uint64_t x = 1;

	while (rounds-- > 0) {
		ALL(CALL)
	}
	printf("%016" PRIx64 "\n", x);
	if (getpid() == 1) {
		fflush(stdout);
		reboot(RB_POWER_OFF);
	}
	return 0;
}
