// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: bench OUT.json TRACE.vpt VPT GUESTS [QEMU-START] */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE *json;
static const char *separator = "";

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void bench_report(const char *name, double value, const char *unit, const char *peer,
		  double against)
{
	printf("%-36s %10.2f %-20s", name, value, unit);
	fprintf(json, "%s\n  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\"", separator, name,
		value, unit);
	if (peer) {
		printf("  %-24s %10.2f  x %.2f", peer, against, value / against);
		fprintf(json, ", \"peer\": \"%s\", \"against\": %.4f, \"ratio\": %.4f", peer,
			against, value / against);
	}
	printf("\n");
	fprintf(json, "}");
	separator = ",";
}

int main(int argc, char **argv)
{
	struct bench_place place = {.scratch = "build/bench-engines"};
	int err;

	if (argc < 5) {
		fprintf(stderr, "usage: bench OUT.json TRACE.vpt VPT GUESTS [QEMU-START]\n");
		return EXIT_FAILURE;
	}
	json = fopen(argv[1], "w");
	if (!json) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	fprintf(json, "[");
	printf("%-36s %10s %-20s  %-24s %10s  %s\n", "what", "value", "unit", "against", "value",
	       "ratio");
	err = bench_generate();
	if (!err)
		err = bench_packets();
	if (!err)
		err = bench_trace(argv[2]);
	place.vpt = argv[3];
	place.guests = argv[4];
	place.start = argc > 5 ? argv[5] : NULL;
	place.kvm = !access("/dev/kvm", R_OK | W_OK);
	if (!err)
		err = bench_sources(&place);
	if (!err)
		err = bench_engines(&place);
	fprintf(json, "\n]\n");
	if (fclose(json)) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
