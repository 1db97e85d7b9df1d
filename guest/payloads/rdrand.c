// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RDRAND and RDSEED: flags, sizes, and numbers that decide branches, so that the trace of two runs
 * is the same only if the numbers are. The last line has the sum of some numbers.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("random numbers of the processor");

#define NUMBERS 64

static uint64_t numbers[NUMBERS];
static unsigned int ones;
static bool carried;

/* Returns CF. */
static noinline bool rdrand(uint64_t *value)
{
	bool carry;

	__asm__ volatile("rdrand %0" : "=r"(*value), "=@ccc"(carry));
	return carry;
}

static noinline bool rdseed(uint64_t *value)
{
	bool carry;

	__asm__ volatile("rdseed %0" : "=r"(*value), "=@ccc"(carry));
	return carry;
}

static noinline void count_one(void)
{
	ones++;
}

static void work(void)
{
	unsigned int i;

	carried = true;
	for (i = 0; i < NUMBERS; i++) {
		carried &= i & 1 ? rdseed(&numbers[i]) : rdrand(&numbers[i]);
		if (numbers[i] & 1)
			count_one();
		if (numbers[i] >> 63)
			count_one();
	}
}

void payload(void)
{
	uint64_t wide = ~0ull, narrow = ~0ull, sum = 0;
	struct trace t;
	unsigned int i, same = 0;

	if (!(cpuid(1, 0).ecx & 1u << 30) || !(cpuid(7, 0).ebx & 1u << 18)) {
		report_skip("no RDRAND and RDSEED");
		return;
	}
	trace_simple(&t, work);
	for (i = 0; i < NUMBERS; i++) {
		sum += numbers[i];
		same += i && numbers[i] == numbers[i - 1];
	}
	__asm__ volatile("rdrand %k0" : "+r"(wide) : : "cc");
	__asm__ volatile("rdrand %w0" : "+r"(narrow) : : "cc");
	report(carried, "each number is valid");
	report_equal(same, 0, "no number repeats");
	report(ones > NUMBERS / 2 && ones < 3 * NUMBERS / 2, "half of the bits are set");
	report_equal(wide >> 32, 0, "32 bits clear the upper half");
	report_equal(narrow >> 16, ~0ull >> 16, "16 bits leave the rest");
	report_note("sum %lx", sum);
}
