// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random configurations of PT on random walks (tests/lib/walk.h).
 * usage: configs [-v] [FIRST [COUNT]]	seeds FIRST to FIRST + COUNT - 1
 *
 * A seed is a model, the bits of CTL, ranges, the CR3 filter, an output with its regions, the
 * model's options and the code. Prints TAP, a test for each seed; for one that fails also how
 * it is run alone, with -v what it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/walk.h"

struct totals {
	unsigned long long insns, bytes, values;
	unsigned int count, lossy, wrapped, full, stopped, failed;
};

static void describe(const struct walk_config *config)
{
	unsigned int n;

	printf("# seed %llu: %s with EBX %#x, %u insns, ctl %#llx, cr3_match %#llx, vmx %d, "
	       "conceal %#x\n",
	       (unsigned long long)config->seed, config->model, config->caps_ebx, config->insns,
	       (unsigned long long)config->ctl, (unsigned long long)config->cr3_match, config->vmx,
	       config->conceal);
	printf("#  extras %#x, toggle %d, cyc_bits %u, defer_tips %d, buffer %u:%u\n",
	       config->extras, config->toggle, config->options.cyc_bits, config->options.defer_tips,
	       config->options.buffer_bytes, config->options.buffer_drain);
	for (n = 0; n < VPT_MAX_RANGES; n++)
		if (config->addr[2 * n + 1])
			printf("#  range %u: %#llx to %#llx\n", n,
			       (unsigned long long)config->addr[2 * n],
			       (unsigned long long)config->addr[2 * n + 1]);
	printf("#  layout %d%s%s, int %#x, regions", config->layout, config->map ? ", mapped" : "",
	       config->region_stop ? ", stop" : "", config->region_int);
	for (n = 0; n < config->regions; n++)
		printf(" %llu", (unsigned long long)config->region_bytes[n]);
	printf("\n");
}

static void run(const char *program, uint64_t seed, bool verbose, struct totals *totals)
{
	struct walk_config config;
	struct walk_seen seen;
	char why[1000];
	bool ok;

	walk_random_config(&config, seed);
	if (verbose)
		describe(&config);
	ok = walk_check(&config, why, sizeof(why), &seen);
	totals->count++;
	printf("%s %u - seed %llu\n", ok ? "ok" : "not ok", totals->count,
	       (unsigned long long)seed);
	if (!ok) {
		totals->failed++;
		printf("# seed %llu: %s\n# %s -v %llu 1\n", (unsigned long long)seed, why, program,
		       (unsigned long long)seed);
	}
	fflush(stdout);
	totals->insns += seen.insns;
	totals->bytes += seen.bytes;
	totals->values += seen.values;
	totals->lossy += seen.losses != 0;
	totals->wrapped += seen.wraps != 0;
	totals->full += seen.full;
	totals->stopped += seen.stopped;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	int at = verbose ? 2 : 1;
	uint64_t first = argc > at ? strtoull(argv[at], NULL, 10) : 1;
	uint64_t count = argc > at + 1 ? strtoull(argv[at + 1], NULL, 10) : 100, n;
	struct totals totals = {0};

	for (n = 0; n < count; n++)
		run(argv[0], first + n, verbose, &totals);
	printf("1..%u\n", totals.count);
	printf("# %llu instructions and events, %llu bytes, %llu PTWRITEs; configurations that lost"
	       " packets: %u, wrapped: %u, filled a STOP region: %u, met TraceStop: %u\n",
	       totals.insns, totals.bytes, totals.values, totals.lossy, totals.wrapped, totals.full,
	       totals.stopped);
	return totals.failed != 0;
}
