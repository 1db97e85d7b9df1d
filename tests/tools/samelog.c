// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the oracles of two traces.
 *
 * usage: samelog FILE FILE
 *
 * Prints the number of records if they are equal. Otherwise prints the first difference, and exits
 * with 1.
 */
#include "lib/samelog.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t records;
	char why[512];

	if (argc != 3) {
		fprintf(stderr, "usage: samelog FILE FILE\n");
		return 2;
	}
	if (!samelog(argv[1], argv[2], &records, why, sizeof(why))) {
		printf("%s\n", why);
		return 1;
	}
	printf("%" PRIu64 "\n", records);
	return 0;
}
