// SPDX-License-Identifier: GPL-2.0-or-later
/* The common main program of the payloads that run pieces of work. */
#include "work.h"

#include "lib/guest.h"
#include "lib/report.h"
#include "pt/trace.h"

static work_fn *work;
static uint64_t rounds, right;

static void run(void)
{
	struct rng rng;
	uint64_t i;

	rng_seed(&rng, boot->seed);
	for (i = 0; i < rounds; i++)
		right += work(&rng);
}

void work_payload(work_fn *fn, uint64_t standard, const char *what)
{
	struct trace t;

	work = fn;
	rounds = boot->arg[0] ? boot->arg[0] : standard;
	trace_long(&t, run);
	report_equal(right, rounds, what);
}
