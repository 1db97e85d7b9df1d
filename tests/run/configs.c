// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random configurations of PT on random walks (tests/lib/walk.h), or of Atom's RTIT.
 * usage: configs [-v] [FIRST [COUNT]]	seeds FIRST to FIRST + COUNT - 1
 *	  configs -a [-v] [FIRST [COUNT [FILE]]]	RTIT; FILE is where a walk is recorded
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

static void describe_atom(const struct walk_config *config)
{
	const struct walk_atom *r = &config->rtit;

	printf("# seed %llu: %u insns, ctl %#x, events %#x, pkt_cnt %#x, cr3_match %#llx, live %d, "
	       "vmx %d\n",
	       (unsigned long long)config->seed, config->insns, r->regs.ctl, r->regs.events,
	       r->regs.pkt_cnt, (unsigned long long)r->regs.cr3_match, r->live, r->vmx);
	printf("#  extras %#x, errata %#x, clear_lag %u, disable_pgd %d, buffer %u:%u\n",
	       config->extras, r->options.errata, r->options.clear_lag, r->options.disable_pgd,
	       r->options.buffer_bytes, r->options.buffer_drain);
	printf("#  ranges %#llx to %#llx, %#llx to %#llx\n", (unsigned long long)r->regs.lip[0],
	       (unsigned long long)r->regs.lip[2], (unsigned long long)r->regs.lip[1],
	       (unsigned long long)r->regs.lip[3]);
}

/* One of the two trace systems. */
struct way {
	const char *command; /* how it is run */
	void (*choose)(struct walk_config *config, uint64_t seed);
	void (*describe)(const struct walk_config *config);
	bool (*check)(const struct walk_config *config, char *why, size_t size,
		      struct walk_seen *seen);
	bool verbose;
	const char *keep;
};

static void run(const struct way *way, uint64_t seed, struct totals *totals)
{
	struct walk_config config;
	struct walk_seen seen;
	char why[1000];
	bool ok;

	way->choose(&config, seed);
	config.rtit.keep = way->keep;
	if (way->verbose)
		way->describe(&config);
	ok = way->check(&config, why, sizeof(why), &seen);
	totals->count++;
	printf("%s %u - seed %llu\n", ok ? "ok" : "not ok", totals->count,
	       (unsigned long long)seed);
	if (!ok) {
		totals->failed++;
		printf("# seed %llu: %s\n# %s -v %llu 1\n", (unsigned long long)seed, why,
		       way->command, (unsigned long long)seed);
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
	struct way way = {argv[0], walk_random_config, describe, walk_check, false, NULL};
	struct totals totals = {0};
	uint64_t first, count, n;
	char command[256];
	int at = 1;

	if (at < argc && !strcmp(argv[at], "-a")) {
		snprintf(command, sizeof(command), "%s -a", argv[0]);
		way = (struct way){command, walk_random_atom, describe_atom, walk_atom_check, false,
				   NULL};
		at++;
	}
	way.verbose = at < argc && !strcmp(argv[at], "-v");
	at += way.verbose;
	way.keep = argc > at + 2 ? argv[at + 2] : NULL;
	first = argc > at ? strtoull(argv[at], NULL, 10) : 1;
	count = argc > at + 1 ? strtoull(argv[at + 1], NULL, 10) : 100;
	for (n = 0; n < count; n++)
		run(&way, first + n, &totals);
	printf("1..%u\n", totals.count);
	printf("# %llu instructions and events, %llu bytes, %llu PTWRITEs; configurations that lost"
	       " packets: %u, wrapped: %u, filled a STOP region: %u, met TraceStop: %u\n",
	       totals.insns, totals.bytes, totals.values, totals.lossy, totals.wrapped, totals.full,
	       totals.stopped);
	return totals.failed != 0;
}
