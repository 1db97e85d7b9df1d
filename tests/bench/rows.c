// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run one row of the generator's benchmarks, as a process whose processor time is measured. `make
 * bench-against` builds this file with the headers and libraries of two commits, so it only uses
 * the public interface. Usage: rows NAME ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* The comparison with a peer reports; single rows do not. */
void bench_report(const char *name, double value, const char *unit, const char *peer,
		  double against)
{
	(void)name;
	(void)value;
	(void)unit;
	(void)peer;
	(void)against;
}

int main(int argc, char **argv)
{
	unsigned int rounds;

	if (argc != 3) {
		fprintf(stderr, "usage: rows NAME ROUNDS\n");
		return EXIT_FAILURE;
	}
	rounds = (unsigned int)strtoul(argv[2], NULL, 10);
	if (bench_generate_row(argv[1], rounds) && bench_packets_row(argv[1], rounds)) {
		fprintf(stderr, "rows: %s: there is no such row\n", argv[1]);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
