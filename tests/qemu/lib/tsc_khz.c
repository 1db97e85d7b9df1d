// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the frequency of this host's TSC in kHz. A TCG guest has the same TSC. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define NS	1000000000
#define MEASURE (NS / 10)

/* Read the TSC and the clock together. Returns the pair of the fastest of 16 tries. */
static int64_t now(uint64_t *tsc)
{
	int64_t best = -1, at = 0;
	int i;

	for (i = 0; i < 16; i++) {
		struct timespec before, after;
		uint64_t between;
		int64_t took;

		clock_gettime(CLOCK_MONOTONIC_RAW, &before);
		between = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &after);
		took = (after.tv_sec - before.tv_sec) * NS + after.tv_nsec - before.tv_nsec;
		if (best >= 0 && took >= best)
			continue;
		best = took;
		at = before.tv_sec * (int64_t)NS + before.tv_nsec + took / 2;
		*tsc = between;
	}
	return at;
}

int main(void)
{
	const struct timespec wait = {0, MEASURE};
	uint64_t tsc[2];
	int64_t at = now(&tsc[0]);

	nanosleep(&wait, NULL);
	at = now(&tsc[1]) - at;
	printf("%" PRIu64 "\n", (tsc[1] - tsc[0]) * 1000000 / (uint64_t)at);
	return 0;
}
