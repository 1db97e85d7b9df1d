// SPDX-License-Identifier: GPL-2.0-or-later
/* PTWRITE of 1 to 100, each with a 4-byte and then with an 8-byte operand. */
#include <stdint.h>

int main(void)
{
	uint64_t n;

	for (n = 1; n <= 100; n++) {
		__asm__ volatile("ptwritel %k0" : : "r"(n));
		__asm__ volatile("ptwriteq %0" : : "m"(n));
	}
	return 0;
}
