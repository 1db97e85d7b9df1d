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
/* clang-format off */
#define ROW(part, n) \
	part(n##0) part(n##1) part(n##2) part(n##3) part(n##4) part(n##5) part(n##6) part(n##7) \
	part(n##8) part(n##9) part(n##a) part(n##b) part(n##c) part(n##d) part(n##e) part(n##f)
#define ALL(part) \
	ROW(part, 0) ROW(part, 1) ROW(part, 2) ROW(part, 3) ROW(part, 4) ROW(part, 5) ROW(part, 6) ROW(part, 7) \
	ROW(part, 8) ROW(part, 9) ROW(part, a) ROW(part, b) ROW(part, c) ROW(part, d) ROW(part, e) ROW(part, f)
/* clang-format on */

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
